"""What a tool is given, as lines for people: all of it, and nothing that steers a terminal."""

import pytest

from hub.domain.text.change import change


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        (
            {"file_path": "a.py", "old_string": "one\ntwo\nthree", "new_string": "one\n2\nthree"},
            ["@@ -1,3 +1,3 @@", " one", "-two", "+2", " three", "file_path: a.py"],
        ),
        ({"path": "a", "content": "x\ny"}, ["+x", "+y", "path: a"]),
        ({"n": 1, "query": "ls\x1b[2J"}, ["n: 1", "query: ls"]),
        ({"old_string": 1}, ["old_string: 1"]),
        ("ls\nrm", ["ls", "rm"]),
        (["ls"], ["[", '  "ls"', "]"]),
        (None, []),
        ({}, []),
    ],
)
def test_what_a_tool_is_given_is_shown_whole(given, lines):
    assert list(change(given)) == lines
