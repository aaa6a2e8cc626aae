"""What a project's settings do: each is classified, shown and counted, and left out until the user agreed."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

from hub.api.convert import fields_of
from hub.api.tables import parse_config, parse_toml
from hub.domain.accounts.account import Account
from hub.domain.config import model
from hub.domain.config.reader import Config
from hub.domain.trust.settings import (
    KEYS,
    SETTINGS,
    Does,
    Item,
    agreed,
    digest,
    digests,
    followed,
    gone,
    items,
    keys,
    misplaced,
    restricted,
)

_INNER = {
    "server": model.ServerSettings,
    "session": model.SessionSettings,
    "worktree": model.WorktreeSettings,
    "providers.*": model.ProviderSettings,
    "profiles": model.ProfileSettings,
    "pipelines": model.PipelineSettings,
    "pipelines.nodes": model.PipelineNode,
    "terminal": model.Terminal,
    "vision": model.Vision,
    "redaction": model.Redaction,
    "detect": model.DetectSettings,
    "notify": model.Notify,
}
"""The tables of which the configuration is made, by their place."""
_ACCOUNT = {"label", "configDir", "active", "env", "concurrency"}


def places(kind: type[Any] = Config, at: str = "") -> Iterator[str]:
    """Every setting of the configuration by its place, from the classes themselves."""
    for key in fields_of(kind):
        place = f"{at}.{key}".lstrip(".")
        inner = f"{place}.*" if place == "providers" else place
        if inner in _INNER:
            yield from places(_INNER[inner], inner)
        elif place == "providers.*.accounts":
            yield from (f"{place}.{key}" for key in _ACCOUNT)
        else:
            yield place


def test_every_setting_is_classified_and_no_other() -> None:
    """A setting that is added says here what it lets a project do; until then it counts as one that runs."""
    assert set(places()) == set(SETTINGS)
    assert {field for field in typing.get_type_hints(Account) if not field.startswith("_")} == {
        "label",
        "config_dir",
        "env",
        "active",
        "concurrency",
    }


def test_a_setting_says_what_it_does_where_it_is_asked_for() -> None:
    asked = {Does.RUNS, Does.SENDS, Does.OPENS}
    assert all(bool(words) is (does in asked) for does, words in SETTINGS.values())


TEXT = """\
[server]
port = 0
[session]
chain = ["claude", "mine"]
verify = ["make test", "true"]
[providers.claude]
enabled = true
program = "./x"
baseUrl = "http://127.0.0.1:1"
env = { A = "1", B = "two" }
options = { args = ["--x", 1] }
[[providers.claude.accounts]]
label = "work"
env = { C = "3" }
active = true
[providers.mine]
kind = "acp"
command = "mine --acp"
enabled = true
keyNames = ["KEY"]
[[pipelines]]
name = "ship"
[[pipelines.nodes]]
id = "one"
provider = "claude"
task = "x"
verify = ["node test"]
[[approvals]]
decision = "deny"
[vision]
enabled = true
baseUrl = "http://127.0.0.1:2"
[redaction]
detection = false
"""
RAW = parse_toml(TEXT)


def test_what_needs_a_word_is_said_in_one_line_each() -> None:
    found = {item.key: (item.does, item.text) for item in items(RAW)}
    assert found == {
        "session.verify": (Does.RUNS, "checks the work with: make test; true"),
        "providers.claude.program": (Does.RUNS, "starts in place of claude: ./x"),
        "providers.claude.baseUrl": (
            Does.SENDS,
            "sends the work and the key of claude to: http://127.0.0.1:1",
        ),
        "providers.claude.env": (
            Does.SENDS,
            "sets for claude, which may send its work elsewhere: A=1, B=two",
        ),
        "providers.claude.options": (Does.RUNS, 'starts claude with the options: args=["--x", 1]'),
        "providers.claude.accounts.work.env": (
            Does.SENDS,
            "sets for claude, which may send its work elsewhere: C=3",
        ),
        "providers.mine.kind": (Does.RUNS, "adds the agent mine, which speaks: acp"),
        "providers.mine.command": (Does.RUNS, "starts as the agent mine: mine --acp"),
        "providers.mine.keyNames": (Does.SENDS, "gives mine your keys: KEY"),
        "pipelines.ship.nodes.one.verify": (Does.RUNS, "checks the work of ship, one with: node test"),
        "approvals": (
            Does.OPENS,
            'sets, in place of yours, what agents may do without asking: {"decision": "deny"}',
        ),
        "vision.baseUrl": (Does.SENDS, "sends pictures to: http://127.0.0.1:2"),
        "redaction.detection": (
            Does.OPENS,
            "switches off the search for secrets that nobody told hub, detection: false",
        ),
    }


def test_without_a_word_the_rest_is_read() -> None:
    """What is left validates, and is all that runs, sends and opens nothing."""
    left = restricted(RAW)
    assert items(left) == []
    config = parse_config("")
    assert left == {
        "server": {"port": 0},
        "session": {"chain": ["claude", "mine"]},
        "providers": {"claude": {"enabled": True, "accounts": [{"label": "work", "active": True}]}},
        "pipelines": [{"name": "ship", "nodes": [{"id": "one", "provider": "claude", "task": "x"}]}],
        "vision": {"enabled": True},
        "redaction": {},
    }
    assert config.session.verify == ()
    assert restricted({"pipelines": [], "unknown": 1}) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[session]\nverify = []",
        '[providers.claude]\nprogram = ""\nbaseUrl = ""\nenv = {}\noptions = {}\nmodel = "x"\nenabled = false',
        "[redaction]\ndetection = true",
        "pipelines = []\nprofiles = []",
        '[[profiles]]\nname = "a"\ncontextHint = "b"\nskills = ["c"]',
    ],
)
def test_what_does_nothing_needs_no_word(text: str) -> None:
    assert items(parse_toml(text)) == []


def test_an_empty_list_of_rules_takes_the_user_s_own_away() -> None:
    (item,) = items({"approvals": []})
    assert item.text.endswith(": nothing")


def test_a_setting_that_nobody_classified_runs() -> None:
    """None is safe because nobody thought of it."""
    (item,) = items({"session": {"invented": "x"}})
    assert (item.does, item.key, item.text) == (Does.RUNS, "session.invented", "sets: x")
    assert restricted({"session": {"invented": "x"}}) == {"session": {}}


def test_a_value_cannot_push_its_end_out_of_sight() -> None:
    text = f"make test{' ' * 5000}; evil\nsecond" + "x" * 3000
    (item,) = items({"session": {"verify": [text]}})
    assert item.text.startswith("checks the work with: make test [5000 blanks] ; evil [new line] second")
    assert item.text.endswith(" characters more]")
    assert len(item.text) < 1200


def test_nothing_of_a_value_or_a_name_is_hidden_by_what_a_terminal_acts_on() -> None:
    """A terminal shows nothing of what stands behind an open escape sequence; a shell runs it."""
    node = {"id": "a\x1b]0;", "verify": ["true;\x1b]0; evil\r\u2028\u202e"]}
    (item,) = items({"pipelines": [{"name": "p\nq", "nodes": [node]}]})
    assert item.text == (
        "checks the work of p[U+000A]q, a[U+001B]]0; with: true;[U+001B]]0; evil[U+000D][U+2028][U+202E]"
    )
    assert "\n" not in item.key


def test_two_of_one_name_are_one_item_of_both() -> None:
    """A second node of the same id hid the first one's command from the digest."""

    def tables(first: str) -> dict[str, Any]:
        nodes = [{"id": "a", "verify": [first]}, {"id": "a", "verify": ["same"]}]
        return {"pipelines": [{"name": "p", "nodes": nodes}]}

    assert digests(items(tables("one"))) != digests(items(tables("two")))
    assert agreed(items(tables("one")), digests(items(tables("one"))))


def test_an_element_without_a_name_is_known_by_its_place() -> None:
    (item,) = items({"providers": {"x": {"accounts": [{"env": {"A": "1"}}]}}})
    assert item.key == "providers.x.accounts.0.env"


def test_a_word_covers_just_the_set() -> None:
    found = items(RAW)
    known = digests(found)
    assert agreed(found, known)
    assert agreed([], {})
    assert not agreed(found, {})
    assert not agreed(found[1:], known), "a setting that is gone may have been a guard"
    assert gone(found[1:], known) == [found[0].key]
    changed = attrs.evolve(found[0], digest="0")
    assert not agreed([changed, *found[1:]], known)


def test_a_file_that_is_gone_runs_nothing() -> None:
    """A checkout of another branch does not ask for less."""
    hook = Item(Does.RUNS, "file:.mcp.json", "x", "1")
    assert agreed([], digests([hook]))
    assert agreed([hook], digests([hook]))
    assert not agreed([attrs.evolve(hook, digest="2")], digests([hook]))


def test_a_change_through_hub_is_followed_alone() -> None:
    """The user sets a base URL while the file holds a command that he has not agreed to."""
    before = {"session": {"verify": ["evil"]}, "providers": {"x": {"program": "p", "baseUrl": "a"}}}
    after = {"session": {"verify": ["evil"]}, "providers": {"x": {"baseUrl": "b"}}}
    known = digests(items({"providers": {"x": {"program": "p", "baseUrl": "a"}}}))
    assert followed(known, before, after) == digests(items({"providers": {"x": {"baseUrl": "b"}}}))
    assert followed({"file:x": "1"}, {}, after)["file:x"] == "1"


def test_keys_are_named_and_not_shown() -> None:
    (item,) = keys({"B": "secret", "A": "x"})
    assert (item.key, item.does) == (KEYS, Does.SENDS)
    assert item.text.endswith(": A, B")
    assert item.digest == digest({"A": "x", "B": "secret"})
    assert keys({}) == []


def named(text: str) -> list[str]:
    return [problem.where for problem in misplaced(parse_toml(text), "/home/me", "/state/accounts")]


def test_what_is_the_user_s_alone() -> None:
    assert named('[server]\nport = 1\nhost = "x"\ntoken = "t"\nsocket = "s"\nallowed_origins = []') == [
        "server.host",
        "server.token",
        "server.socket",
        "server.allowed_origins",
    ]
    assert named('[terminal]\ncommand = "x"') == ["terminal.command"]
    assert named('[providers.claude]\nquotaEndpoint = false\nquotaUrl = ""') == [
        "providers.claude.quotaEndpoint",
        "providers.claude.quotaUrl",
    ]


@pytest.mark.parametrize(
    ("folder", "fits"),
    [
        ("", True),
        ("/state/accounts/claude/work", True),
        ("/state/accounts/claude/../../x", False),
        ("/state/accounts", False),
        ("/state/accounts-of-mine/x", False),
        ("/home/me/.claude", False),
        ("~/.claude", False),
        ("~/../../state/accounts/x", False),
    ],
)
def test_a_login_s_directory_in_hub_toml_is_one_that_hub_made(folder: str, fits: bool) -> None:
    text = f'[[providers.claude.accounts]]\nlabel = "a"\nconfigDir = "{folder}"'
    assert (named(text) == []) is fits
    assert [item.does for item in items(parse_toml(text))] == ([Does.OPENS] if folder else [])


@pytest.mark.parametrize("folder", ["~/state/accounts/claude/work", "/home/me/state/accounts/claude/work"])
def test_a_login_s_directory_may_be_told_from_home(folder: str) -> None:
    text = f'[[providers.claude.accounts]]\nlabel = "a"\nconfigDir = "{folder}"'
    assert list(misplaced(parse_toml(text), "/home/me", "/home/me/state/accounts")) == []
    assert len(list(misplaced(parse_toml(text), "/home/you", "/home/us/state/accounts"))) == 1
