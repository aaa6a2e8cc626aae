"""An audit log that was taken away whole is missed: what was made beside it says that it was there."""

import pytest

from hub.domain.audit import ChainState
from hub.domain.session import SessionRecord
from hub.io.audit.journal import AuditJournal, verify_file
from hub.io.git.snapshot import snapshot
from hub.io.project.places import Places
from hub.io.records.sessions import session_store
from tests.hub.io.git.kit import make_repo, session, sh

KEY = bytes(32)


@pytest.fixture
def places(tmp_path):
    """A project with an audit log of one record."""
    made = Places(make_repo(tmp_path / "repo"))
    journal = AuditJournal.open(made, KEY)
    draft = journal.draft()
    draft.add("daemon_started", {})
    journal.commit(draft)
    journal.close()
    return made


def taken_away(places):
    places.audit.unlink()
    places.audit_head.unlink()
    return verify_file(places, KEY)


def test_where_nothing_speaks_for_one_there_was_none(places):
    verdict = taken_away(places)
    assert (verdict.state, verdict.records, verdict.reason) == (ChainState.INTACT, 0, "")


def test_a_session_that_is_on_record_speaks_for_it(places):
    """Bug: it was said to be intact, with no records."""
    record = SessionRecord(session_id="s-1", branch="hub/s-1", worktree=str(places.worktree("s-1")))
    session_store(places).save(record)
    verdict = taken_away(places)
    assert verdict.state is ChainState.BROKEN
    assert verdict.reason == "the log and its head are gone, but the session s-1 is on record"


async def test_a_snapshot_speaks_for_it_when_all_of_hubs_folder_is_gone(places):
    with_head = AuditJournal.open(places, KEY)
    head = with_head.head()
    with_head.close()
    wt = await session(places.root)
    await snapshot(wt.path, "s1", "h-1", {}, root=places.root)
    made = await snapshot(wt.path, "s1", "h-2", {"Hub-Audit": f"{head.seq}:{head.hash}"}, root=places.root)
    verdict = taken_away(places)
    assert verdict.state is ChainState.BROKEN
    short = sh(places.root, "rev-parse", "--short", made.sha).strip()
    assert verdict.reason.endswith(f"the snapshot {short} names record 0 of it")


async def test_a_snapshot_without_a_place_in_the_chain_says_nothing(places):
    wt = await session(places.root)
    await snapshot(wt.path, "s1", "h-1", {"Hub-Audit": "none"}, root=places.root)
    assert taken_away(places).state is ChainState.INTACT
