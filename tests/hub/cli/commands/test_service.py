"""`hub service`: the unit, and what the service manager is told. The manager itself is a stand-in that writes down its orders."""

import json
import os
import plistlib
import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
import trio

from hub.cli.commands.service import Unit
from tests.hub.cli.command import environ, hub
from tests.waiting import answered

AWKWARD = '/a "b" $HOME 100% \\n é'


@pytest.fixture
def manager(repo, tmp_path):
    """An environment with a service manager that writes its orders down, and says `active`."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "systemctl"
    program.write_text(f'#!/bin/sh\necho "$@" >> {tmp_path}/orders\necho active\nexit ${{SAYS:-0}}\n')
    program.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    return environ(repo.parent, PATH=path, HOME=str(tmp_path), XDG_CONFIG_HOME=str(tmp_path / "config"))


def orders(env):
    return Path(env["HOME"], "orders").read_text().splitlines()


def words(line):
    """A line of a unit as systemd reads it: quoted words, \\ and % doubled; $ too in a command."""
    found = re.findall(r'"((?:[^"\\]|\\.)*)"', line)
    return [re.sub(r"\\(.)", r"\1", word).replace("%%", "%").replace("$$", "$") for word in found]


def test_install_writes_starts_and_remove_takes_it_out(repo, manager):
    done = hub("service", "install", "--json", cwd=repo, env=manager)
    told = json.loads(done.stdout)
    path = Path(told["path"])
    assert path.parent == Path(manager["XDG_CONFIG_HOME"], "systemd/user")
    assert orders(manager) == ["--user daemon-reload", f"--user enable --now {told['name']}.service"]
    shown = json.loads(hub("service", "status", "--json", cwd=repo, env=manager).stdout)
    assert (shown["state"], shown["current"]) == ("active", True)
    stale = hub("service", "status", cwd=repo, env={**manager, "PATH": f"{manager['PATH']}:/opt/bin"})
    assert "hub service install" in stale.stdout
    assert "has stopped" in hub("service", "remove", cwd=repo, env=manager).stdout
    assert orders(manager)[-1] == f"--user disable --now {told['name']}.service"
    assert not path.exists()
    for verb in ("status", "remove"):
        assert hub("service", verb, cwd=repo, env=manager).returncode == 3


def test_where_no_service_manager_answers_the_service_is_taken_out_all_the_same(repo, manager):
    """As in a container: it could be written down there, and never be removed again."""
    mute = {**manager, "SAYS": "1"}
    assert hub("service", "install", cwd=repo, env=mute).returncode == 1
    done = hub("service", "remove", cwd=repo, env=mute)
    assert (done.returncode, "could not be asked" in done.stdout) == (0, True)
    assert hub("service", "status", cwd=repo, env=mute).returncode == 3


async def test_what_the_unit_starts_is_the_daemon_of_the_project(repo, manager, tmp_path):
    """In an empty environment but for the unit's own, from a folder with another `hub` in it."""
    (tmp_path / "hub.py").write_text("raise SystemExit('not this one')\n")
    unit = Unit(repo, {**manager, "XDG_STATE_HOME": str(tmp_path / "state")}, darwin=False)
    lines = unit.text().decode().splitlines()
    (command,) = [words(line) for line in lines if line.startswith("ExecStart=")]
    env = dict(words(line)[0].split("=", 1) for line in lines if line.startswith("Environment="))
    with (tmp_path / "log").open("wb") as log:
        started = [*command, "--port", "0"]
        daemon = await trio.lowlevel.open_process(
            started, env={**env, "HOME": str(tmp_path), "HUB_TRUST": "1"}, cwd=tmp_path, stdout=log
        )
    try:
        said = (tmp_path / "log").read_text

        async def log_text():
            return said()

        assert str(repo) in await answered(log_text, lambda text: "hub serves" in text)
    finally:
        daemon.send_signal(signal.SIGTERM)
        assert await daemon.wait() == 0


@pytest.mark.parametrize("darwin", [False, True])
def test_no_path_and_no_variable_gets_out_of_its_place(darwin, tmp_path):
    unit = Unit(Path(AWKWARD), {"PATH": f"/usr/bin:{AWKWARD}"}, darwin=darwin)
    assert re.fullmatch(r"hub-[A-Za-z0-9-]+-[0-9a-f]{8}", unit.name)
    if darwin:
        told = plistlib.loads(unit.text())
        assert (told["ProgramArguments"], told["EnvironmentVariables"]) == (unit.command, unit.variables)
        return
    lines = unit.text().decode().splitlines()
    assert words(next(line for line in lines if line.startswith("ExecStart="))) == unit.command
    # $ stands for itself in a variable of a unit.
    assert '"PATH=/usr/bin:/a \\"b\\" $HOME 100%% \\\\n é"' in "".join(lines)
    if shutil.which("systemd-analyze"):
        file = tmp_path / f"{unit.name}.service"
        file.write_bytes(unit.text())
        checked = subprocess.run(
            ["systemd-analyze", "--user", "verify", str(file)],
            env={**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert (checked.returncode, checked.stderr) == (0, "")


def test_each_platforms_manager_has_its_own_orders():
    unit = Unit(Path("/srv/site"), {}, darwin=True)
    assert [command[:2] for verb in ("start", "stop", "ask") for command in unit.control(verb)] == [
        ["launchctl", "bootstrap"],
        ["launchctl", "bootout"],
        ["launchctl", "print"],
    ]
    assert unit.name != Unit(Path("/home/site"), {}, darwin=True).name, "two projects of one name"


def test_where_the_manager_refuses_the_next_step_is_told(repo, manager):
    refused = hub("service", "install", cwd=repo, env={**manager, "SAYS": "1"})
    assert (refused.returncode, "hub daemon" in refused.stderr) == (1, True)


def test_a_project_that_is_not_trusted_gets_no_service(repo, manager):
    """A service has nobody to ask."""
    (repo / "hub.toml").write_text('[session]\nverify = ["make"]\n')
    done = hub("service", "install", cwd=repo, env={**manager, "HUB_TRUST": ""})
    assert (done.returncode, "hub trust" in done.stderr) == (5, True)
    assert not Path(manager["XDG_CONFIG_HOME"], "systemd").exists()
