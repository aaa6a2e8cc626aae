"""Which commands check and set up a project, as its own files tell.

Owns: what each build file stands for.
Must not: read a file, run anything, or decide: the user sees it and says yes.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Final

import attrs

LOCKS: Final = {
    "pnpm-lock.yaml": ("pnpm", "pnpm install --frozen-lockfile"),
    "yarn.lock": ("yarn", "yarn install --frozen-lockfile"),
    "bun.lock": ("bun", "bun install --frozen-lockfile"),
    "bun.lockb": ("bun", "bun install --frozen-lockfile"),
    "package-lock.json": ("npm", "npm ci"),
    "npm-shrinkwrap.json": ("npm", "npm ci"),
}
"""A lock file, whose it is, and what installs from it."""
ENVIRONMENT: Final = (".env", ".env.local")
NAMES: Final = (
    *LOCKS,
    *ENVIRONMENT,
    "package.json",
    "pyproject.toml",
    "uv.lock",
    "poetry.lock",
    "requirements.txt",
    "pytest.ini",
    "conftest.py",
    "tests",
    "Makefile",
    "GNUmakefile",
    "makefile",
    "justfile",
    "Cargo.toml",
    "go.mod",
)
"""What is looked for at the project's top; only that something is there, unless it has words to read."""
READ: Final = frozenset({"package.json", "pyproject.toml", "Makefile", "GNUmakefile", "makefile", "justfile"})
_NO_TEST = "no test specified"
_SCRIPTS = ("lint", "typecheck", "test")
_TARGET = re.compile(r"^(test|check)\s*:(?!=)", re.MULTILINE)


@attrs.frozen
class Proposal:
    """What would be written into `hub.toml`."""

    verify: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    copy: tuple[str, ...] = ()
    because: tuple[str, ...] = ()
    """The files that say so."""

    @property
    def empty(self) -> bool:
        """Whether nothing was found."""
        return not (self.verify or self.setup or self.copy)


def propose(found: Mapping[str, str]) -> Proposal:
    """What the files say.

    Args:
        found: Those of `NAMES` that are there, each with its text, or "".
    """
    verify, setup = dict[str, None](), dict[str, None]()
    because: list[str] = []
    own = _own_targets(found)
    for look in (_javascript, _python, _rust, _go):
        name, checks, installs = look(found)
        if name:
            because.append(name)
            setup |= dict.fromkeys(installs)
            # A project that says by itself how it is checked knows better.
            verify |= {} if own else dict.fromkeys(checks)
    for name, command in own:
        because.append(name)
        verify[command] = None
    copy = tuple(name for name in ENVIRONMENT if name in found)
    return Proposal(tuple(verify), tuple(setup), copy, tuple(because) + copy)


_Found = tuple[str, list[str], list[str]]
_NOTHING: _Found = ("", [], [])


def _own_targets(found: Mapping[str, str]) -> list[tuple[str, str]]:
    for name in ("GNUmakefile", "makefile", "Makefile", "justfile"):
        targets = _TARGET.findall(found.get(name, ""))
        if targets:
            tool = "just" if name == "justfile" else "make"
            return [(name, f"{tool} {'test' if 'test' in targets else 'check'}")]
    return []


def _javascript(found: Mapping[str, str]) -> _Found:
    if "package.json" not in found:
        return _NOTHING
    tool, install = next((LOCKS[name] for name in LOCKS if name in found), ("npm", "npm install"))
    try:
        package = json.loads(found["package.json"])
    except (ValueError, RecursionError):  # a clone may bring what is nested too deeply
        package = {}
    table: dict[str, object] = package if isinstance(package, dict) else {}
    scripts = table.get("scripts")
    named = scripts if isinstance(scripts, dict) else {}
    checks = [
        f"{tool} run {name}" if name != "test" else f"{tool} test"
        for name in _SCRIPTS
        if isinstance(named.get(name), str) and _NO_TEST not in named[name]
    ]
    needs = any(table.get(name) for name in ("dependencies", "devDependencies", "workspaces"))
    return "package.json", checks, [install] if needs else []


def _python(found: Mapping[str, str]) -> _Found:
    if "pyproject.toml" not in found and "requirements.txt" not in found:
        return _NOTHING
    text = found.get("pyproject.toml", "")
    try:
        tools = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError:
        tools = {}
    if "uv.lock" in found:
        prefix, setup = "uv run ", ["uv sync"]
    elif "poetry.lock" in found:
        prefix, setup = "poetry run ", ["poetry install"]
    else:
        prefix = ".venv/bin/" if "requirements.txt" in found else ""
        setup = [
            "python3 -m venv .venv",
            ".venv/bin/pip install -q -r requirements.txt",
        ] if prefix else []  # fmt: skip
    tested = "pytest" in tools or "pytest" in text or "pytest.ini" in found or "conftest.py" in found
    checks = [f"{prefix}ruff check ."] if "ruff" in tools else []
    if tested:
        checks.append(f"{prefix}pytest -q")
    name = "pyproject.toml" if "pyproject.toml" in found else "requirements.txt"
    return name, checks, setup


def _rust(found: Mapping[str, str]) -> _Found:
    return ("Cargo.toml", ["cargo test"], []) if "Cargo.toml" in found else _NOTHING


def _go(found: Mapping[str, str]) -> _Found:
    return ("go.mod", ["go vet ./...", "go test ./..."], []) if "go.mod" in found else _NOTHING
