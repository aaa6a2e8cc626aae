"""Toad, an editor for agents in a terminal: it is on PyPI, and wants a newer Python than this machine may have.

Owns: the pinned Toad, and the Python it runs on: Debian's own packages, unpacked beside the agents' programs. They are not
installed, and nothing but Toad runs on them.
Must not: change what Toad is; it is driven as its makers ship it.
"""

from __future__ import annotations

import fcntl
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from tests.agents import INSTALL_SECONDS, STAMP, cache_dir, give_up

_PACKAGE = "batrachian-toad==0.6.20"
_PYTHON = "3.14"
_KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_SUITE = "forky"
"""The first of Debian that has it."""
_LIBRARIES = "root/usr/lib/x86_64-linux-gnu"
_LOADER = f"{_LIBRARIES}/ld-linux-x86-64.so.2"
_PROGRAM = f"root/usr/bin/python{_PYTHON}"


def toad() -> list[str]:
    """The words that start it; skips the test where it cannot be had.

    The loader is named so that Toad's own children, `hub acp` among them, get this machine's libraries.
    """
    prefix = cache_dir() / "toad"
    prefix.mkdir(parents=True, exist_ok=True)
    with (prefix / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = prefix / STAMP
        if not stamp.is_file() or stamp.read_text() != _PACKAGE:
            _install(prefix)
            stamp.write_text(_PACKAGE)
    return [
        str(prefix / _LOADER),
        "--library-path",
        str(prefix / _LIBRARIES),
        str(prefix / _PROGRAM),
        "-m",
        "toad",
    ]


def _install(prefix: Path) -> None:
    if not (shutil.which("apt-get") and _KEYRING.is_file() and platform.machine() == "x86_64"):
        give_up(f"Python {_PYTHON} for {_PACKAGE} comes from Debian for x86-64, and this is none")
    apt, root = prefix / "apt", prefix / "root"
    for folder in ("lists/partial", "cache/archives/partial"):
        (apt / folder).mkdir(parents=True, exist_ok=True)
    where = ("Identifier: Packages", "Label: Debian", "Component: main")
    mirror = _run("apt-get", "indextargets", "--format", "$(REPO_URI)", *where).split("\n")[0]
    (apt / "sources.list").write_text(f"deb [signed-by={_KEYRING}] {mirror} {_SUITE} main\n")
    (apt / "status").touch()  # of no package installed: all that Python needs is brought
    settings = {
        "Dir::Etc::SourceList": apt / "sources.list",
        "Dir::Etc::SourceParts": "/dev/null",
        "Dir::State::Lists": apt / "lists",
        "Dir::State::status": apt / "status",
        "Dir::Cache": apt / "cache",
        "APT::Install-Recommends": "0",
        "APT::Sandbox::User": "root",
        "Debug::NoLocking": "1",
    }
    told = [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]
    _run("apt-get", "-q", *told, "update")
    _run("apt-get", "-q", "-y", *told, "--download-only", "install", f"python{_PYTHON}")
    for package in sorted((apt / "cache/archives").glob("*.deb")):
        _run("dpkg", "-x", str(package), str(root))
    # Python's own place for what an administrator adds: found without a variable that its children would inherit.
    place = root / f"usr/local/lib/python{_PYTHON}/dist-packages"
    wheels = ["--only-binary=:all:", "--python-version", _PYTHON]
    for system in ("manylinux_2_28", "manylinux2014"):
        wheels += ["--platform", f"{system}_x86_64"]
    _run(sys.executable, "-m", "pip", "install", "-q", "--target", str(place), *wheels, _PACKAGE)
    shutil.rmtree(apt)


def _run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        give_up(f"{' '.join(command)} failed: {done.stderr[-500:]}")
    return done.stdout
