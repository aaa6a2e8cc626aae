"""Replies on record: kept whole and in order, and known as taken by the runner's own record."""

import json

from hub.io.runner.files import KEYS
from hub.io.runner.replies import UserReply, keep, untaken

BLUE, LARGE = UserReply("r-1", "blue\n\u2028"), UserReply("r-2", "large")


def taken(run_dir, *keys, tail=b""):
    lines = [json.dumps({"key": key, "bytes": 3, "at": 1}).encode() + b"\n" for key in keys]
    (run_dir / KEYS).write_bytes(b"".join(lines) + tail)


def test_nothing_is_on_record_at_first(tmp_path):
    assert untaken(tmp_path) == []


def test_what_the_runner_has_taken_is_not_offered_again(tmp_path):
    """Each key once: the runner writes it down before it takes it."""
    keep(tmp_path, BLUE)
    keep(tmp_path, LARGE)
    assert untaken(tmp_path) == [BLUE, LARGE]
    taken(tmp_path, "prompt", "r-1")
    assert untaken(tmp_path) == [LARGE]
    taken(tmp_path, "prompt", "r-1", "r-2")
    assert untaken(tmp_path) == []


def test_a_line_that_was_torn_is_no_record(tmp_path):
    """A runner that was killed while it wrote the key had not taken it."""
    keep(tmp_path, BLUE)
    taken(tmp_path, tail=b'{"key": "r-1", "by')
    assert untaken(tmp_path) == [BLUE]


def test_it_is_for_its_owner_alone(tmp_path):
    """The words are not redacted: the agent is to get what was said."""
    keep(tmp_path, BLUE)
    assert (tmp_path / "replies.json").stat().st_mode & 0o777 == 0o600
