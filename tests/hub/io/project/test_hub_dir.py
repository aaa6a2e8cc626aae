"""The folder of hub's records: whose it is, and what happens to one that is not this hub's."""

import re
import subprocess

from hub.errors import Code
from hub.io.project.hub_dir import claim, stamped
from hub.io.project.places import Places
from tests.faults.harness import git
from tests.hub.io.git.kit import make_repo
from tests.refusals import refuses


def test_after_a_move_the_hint_brings_back_what_is_newer_than_the_snapshots(tmp_path, monkeypatch):
    """It named the branches alone, and git knew none of the worktrees any more."""
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    places = Places(make_repo(tmp_path / "repo"))
    claim(places)
    (places.hub_dir / "fsm.json").write_text("{}")
    work = places.worktrees / "s-1"
    git(places.root, "worktree", "add", "-q", "-b", "hub/s-1", str(work))
    (work / "newer.txt").write_text("newer")
    moved = Places(places.root.rename(tmp_path / "moved"))
    [told] = claim(moved)
    command = re.search(r"git worktree repair \S+", told.hint)
    subprocess.run(["sh", "-c", command[0]], cwd=moved.root, check=True, capture_output=True)
    assert git(moved.worktrees / "s-1", "status", "--porcelain") == "?? newer.txt"


def test_without_a_place_for_hubs_key_no_record_is_moved(tmp_path, monkeypatch):
    """In a home that takes no file (`HOME=/dev/null`) the records were put aside first, and were gone from every list."""
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    places = Places(make_repo(tmp_path / "repo"))
    (places.hub_dir / "fsm.json").write_text("{}")
    claim(places)
    (places.hub_dir / "fsm.json").write_text("{}")
    monkeypatch.setenv("HUB_STATE_DIR", "/dev/null/state")
    before = sorted(path.name for path in places.hub_dir.iterdir())
    assert not stamped(places)
    with refuses(Code.NO_PERMISSION):
        claim(places)
    assert sorted(path.name for path in places.hub_dir.iterdir()) == before
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    assert stamped(places)
