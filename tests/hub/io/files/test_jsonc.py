"""A change of one member leaves every other byte of a file as it was."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.errors import Code
from hub.io.files.jsonc import put, take
from tests.refusals import refuses

PATH = ("mcpServers", "hub")
ENTRY = {"command": "hub", "args": ["mcp"]}
EDITED = """{
  // what I use
  "mcpServers": {
    /* "hub": a string in a comment is no member */
    "other": { "command": "x", "args": ["}", "\\"hub\\": {"], }, // mine
  },
  "theme": "dark", // "mcpServers"
}
"""


def test_an_entry_goes_in_and_nothing_else_moves():
    made = put(EDITED, PATH, ENTRY)
    inserted = """
    "hub": {
      "command": "hub",
      "args": [
        "mcp"
      ]
    },"""
    assert made == EDITED.replace('"mcpServers": {', '"mcpServers": {' + inserted, 1)


def test_what_went_in_comes_out():
    assert take(put(EDITED, PATH, ENTRY), PATH).split() == EDITED.split()
    assert "/* " in take(put(EDITED, PATH, ENTRY), PATH)


@pytest.mark.parametrize("text", ['{"mcpServers": {"a": 1}}', '{\n\t"mcpServers": {\n\t\t"a": 1\n\t}\n}\n'])
def test_what_went_in_beside_others_leaves_no_trace(text):
    assert take(put(text, PATH, ENTRY), PATH) == text


def test_again_changes_nothing():
    once = put(EDITED, PATH, ENTRY)
    assert put(once, PATH, ENTRY) == once


def test_an_old_entry_is_replaced_in_its_place():
    old = '{"mcpServers": {"a": 1, "hub": {"command": "/old"}, "b": 2}}'
    assert json.loads(put(old, PATH, ENTRY)) == {"mcpServers": {"a": 1, "hub": ENTRY, "b": 2}}


@pytest.mark.parametrize(
    "text", ["", " \n", "{}", "{ }", "{\n}\n", '{"mcpServers": {}}', '{"x": [1, {"y": null}]}']
)
def test_what_is_missing_on_the_way_is_made(text):
    before = json.loads(text) if text.strip() else {}
    assert json.loads(put(text, PATH, ENTRY)) == {**before, "mcpServers": {"hub": ENTRY}}


@pytest.mark.parametrize(
    "text",
    [
        "[]", "x", "{", '{"a"}', '{"a": }', '{"a": 1 "b": 2}', '{"mcpServers": []}', '{"mcpServers": "x"}', "{} {}",
        '{"a": "unclosed}', '{"a": [1, 2}', "{a: 1}", '{"a": 1,, "b": 2}', '{"\\q": 1}', "[" * 5000, '{"a":' * 5000,
    ],
)  # fmt: skip
def test_a_file_that_is_broken_is_left_to_its_owner(text):
    with refuses(Code.CONFIG_INVALID) as caught:
        put(text, PATH, ENTRY)
    assert caught.value.detail.startswith("Line ")


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (
            '{"mcpServers": {"other": {"command": "x"}}, "a": 1}\n',
            '{"mcpServers": {"hub": {"command": "hub", "args": ["mcp"]}, "other": {"command": "x"}}, "a": 1}\n',
        ),
        (
            '{"mcpServers":{"other":{"command":"x"}}}',
            '{"mcpServers":{"hub":{"command":"hub","args":["mcp"]},"other":{"command":"x"}}}',
        ),
        ('{ "a": 1 }', '{ "mcpServers": {"hub": {"command": "hub", "args": ["mcp"]}}, "a": 1 }'),
        (
            '{\n\t"mcpServers": {}\n}',
            '{\n\t"mcpServers": {\n\t\t"hub": {\n\t\t\t"command": "hub",\n\t\t\t"args": [\n\t\t\t\t"mcp"\n\t\t\t]\n\t\t}\n\t}\n}',
        ),
        (
            '{\n    "mcpServers": {"a": 1}\n}',
            '{\n    "mcpServers": {"hub": {"command": "hub", "args": ["mcp"]}, "a": 1}\n}',
        ),
    ],
    ids=["one line", "no spaces", "spaced braces", "tabs", "one line of several"],
)
def test_an_entry_is_written_as_the_file_is(text, made):
    """A file on one line became `{`, five lines and `},"other"` glued to them; tabs became spaces."""
    assert put(text, PATH, ENTRY) == made
    assert put(made, PATH, ENTRY) == made


def test_taking_out_what_is_not_there_changes_nothing():
    for text in ("", "{}", EDITED, '{"mcpServers": {}}'):
        assert take(text, PATH) == text


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ('{"mcpServers": {"hub": 1}}', {"mcpServers": {}}),
        ('{"mcpServers": {"hub": 1, "a": 2}}', {"mcpServers": {"a": 2}}),
        ('{"mcpServers": {"a": 2, "hub": 1}}', {"mcpServers": {"a": 2}}),
        ('{"mcpServers": {"a": 2, "hub": 1, "b": 3}}', {"mcpServers": {"a": 2, "b": 3}}),
    ],
)
def test_one_of_several_is_taken_out(text, made):
    assert json.loads(take(text, PATH)) == made


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)
DOCUMENT = st.dictionaries(st.text(max_size=5), JSON, max_size=4)


@given(DOCUMENT, DOCUMENT, st.sampled_from([None, 2]))
def test_any_document_gains_and_loses_exactly_the_entry(document, servers, indent):
    """With other servers beside it, and however it is written."""
    document = {**document, "mcpServers": {name: value for name, value in servers.items() if name != "hub"}}
    text = json.dumps(document, indent=indent)
    made = put(text, PATH, ENTRY)
    assert json.loads(made) == {**document, "mcpServers": {**document["mcpServers"], "hub": ENTRY}}
    assert json.loads(take(made, PATH)) == document
