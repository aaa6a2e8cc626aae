"""A real agent that hub knows nothing of but its table in hub.toml: Qwen Code under another name."""

import json

import attrs
import pytest

from hub.api.tables import parse_config
from hub.domain.accounts.account import Account
from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers import registry
from hub.providers.base import Ending
from tests.agents import PROGRAMS, program_path
from tests.drive import drive
from tests.model_server import Turn

pytestmark = pytest.mark.agents
PATIENCE = 240.0


@pytest.fixture
def agent():
    """The program behind the table."""
    return PROGRAMS["qwen"]


@pytest.fixture
def provider():
    command = json.dumps([str(program_path("qwen")), "--acp", "--auth-type", "openai"])
    table = (
        f'[providers.mine]\nkind = "acp"\ncommand = {command}\ndisplayName = "Mine"\nkeyNames = ["OPENAI_API_KEY"]\n'
        'homeEnv = "QWEN_HOME"\nbaseUrlEnv = "OPENAI_BASE_URL"\nmodelEnv = "OPENAI_MODEL"\n'
    )
    return registry.load_all(lambda: parse_config(table))["mine"]


@pytest.fixture
def mine(assign, account_dir):
    """The assignment without what only Qwen's own adapter knows."""
    account = Account("a", str(account_dir), {"OPENAI_API_KEY": "key"})

    def make(**more):
        return attrs.evolve(assign(**more), program="", account=account)

    return make


def test_a_task_is_done_in_the_mode_that_was_wished(provider, models, repo, mine, env):
    """Model, address, directory and key by its variables; the mode by the protocol."""
    models.script("key", Turn.write("hello.txt", "hi\n"), Turn.shell("exit 3"), Turn.text("All done."))
    run = drive(provider, mine(options={"mode": "yolo"}), env, timeout=PATIENCE)
    assert (run.outcome.ending, run.outcome.text) == (Ending.DONE, "All done.")
    assert (repo / "hello.txt").read_text() == "hi\n"
    assert "set-mode" in run.written
    assert not [event for event in run.of(EventType.SYSTEM) if event.meta.get("allowed")]
    assert models.mains("key")[0].body["model"] == PROGRAMS["qwen"].model


def test_permissions_are_given_and_told_where_no_person_is_wanted(provider, models, repo, mine, env):
    models.script("key", Turn.write("hello.txt", "hi\n"), Turn.text("All done."))
    run = drive(provider, mine(options={"mode": "default"}), env, timeout=PATIENCE)
    assert run.outcome.ending is Ending.DONE
    assert (repo / "hello.txt").exists()
    assert [event for event in run.of(EventType.SYSTEM) if event.meta.get("allowed")]


def test_a_wrong_key_is_told(provider, models, mine, env):
    models.script("key", Turn.auth())
    run = drive(provider, mine(), env, timeout=PATIENCE)
    assert run.outcome.failure.kind is FailureClass.AUTH
