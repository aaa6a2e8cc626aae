"""An agent that puts a `.hub` into its work: what hub proposes to take brings nothing of it, and no byte is lost."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.harness import git

COMMIT = "git -c user.name=a -c user.email=a@x commit -q -m mine"
WAYS = {
    "force-added": f"mkdir .hub && echo '{{}}' > .hub/fsm.json && git add -f .hub && {COMMIT}",
    "a link": "ln -s /tmp .hub",
    "another spelling": f"mkdir .HUB && echo x > .HUB/.env && git add -f .HUB && {COMMIT}",
    "deeper down": "mkdir -p sub/.hub && echo x > sub/.hub/fsm.json",
}
"""Each of these by the whole way; every way and every name: `tests/hub/io/git/test_own_folder.py`."""


@pytest.mark.parametrize("way", WAYS)
def test_what_is_proposed_brings_nothing_of_it(made, way):
    """Over a handoff: neither the receiver's tree nor the merge has it; both the log and the result name it."""
    made.script(
        "demo-first",
        {"write": {"path": "a.txt", "text": "a"}},
        {"run": WAYS[way]},
        {"limit": {"resetsIn": 3600}},
    )
    made.script("demo-second", {"write": {"path": "b.txt", "text": "b"}}, {"done": "ok"})
    made.configure("[server]\nport = 0\n")
    done = made.command("run", "write")
    assert done.returncode == 0, done.stderr
    record = made.fsm()
    worktree = Path(record["worktree"])
    (name,) = {"sub/.hub" if way == "deeper down" else ".HUB" if way == "another spelling" else ".hub"}
    assert record["withheld"] == [name]
    assert f"not on the branch: {name}; it stays in {worktree}" in done.stdout
    told = json.loads(made.command("logs", "--json").stdout)
    assert any(event["msg"].startswith(f"not in the snapshot: {name} ") for event in told)
    assert (worktree / name).is_symlink() or (worktree / name).exists()
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("take it:")]
    before = (made.root / ".hub" / "stamp.json").read_bytes()
    taken = subprocess.run(
        line.removeprefix("take it:").replace("hub", f"{sys.executable} -m hub", 1),
        shell=True,
        cwd=made.root,
        env=made.environ(),
        check=False,
    )
    assert taken.returncode == 0
    assert (made.root / "a.txt").read_text() == "a"
    assert (made.root / "b.txt").read_text() == "b"
    assert [path for path in git(made.root, "ls-files").splitlines() if "hub" in path.lower()] in (
        [],
        ["hub.toml"],
    )
    assert not (made.root / ".HUB").exists()
    assert not (made.root / "sub").exists()
    assert (made.root / ".hub" / "stamp.json").read_bytes() == before
    # and hub goes on working there
    assert json.loads(made.command("history", "--json").stdout)


def test_a_branch_whose_tip_brings_one_is_taken_without_it(made):
    """The agent commits behind hub's last snapshot, of a session or of a pipeline's node."""
    made.script("demo-first", {"write": {"path": "a.txt", "text": "a"}}, {"done": "ok"})
    made.configure("[server]\nport = 0\n")
    assert made.command("run", "write").returncode == 0
    record = made.fsm()
    worktree = Path(record["worktree"])
    (worktree / ".hub").mkdir()
    (worktree / ".hub" / "fsm.json").write_text("{}")
    git(worktree, "add", "-f", ".hub")
    git(worktree, "commit", "-q", "-m", "behind its back")
    before = (made.root / ".hub" / "stamp.json").read_bytes()
    assert made.command("take", record["sessionId"]).returncode == 0
    assert (made.root / "a.txt").read_text() == "a"
    assert [path for path in git(made.root, "ls-files").splitlines() if path.startswith(".hub")] == []
    assert (
        not (made.root / ".hub" / "fsm.json").exists()
        or (made.root / ".hub" / "fsm.json").read_text() != "{}"
    )
    assert (made.root / ".hub" / "stamp.json").read_bytes() == before
    assert "fsm.json" not in made.command("take", record["sessionId"], "--patch", "-").stdout


def test_a_module_file_that_names_a_command_hands_over(made, tmp_path):
    """Bug: git died of `update = !command` in `.gitmodules` at the first look at a submodule, and the session with it."""
    (made.root / ".gitmodules").write_text(
        f'[submodule "s"]\n\tpath = s\n\turl = ./s\n\tupdate = !touch {tmp_path}/ran\n'
    )
    git(made.root, "add", ".gitmodules")
    git(made.root, "update-index", "--add", "--cacheinfo", f"160000,{git(made.root, 'rev-parse', 'HEAD')},s")
    git(made.root, "commit", "-q", "-m", "modules")
    other = f"git update-index --add --cacheinfo 160000,{git(made.root, 'rev-parse', 'HEAD')},t && {COMMIT}"
    made.script(
        "demo-first", {"write": {"path": "a.txt", "text": "a"}}, {"run": other}, {"limit": {"resetsIn": 3600}}
    )
    made.script("demo-second", {"write": {"path": "b.txt", "text": "b"}}, {"done": "ok"})
    made.configure("[server]\nport = 0\n")
    done = made.command("run", "write")
    assert done.returncode == 0, done.stderr
    assert made.fsm()["handoffsDone"] == 1
    assert made.show(f"{made.fsm()['branch']}:b.txt") == b"b"
    assert made.command("diff", "--json").returncode == 0
    assert not (tmp_path / "ran").exists()
