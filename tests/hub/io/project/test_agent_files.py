"""The search for the files that agents obey: what is found, what it is known by, and where the search ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hub.errors import Code
from hub.io.project import agent_files
from hub.io.project.agent_files import above, orders
from tests.faults.harness import git
from tests.other_user import NOBODY, only_root
from tests.refusals import refuses


def put(root: Path, **files: str) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def commit(root: Path) -> None:
    git(root, "add", "-A", "-f")
    git(root, "commit", "-q", "--allow-empty", "-m", "files")


def found(root: Path) -> dict[str, str]:
    return {item.key.removeprefix("file:"): item.digest for item in orders(root)}


def test_a_project_without_any_or_without_a_commit(root: Path) -> None:
    assert found(root) == {}
    put(root, **{".mcp.json": "{}"})
    assert list(found(root)) == [".mcp.json"]
    commit(root)
    assert list(found(root)) == [".mcp.json"]


def test_checkout_and_commit_count_once_where_they_are_the_same(root: Path) -> None:
    put(root, **{".mcp.json": "{}"})
    commit(root)
    before = found(root)
    put(root, **{".mcp.json": '{"a": 1}'})
    after = found(root)
    assert after == {".mcp.json": after[".mcp.json"], ".mcp.json@HEAD": before[".mcp.json"]}
    (root / ".mcp.json").unlink()
    assert found(root) == before


def test_staged_untracked_and_ignored_files(root: Path) -> None:
    put(root, **{".gitignore": "*.local.json\nignored/\n"})
    commit(root)
    put(root, **{"a/.claude/settings.json": "{}", "b/.claude/settings.json": "{}"})
    put(root, **{".claude/settings.local.json": "{}", "ignored/.claude/settings.json": "{}"})
    git(root, "add", "a")
    assert list(found(root)) == [
        ".claude/settings.local.json",
        "a/.claude/settings.json",
        "b/.claude/settings.json",
    ]


def test_packages_and_checkouts_below_a_folder_are_passed_over(root: Path) -> None:
    """An agent installs its plugins' packages there, thousands of files."""
    put(
        root,
        **{
            ".opencode/node_modules/x/index.js": "",
            ".claude/worktrees/y/.mcp.json": "",
            ".claude/a.json": "",
        },
    )
    (root / ".gitignore").write_text(".opencode\n.claude\n")
    assert list(found(root)) == [".claude/a.json"]


def test_a_link_to_a_folder_is_known_by_all_that_is_there(root: Path) -> None:
    put(root, **{"tools/x/settings.json": "{}"})
    (root / ".claude").symlink_to("tools")
    seen = [found(root)]
    commit(root)
    seen.append(found(root))
    assert list(seen[-1]) == [".claude", ".claude/"], "the commit's link leads to the commit's files"
    put(root, **{"tools/x/settings.json": '{"a": 1}'})
    seen.append(found(root))
    (root / ".claude").unlink()
    (root / ".claude").symlink_to("elsewhere")
    seen.append(found(root))
    assert len({str(each) for each in seen}) == len(seen)


def test_a_link_that_leads_out_is_known_by_what_is_there(root: Path, tmp_path: Path) -> None:
    """Seen from the checkout, and from a worktree, where a relative one leads elsewhere."""
    (root / ".mcp.json").symlink_to("../../../evil.json")
    before = found(root)
    put(root, **{"evil.json": "{}"})
    assert found(root) != before
    (root / ".mcp.json").unlink()
    (root / ".mcp.json").symlink_to(tmp_path / "outside.json")
    before = found(root)
    (tmp_path / "outside.json").write_text("{}")
    assert found(root) != before


def test_links_in_a_circle_and_what_is_no_file_do_not_hold_it_up(root: Path) -> None:
    (root / ".claude").mkdir()
    (root / ".claude" / "loop").symlink_to("loop")
    (root / ".claude" / "up").symlink_to("..")
    os.mkfifo(root / ".claude" / "pipe")
    (root / ".codex").symlink_to(".claude/pipe")
    assert list(found(root)) == [".claude/loop", ".claude/pipe", ".claude/up", ".codex"]


def test_a_huge_file_is_known_by_size_and_time(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not read; a change of it has another time, which no commit can set."""
    monkeypatch.setattr(agent_files, "_LARGEST", 10)
    put(root, **{".mcp.json": "x" * 20})
    before = found(root)
    os.utime(root / ".mcp.json", ns=(1, 1))
    assert found(root) != before
    commit(root)
    assert list(found(root)) == [".mcp.json", ".mcp.json@HEAD"]


def test_a_folder_with_too_many_files_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_files, "_MOST", 3)
    put(root, **{f".claude/{n}.json": "" for n in range(4)})
    with refuses(Code.TOO_LARGE):
        orders(root)


def test_a_repository_inside_is_known_by_its_commit(root: Path) -> None:
    """Its files are its own; the commit it stands at is the project's."""
    inner = root / ".claude"
    inner.mkdir()
    git(inner, "init", "-q", "-b", "main")
    git(inner, "commit", "-q", "--allow-empty", "-m", "one")
    commit(root)
    before = found(root)
    assert ".claude" in before
    git(inner, "commit", "-q", "--allow-empty", "-m", "two")
    commit(root)
    assert list(found(root)) == list(before)
    assert found(root) != before


def test_nothing_that_the_repository_names_is_run(root: Path, tmp_path: Path) -> None:
    """An unpacked archive brings its own `.git/config`."""
    put(root, **{".mcp.json": "{}"})
    commit(root)
    canary = tmp_path / "ran"
    script = tmp_path / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch {canary}\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "core.pager", "core.sshCommand"):
        git(root, "config", key, str(script))
    put(root, **{".gitattributes": "* filter=x\n"})
    assert list(found(root)) == [".mcp.json"]
    assert not canary.exists()


def test_the_variables_of_a_dotenv_count_and_nothing_else_of_it(root: Path) -> None:
    put(root, **{".env": "DATABASE=1\n"})
    assert found(root) == {}
    put(root, **{".env": "DATABASE=1\nAIDER_LINT_CMD=evil\n"})
    before = found(root)
    put(root, **{".env": "DATABASE=2\nAIDER_LINT_CMD=evil\n"})
    assert found(root) == before
    put(root, **{".env": "DATABASE=2\nAIDER_LINT_CMD=worse\n"})
    assert found(root) != before


def test_what_is_no_repository_is_said(tmp_path: Path) -> None:
    with refuses(Code.GIT_FAILED):
        orders(tmp_path)


@only_root
def test_what_another_user_puts_above_the_project_is_found(root: Path) -> None:
    """Bug: a user who can write a folder above it (`/tmp`) had agents of hub's start programs of his."""
    put(
        root.parent,
        **{
            ".mcp.json": "{}",
            ".claude/settings.json": "{}",
            ".github/agents/a.md": "",
            "opencode.json": "{}",
        },
    )
    (root.parent / ".vscode").mkdir()
    assert above(root) == []
    for name in (".mcp.json", ".claude", ".github", ".vscode"):
        os.chown(root.parent / name, NOBODY, NOBODY)
    found = above(root)
    assert [one.key for one in found] == [
        f"file:{root.parent}/{n}" for n in (".claude", ".github", ".mcp.json")
    ]
    assert "another user" in found[0].text
    put(root.parent, **{".mcp.json": '{"a": 1}', ".claude/more.json": "{}"})
    changed = [now.digest != before.digest for now, before in zip(above(root), found, strict=True)]
    assert changed == [True, False, True]
    assert orders(root) == []


@only_root
@pytest.mark.parametrize(
    ("name", "reader"),
    [("CLAUDE.md", "Claude Code"), ("AGENTS.md", "several agents"), ("GEMINI.md", "Gemini CLI")],
)
def test_another_user_s_words_for_agents_above_the_project_are_found(
    root: Path, name: str, reader: str
) -> None:
    """Bug: Claude Code took `/tmp/CLAUDE.md` of another user for instructions of its own; the project's are no orders."""
    put(root, **{name: "words"})
    put(root.parent, **{name: "words"})
    assert above(root) == []
    os.chown(root.parent / name, NOBODY, NOBODY)
    [item] = above(root)
    assert item.text == f"{root.parent}/{name} ({reader}), which another user has put above the project"
    assert orders(root) == []


@only_root
@pytest.mark.parametrize("name", [".claude", ".github"])
def test_a_link_of_another_user_above_the_project_is_not_followed(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Bug: a link to a large folder in `/tmp`, which nobody else may take away, stopped hub for all below it."""
    monkeypatch.setattr(agent_files, "_MOST", 1)
    put(root.parent, **{"large/agents/a": "", "large/b": "", "large/c": ""})
    link = root.parent / name
    link.symlink_to("large")
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    [item] = above(root)
    assert (item.key, "a link to large" in item.text) == (f"file:{link}", True)


@contextlib.contextmanager
def as_nobody(root: Path) -> Iterator[None]:
    """This process as another user, who may reach the project, and whose it is."""
    for folder in root.parents:
        if folder.stat().st_uid == os.geteuid() and not folder.stat().st_mode & 0o001:
            folder.chmod(0o755)
    for place in (root, root / ".git"):
        os.chown(place, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@only_root
def test_what_may_not_be_looked_into_holds_nothing_up(root: Path) -> None:
    """Bug: a folder `/tmp/.claude` of mode 0744, or a link into a closed one, was an error that nobody caught."""
    put(root.parent, **{".claude/settings.json": "{}", ".vscode/mcp.json": "", "closed/x/y": ""})
    (root.parent / ".codex").symlink_to("closed/x")
    for name in (".claude", ".vscode", ".codex"):
        os.chown(root.parent / name, 1, 1, follow_symlinks=False)
    for name in (".claude", ".vscode", "closed"):
        (root.parent / name).chmod(0o744)
    (root / ".claude").symlink_to("../closed/x")
    put(root, **{".github/agents/a.md": "", ".gemini/a.json": ""})
    for name in (".github", ".gemini"):
        (root / name).chmod(0o744)
    with as_nobody(root):
        assert [one.key.rpartition("/")[2] for one in above(root)] == [".claude", ".codex", ".vscode"]
        told = {item.key: item.text for item in orders(root)}
    assert "it cannot be looked into" in told["file:.gemini/a.json"]
    assert "a link to" in told["file:.claude"]


@only_root
def test_what_lies_above_the_project_of_whoever_called_sudo_is_his_own(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bug: with sudo, the settings in the caller's own home were "another user's", and `hub run` refused."""
    put(root.parent, **{".claude/settings.json": "{}", ".mcp.json": "{}"})
    os.chown(root.parent / ".claude", 1000, 1000)
    os.chown(root.parent / ".mcp.json", NOBODY, NOBODY)
    for uid in ("", "1001", "no number", "-1000"):
        monkeypatch.setenv("SUDO_UID", uid)
        assert len(above(root)) == 2
    monkeypatch.setenv("SUDO_UID", "1000")
    assert [one.key for one in above(root)] == [f"file:{root.parent}/.mcp.json"]


@only_root
def test_who_called_sudo_owns_nothing_of_a_user_who_is_not_root(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anybody can set the variable: git heeds it for root alone."""
    put(root.parent, **{".mcp.json": "{}"})
    os.chown(root.parent / ".mcp.json", 1000, 1000)
    monkeypatch.setenv("SUDO_UID", "1000")
    monkeypatch.setattr(os, "geteuid", lambda: 1001)
    assert [one.key for one in above(root)] == [f"file:{root.parent}/.mcp.json"]
