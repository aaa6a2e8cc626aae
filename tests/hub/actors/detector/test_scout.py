"""What a scan remembers, and what it must not."""

from __future__ import annotations

import subprocess

import pytest

from hub.actors.detector.scout import Scout
from hub.domain.config import Config
from hub.domain.intel import Unreadable, failed
from hub.io.stores import StoreFiles
from hub.providers import stores
from hub.providers.registry import load_all
from tests.hub.io.agents import transcript

SESSION = "01a1fe0c-897b-7642-9087-e765bd0c6561"


@pytest.fixture
def scout(tmp_path):
    home = tmp_path / "home"
    transcript(home / ".claude", SESSION, tmp_path, "Write a.py")
    return Scout(tmp_path, load_all(), Config(), env={"HOME": str(home)}, home=str(home))


def seen(scout):
    return next(one for one in scout.scan(0.0) if one.id == f"claude:{SESSION}")


def own(scout):
    """Without the agents of other tests."""
    return [one for one in scout.scan(0.0) if one.agent is None]


def test_a_session_that_could_not_be_read_is_read_at_the_next_scan(scout, monkeypatch):
    """A read that ran out of its time must not hide the session until it is written again."""
    with monkeypatch.context() as patch:
        patch.setattr(stores, "read", lambda hit, *_: failed(hit, "It took too long."))
        assert seen(scout).kept.intel.alarm == "It took too long."
    assert seen(scout).kept.intel.initial_prompt == "Write a.py"


def test_a_session_that_has_not_changed_is_not_read_again(scout, monkeypatch):
    before = seen(scout)
    monkeypatch.setattr(stores, "read", lambda hit, *_: pytest.fail(f"read {hit.path}"))
    assert seen(scout) == before


def test_a_store_that_is_not_searched_to_its_end_is_told_of(scout, tmp_path, monkeypatch):
    """Sessions that are missing for want of time must not look like sessions that do not exist."""
    place = tmp_path / "home" / ".codex"

    def walk(files, place_, since_ns):
        if place_.root == str(place):
            raise Unreadable(f"{place} took too long to search.")
        return whole(files, place_, since_ns)

    whole = StoreFiles.walk
    with monkeypatch.context() as patch:
        patch.setattr(StoreFiles, "walk", walk)
        [session, gap] = own(scout)
    assert session.id == f"claude:{SESSION}"
    told = scout.to_json(gap)
    assert (told["provider"], told["alarm"]) == ("codex", f"{place} took too long to search.")
    assert (told["running"], told["session"], told["adoptable"]) == (False, None, False)
    assert str(place) not in told["id"]
    assert [one.id for one in own(scout)] == [session.id]


def test_a_folder_that_becomes_a_repository_is_in_no_project_only_before(scout, tmp_path):
    assert not scout.inside(str(tmp_path))
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    assert scout.inside(str(tmp_path))
