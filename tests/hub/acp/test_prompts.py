"""Prompts of editors: text, links and files become one text; what hub did not announce is refused."""

from pathlib import PurePath

import pytest

from hub.acp.prompts import text_of
from hub.wire.frames import RefusedError

ROOT = PurePath("/home/me/project")


def text(words):
    return {"type": "text", "text": words}


def test_texts_are_put_together_as_they_are():
    assert text_of([text("Fix "), text("this.\n")], ROOT) == "Fix this."


@pytest.mark.parametrize(
    ("uri", "reads"),
    [
        ("file:///home/me/project/src/a%20b.py", "src/a b.py"),
        ("file:///home/me/project/src/a.py#L3-7", "src/a.py:L3-7"),
        ("file:///etc/hosts", "/etc/hosts"),
        ("file:///home/me/project2/a.py", "/home/me/project2/a.py"),
        ("https://example.org/x?y#z", "https://example.org/x?y#z"),
        ("zed:///agent/thread", "zed:///agent/thread"),
    ],
)
def test_a_file_of_the_project_is_named_from_its_root(uri, reads):
    """The agent works in a worktree: the path of the user's own tree would lead out of it."""
    link = {"type": "resource_link", "uri": uri, "name": "x"}
    assert text_of([text("See "), link, text(".")], ROOT) == f"See {reads}."


def test_a_file_that_comes_along_is_fenced():
    resource = {"uri": "file:///home/me/project/a.md", "text": "Say:\n```\nhi\n```\n"}
    said = text_of([text("Fix this"), {"type": "resource", "resource": resource}], ROOT)
    assert said == "Fix this\n\na.md:\n````\nSay:\n```\nhi\n```\n````"


def test_a_file_that_is_no_text_is_named():
    resource = {"uri": "file:///home/me/project/a.png", "blob": "AAAA", "mimeType": "image/png"}
    assert text_of([text("Use "), {"type": "resource", "resource": resource}], ROOT) == "Use a.png"


@pytest.mark.parametrize(
    "blocks",
    [
        None,
        "text",
        [],
        [text(" \n")],
        [None],
        [{}],
        [{"type": "text", "text": 7}],
        [{"type": "image", "data": ""}],
        [{"type": 7}],
    ],
)
def test_anything_else_is_refused(blocks):
    with pytest.raises(RefusedError) as refused:
        text_of(blocks, ROOT)
    assert refused.value.code == -32602
