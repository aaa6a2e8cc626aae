"""Work that a real agent began on its user's own account, before hub was there, and that goes on in its own session."""

import pytest

from tests.agents import PROGRAMS
from tests.e2e.conftest import key_of
from tests.e2e.programs import key, start
from tests.model_server import Turn
from tests.waiting import ended

pytestmark = pytest.mark.agents


def began(team, name, *turns):
    """An agent of the user's does these turns in the user's own folder, and leaves; the home of its account."""
    team.models.script(key(name), *turns)
    agent = start(name, team.models, team.tmp, team.made.root, "Write one.txt and two.txt.")
    try:
        assert ended(agent.process.pid)
    finally:
        agent.end()
    assert (team.made.root / "one.txt").read_text() == "one\n"
    return agent.home


def adopted(team, provider, home, **ways):
    """What the API answers to the adoption of that account's only session, for Codex."""
    config, named = team.made.own / "config.toml", PROGRAMS[provider].key
    own = f'[[providers.{provider}.accounts]]\nlabel = "mine"\nconfigDir = "{home}"\nenv = {{ {named} = "{key_of(f"{provider}:mine")}" }}\n'
    before, first, after = config.read_text().partition(f"[[providers.{provider}.accounts]]")
    config.write_text(f"{before}\n{own}\n{first}{after}")  # the first of its accounts is the active one
    api = team.start()
    [found] = [one for one in api.get("/api/detect") if one["account"] == "mine"]
    assert (found["running"], found["adoptable"]) == (False, True)
    return api.post("/api/detect/adopt", {"id": found["id"], "target": "codex", **ways})


def test_codex_goes_on_in_its_own_session(team):
    """In another folder than the one it was begun in: the model is sent all that was said before."""
    team.hire("codex")
    home = began(team, "codex", Turn.write("one.txt", "one\n"), Turn.text("Now two.txt is left."))
    team.script("codex:mine", Turn.write("two.txt", "two\n"), Turn.text("Both are there."))
    answer = adopted(team, "codex", home, start=True)
    assert (answer["mode"], answer["resumed"]) == ("start", True)
    assert team.ended()["sessionState"] == "completed"
    assert team.branch_file("one.txt") + team.branch_file("two.txt") == b"one\ntwo\n"
    assert "Now two.txt is left." in str(team.mains("codex:mine")[0].body)
