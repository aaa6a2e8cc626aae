"""A diff of git's, read back into the words before and after."""

import subprocess
from pathlib import PurePath

import pytest

from hub.acp.changes import changes_of
from tests.faults.harness import git

TREE = PurePath("/tree")


@pytest.fixture
def repo(tmp_path):
    git(tmp_path, "init", "-q")
    return tmp_path


def diff(repo, **files):
    """What git says of the change from the first words of each file to its second; None = it is not there."""
    for at in (0, 1):
        for name, words in files.items():
            path = repo / name
            if words[at] is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(words[at])
        if not at:
            git(repo, "add", "-A")
            git(repo, "commit", "-q", "--allow-empty", "-m", "before")
    git(repo, "add", "-AN")
    return subprocess.run(
        ["git", "diff", "HEAD"], cwd=repo, check=True, capture_output=True, text=True
    ).stdout


def blocks(text):
    return [change.block(TREE) for change in changes_of(text)]


def test_a_new_file_has_no_words_before(repo):
    [block] = blocks(diff(repo, made=(None, "one\ntwo\n")))
    assert block == {"type": "diff", "path": "/tree/made", "oldText": None, "newText": "one\ntwo\n"}


def test_a_file_that_is_gone_has_none_after(repo):
    [block] = blocks(diff(repo, gone=("one\n", None)))
    assert (block["oldText"], block["newText"]) == ("one\n", "")


def test_each_place_of_a_file_is_its_own_change(repo):
    before = [f"line {n}\n" for n in range(40)]
    after = ["new first\n", *before[1:-1], "new last\n"]
    changes = changes_of(diff(repo, file=("".join(before), "".join(after))))
    assert [change.line for change in changes] == [1, 37]
    for change in changes:
        assert "".join(change.old) in "".join(before)
        assert "".join(change.new) in "".join(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [("a\nb", "a\nc"), ("a\nb\n", "a\nb"), ("a\nb", "a\nb\n"), ("x\nb", "y\nb"), ("", "a"), ("a", "")],
)
def test_a_file_without_a_last_line_end(repo, before, after):
    [block] = blocks(diff(repo, file=(before, after)))
    assert (block.get("oldText", ""), block["newText"]) == (before, after)


@pytest.mark.parametrize(
    "words", ["-- gone\n", "++ here\n", "diff --git a/x b/x\n", "@@ -1 +1 @@\n", "\\ x\n", "a\x0cb\u2028c\n"]
)
def test_words_that_look_like_a_diff_are_words(repo, words):
    [block] = blocks(diff(repo, file=("before\n", words)))
    assert (block["oldText"], block["newText"]) == ("before\n", words)


def test_each_change_has_its_file(repo):
    text = diff(repo, one=("a\n", "b\n"), two=("c\n", "d\n"))
    assert [(block["path"], block["newText"]) for block in blocks(text)] == [
        ("/tree/one", "b\n"),
        ("/tree/two", "d\n"),
    ]
    assert blocks("") == []
