"""Where no daemon runs, what is done is on the audit log as a daemon would have it: each key once."""

from functools import partial

import pytest

from hub.cli.local.alone import Alone
from hub.cli.local.offline import OfflineProject
from hub.io.audit.journal import AuditJournal
from hub.io.project.places import Places
from hub.messages.audit import AuditAppend, AuditEntry


@pytest.fixture
def append(repo, monkeypatch):
    """Appends one entry; says how many records of the log were parsed for it, and how many are on it afterwards."""
    places = Places(repo)
    places.ensure()
    alone = Alone(places, None, None, str, project=OfflineProject(places))
    parsed, read = [], AuditJournal.read

    def counted(journal, first, limit):
        found = read(journal, first, limit)
        parsed.extend(found)
        return found

    monkeypatch.setattr(AuditJournal, "read", counted)

    def append(event, session_id, key=""):
        parsed.clear()
        head = alone._answer(AuditAppend([AuditEntry(event, {"sessionId": session_id}, key)]))
        return len(parsed), head.seq + 1

    return append


def test_a_key_is_on_the_log_once_and_no_more_of_it_is_read_than_its_own(append):
    """Bug: each take and discard parsed the newest half million records, seconds of them, also for what has no key."""
    unkeyed = [append("take_begun", session) for session in ("s-1", "s-1", "s-2")]
    assert unkeyed == [(0, 1), (0, 2), (0, 3)]
    taken = partial(append, "taken")
    assert taken("s-1", "one") == (0, 4)
    assert taken("s-1", "two") == (1, 5)
    assert taken("s-1", "one") == (2, 5), "it is there"
    assert taken("s-2", "one") == (0, 6)
