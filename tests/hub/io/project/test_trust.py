"""The user's word: kept outside the project, believed where it is sealed, and the door through which tables come."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from hub.api.tables import parse_toml
from hub.errors import Code, HubError
from hub.io.config.file import project_tables, settings
from hub.io.project.trust import Gate

CALM = parse_toml("[session]\nthreshold = 0.5\n")
TABLES = parse_toml('[session]\nthreshold = 0.5\nverify = ["make test"]\n')
WORSE = parse_toml('[session]\nthreshold = 0.7\nverify = ["evil"]\n')


@pytest.fixture
def gate(root: Path, tmp_path: Path) -> Gate:
    return Gate.of(root, {"HUB_STATE_DIR": str(tmp_path / "state")})


def again(gate: Gate) -> Gate:
    """The door in another process."""
    return Gate(gate.root, gate.state)


def test_what_does_nothing_comes_in_whole_and_the_rest_without_what_it_would_do(gate: Gate) -> None:
    assert gate.admit(CALM) is CALM
    assert not gate.held_back
    assert again(gate).admit(TABLES) == CALM
    gate.admit(WORSE)
    assert gate.held_back


def test_a_word_lets_just_that_set_in(gate: Gate) -> None:
    gate.agree(gate.standing(TABLES))
    other = again(gate)
    assert other.admit(TABLES) is TABLES
    assert other.admit(WORSE) is TABLES, "a process that has seen a whole set keeps it"
    assert other.held_back
    assert again(gate).admit(WORSE) == parse_toml("[session]\nthreshold = 0.7\n")


def test_a_rule_that_is_gone_is_held_back_too(gate: Gate) -> None:
    """An agent that deletes [[approvals]] would be free in the next session."""
    ruled = parse_toml('[[approvals]]\ncommand = "git push*"\n')
    gate.agree(gate.standing(ruled))
    assert gate.admit(ruled) is ruled
    assert gate.admit({}) is ruled


def test_a_word_for_this_time_is_this_process_s(gate: Gate) -> None:
    before = gate.stamp
    gate.agree(gate.standing(TABLES), once=True)
    assert gate.admit(TABLES) is TABLES
    assert gate.standing(TABLES).trusted
    assert gate.said == gate.standing(TABLES).digest != ""
    assert gate.stamp != before, "whoever keeps what he read reads it again"
    assert not again(gate).standing(TABLES).trusted
    assert not gate.record.exists()
    gate.follow(TABLES, WORSE)
    assert gate.standing(WORSE).trusted


def test_the_record_is_private_and_of_one_path(gate: Gate, root: Path) -> None:
    gate.agree(gate.standing(TABLES))
    assert gate.record.stat().st_mode & 0o777 == 0o600
    assert gate.record.parent.stat().st_mode & 0o777 == 0o700
    assert root not in gate.record.parents
    moved = root.rename(root.with_name("moved"))
    assert not Gate(moved, gate.state).standing(TABLES).trusted
    # Put in the other one's place, it still says whose it is.
    elsewhere = Gate(moved, gate.state)
    elsewhere.record.write_bytes(gate.record.read_bytes())
    assert elsewhere.known() == {}


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"body": {}, "seal": 1}', b"\xff"])
def test_a_record_that_cannot_be_read_is_none(gate: Gate, data: bytes) -> None:
    gate.agree(gate.standing(TABLES))
    gate.record.write_bytes(data)
    assert gate.known() == {}


def test_a_record_of_another_user_is_none(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    gate.agree(gate.standing(TABLES))
    record, uid = gate.record, os.geteuid()
    with monkeypatch.context() as patched:
        patched.setattr(os, "geteuid", lambda: uid + 1)
        assert gate.record != record
        theirs = gate.record
    theirs.write_bytes(record.read_bytes())
    record.unlink()
    theirs.rename(record)
    body = json.loads(record.read_bytes())["body"]
    record.write_text(
        json.dumps({"body": {**body, "uid": uid + 1}, "seal": gate._seal({**body, "uid": uid + 1})})
    )
    assert gate.known() == {}


def test_a_word_is_taken_back(gate: Gate) -> None:
    assert not gate.revoke()
    gate.agree(gate.standing(TABLES))
    stamp = gate.stamp
    assert gate.revoke()
    assert gate.stamp != stamp
    assert gate.standing(TABLES).state == "untrusted"


def test_the_states(gate: Gate) -> None:
    assert gate.standing(CALM).state == "not_needed"
    assert gate.standing(TABLES).state == "untrusted"
    gate.agree(gate.standing(TABLES))
    assert gate.standing(TABLES).state == "trusted"
    standing = gate.standing(WORSE)
    assert (standing.state, [standing.mark(item) for item in standing.items]) == ("changed", ["changed"])
    assert gate.standing(CALM).state == "changed"
    assert gate.standing(CALM).gone == ("session.verify",)


def test_the_refusal_tells_what_and_how_much(gate: Gate) -> None:
    many = {"providers": {f"p{n}": {"program": "x"} for n in range(9)}}
    with pytest.raises(HubError) as refused:
        gate.standing(many).insist()
    error = refused.value
    assert (error.code, error.extra["state"]) == (Code.TRUST_NEEDED, "untrusted")
    assert error.detail.endswith("providers.p4.program, and 4 more.")
    assert len(error.extra["items"]) == 9
    assert error.extra["digest"] == gate.standing(many).digest
    gate.standing(CALM).insist()


def test_the_variable_trusts_everything(root: Path) -> None:
    """No record is made, and the agents' files are not even looked for. Any other value says nothing."""
    assert not Gate.of(root, {"HUB_TRUST": "yes"}).standing(TABLES).trusted
    gate = Gate.of(root, {"HUB_TRUST": "1"})
    assert gate.admit(TABLES) is TABLES
    assert gate.standing(TABLES).trusted
    gate.follow({}, TABLES)
    gate.follow_keys({}, {"A": "x"})
    assert not gate.record.exists()


def test_a_change_of_the_user_s_is_followed(gate: Gate) -> None:
    gate.follow({}, CALM)
    assert not gate.record.exists(), "nothing to agree to"
    gate.follow(CALM, TABLES)
    assert again(gate).admit(TABLES) is TABLES


def test_the_user_s_keys_are_followed_and_foreign_ones_are_not(gate: Gate, root: Path) -> None:
    gate.follow_keys({}, {"A": "1"})
    (root / ".hub").mkdir()
    keys = root / ".hub" / ".env"
    keys.write_text("A=1\n")
    assert gate.standing({}).trusted
    keys.write_text("A=2\n")
    assert not gate.standing({}).trusted
    gate.follow_keys({"A": "2"}, {"A": "3"})
    keys.write_text("A=3\n")
    assert not gate.standing({}).trusted, "what was there was not his"
    gate.follow_keys({"A": "1"}, {})
    keys.unlink()
    assert gate.standing({}).trusted


def test_the_configuration_is_read_through_the_door(root: Path, tmp_path: Path) -> None:
    """`settings` alone, as every command calls it."""
    (root / "hub.toml").write_text('[session]\nthreshold = 0.5\nverify = ["make test"]\n')
    env = {"HUB_STATE_DIR": str(tmp_path / "state"), "HUB_CONFIG_DIR": str(tmp_path / "config")}
    config = settings(root / "hub.toml", environ=env).config
    assert (config.session.threshold, config.session.verify) == (0.5, ())
    assert settings(root / "hub.toml", environ={**env, "HUB_TRUST": "1"}).config.session.verify == (
        "make test",
    )
    gate = Gate.of(root, env)
    gate.agree(gate.standing(project_tables(root / "hub.toml", environ=env)))
    assert settings(root / "hub.toml", environ=env).config.session.verify == ("make test",)


def test_the_record_says_nothing_of_what_was_agreed_to(gate: Gate) -> None:
    """A variable's value may be a key."""
    gate.agree(gate.standing({"providers": {"claude": {"env": {"A_KEY": "a-secret-value"}}}}))
    assert "a-secret-value" not in gate.record.read_text()
    assert set(json.loads(gate.record.read_text())["body"]["items"]) == {"providers.claude.env"}
