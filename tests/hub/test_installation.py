"""A package that cannot be imported is a failed start that says so. Seen with Quart 0.23 beside quart-trio 0.12."""

import json

import pytest

from tests.faults.harness import project
from tests.hub.cli.command import environ, hub

BROKEN = "from quart.ctx import NoSuchContext\n"


@pytest.fixture
def broken(tmp_path):
    """An environment in which `quart_trio` asks Quart for what that does not have."""
    package = tmp_path / "broken" / "quart_trio"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(BROKEN)
    plain = environ(tmp_path)
    return {**plain, "PYTHONPATH": f"{package.parent}:{plain['PYTHONPATH']}"}


def check(document):
    """The code, what failed to import, and a next step; not a word of ports."""
    told = json.loads(document)["error"]
    assert told["code"] == "install_broken"
    assert "NoSuchContext" in told["detail"]
    assert "quart.ctx" in told["detail"]
    assert "nstall" in told["hint"]
    assert "port" not in (told["detail"] + told["hint"]).lower().replace("import", "")


def test_a_demo_whose_front_end_cannot_be_imported_says_so(tmp_path, broken):
    """It said that what answers on the port is not hub, and gave a traceback."""
    done = hub("demo", "--json", cwd=tmp_path, env=broken)
    assert done.returncode == 1
    check(done.stdout)
    assert "Traceback" not in done.stderr


def test_a_daemon_whose_front_end_cannot_be_imported_ends_by_itself(tmp_path, broken):
    """Nobody needs to ask it first; in words, and with nothing announced any more."""
    with project(tmp_path) as made:
        done = hub("daemon", "--port", "0", cwd=made.root, env=broken)
        assert not (made.root / ".hub" / "daemon.json").exists()
    assert done.returncode == 1
    assert "NoSuchContext" in done.stderr
    assert "Traceback" not in done.stderr
    assert "sh .ci/setup" in done.stderr
