"""What became of a work, from the newest records of it."""

import attrs

from hub.domain.result.fate import fate, left_behind


@attrs.frozen
class Told:
    event: str
    commit: str = "1" * 40
    held_by: str | None = None


def test_what_became_of_a_work_is_its_newest_take_that_holds():
    """What was let go is gone whatever was taken; neither a patch nor a record of another event hides a take."""
    here, gone, unseen = (Told("taken", held_by=held) for held in ("main", "", None))
    patch, broken, discarded = Told("taken", commit=""), Told("audit_broken", commit=""), Told("discarded")
    assert fate([], [here, gone, patch, broken]) is here
    assert fate([], [gone, unseen]) is unseen, "the log is believed where git was not asked"
    assert fate([], [gone, patch]) is None
    assert fate([discarded], [here]) is discarded
    assert fate([discarded, broken], []) is None
    assert fate([], []) is None


def test_what_stays_behind_is_named_by_its_place():
    assert left_behind("s-1").endswith(": .hub/worktrees/s-1")
