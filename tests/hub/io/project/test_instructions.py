"""The walk for instruction files: bounded, and no link is followed out of the project."""

import hashlib
import os

import pytest

from hub.domain.config.model import ProfileSettings
from hub.io.project import instructions as found_in
from hub.io.project.instructions import instructions


@pytest.fixture
def root(tmp_path):
    (tmp_path / "repo").mkdir()
    return tmp_path / "repo"


@pytest.fixture
def home(tmp_path):
    (tmp_path / "home").mkdir()
    return tmp_path / "home"


def put(path, text="# title\n"):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def paths(root, home, *profiles):
    return [entry.path for entry in instructions(root, home, profiles)]


def test_project_first_then_the_user_then_profiles(root, home):
    put(root / "AGENTS.md", "# Rules\n")
    put(root / "api/AGENTS.md")
    put(root / ".claude/skills/tdd/SKILL.md", "---\nname: Test first\n---\n")
    put(home / ".claude/CLAUDE.md")
    put(home / ".codex/skills/x/SKILL.md")
    found = instructions(root, home, [ProfileSettings("p", skills=("tdd", "elsewhere"))])
    assert [(e.path, e.kind, e.scope) for e in found] == [
        ("AGENTS.md", "agents_md", "project"),
        ("api/AGENTS.md", "agents_md", "api"),
        (".claude/skills/tdd/SKILL.md", "skill", "project"),
        ("~/.claude/CLAUDE.md", "claude_md", "user"),
        ("~/.codex/skills/x/SKILL.md", "skill", "user"),
        (".claude/skills/tdd/SKILL.md", "profile_skill", "profile:p"),
        ("", "profile_skill", "profile:p"),
    ]
    assert found[0].title == "Rules"
    assert found[0].bytes == 8
    assert found[0].sha256 == hashlib.sha256(b"# Rules\n").hexdigest()


def test_no_link_is_followed(root, home, tmp_path):
    """A tree an agent wrote may point anywhere: neither a file nor a folder behind a link is read."""
    secret = put(tmp_path / "elsewhere/AGENTS.md", "# secret\n")
    (root / "AGENTS.md").symlink_to(secret)
    (root / "linked").symlink_to(secret.parent)
    put(tmp_path / "skills/tdd/SKILL.md")
    (home / ".claude").mkdir()
    (home / ".claude/skills").symlink_to(tmp_path / "skills")
    os.mkfifo(root / "GEMINI.md")
    assert paths(root, home) == []


def test_what_tools_made_is_not_looked_at(root, home):
    for folder in ("node_modules/x", ".git", ".hub/worktrees/s-1", "vendor"):
        put(root / folder / "AGENTS.md")
    put(root / "src/AGENTS.md")
    assert paths(root, home) == ["src/AGENTS.md"]


def test_the_walk_ends(root, home, monkeypatch):
    deep = root.joinpath(*["d"] * found_in.MAX_DEPTH)
    put(deep / "AGENTS.md")
    put(deep.parent / "AGENTS.md")
    assert paths(root, home) == ["/".join([*["d"] * (found_in.MAX_DEPTH - 1), "AGENTS.md"])]
    monkeypatch.setattr(found_in, "MAX_FILES", 3)
    for number in range(5):
        put(root / f"{number}/AGENTS.md")
    assert len(paths(root, home)) == 3
    monkeypatch.setattr(found_in, "MAX_ENTRIES", 2)
    assert paths(root, home) == []


def test_a_large_file_is_told_and_not_read(root, home):
    put(root / "AGENTS.md", "x" * (found_in.MAX_BYTES + 1))
    (entry,) = instructions(root, home, ())
    assert (entry.bytes, entry.sha256, entry.title) == (found_in.MAX_BYTES + 1, "", "AGENTS.md")


def test_names_and_texts_need_not_be_utf8(root, home):
    folder = os.fsdecode(os.fsencode(root) + b"/\xff")
    put(root / folder / "AGENTS.md").write_bytes(b"# \xff\n")
    (entry,) = instructions(root, home, ())
    assert entry.path == "\ufffd/AGENTS.md"
    assert entry.title == "\ufffd"
    assert entry.scope.encode()
