"""`hub usage`: every session of this machine, for people and for programs, as a process of its own."""

import json
import os
import shutil

import click
import pytest

from hub.cli.commands.usage import listed
from hub.io.files import seal
from hub.io.files.sealed import name_of
from hub.io.project.places import load_or_create_key
from tests.hub.cli.command import environ, hub
from tests.hub.providers.claude.summed import answer
from tests.hub.providers.stores import home_of


@pytest.fixture
def used(tmp_path):
    """What is told of this home directory, with no project around."""

    def run(home, *args, **env):
        done = hub("usage", *args, cwd=tmp_path, env=environ(tmp_path, HOME=str(home), **env))
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def written(home, *parts, lines):
    path = home.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\n".join(lines) + b"\n")


def test_every_answer_counts_once_wherever_it_stands(used, tmp_path):
    """ccusage's sum: files of subagents and of the months below `.config` count; a copy in a forked session does not."""
    home = tmp_path / "home"
    first, second, third = (answer(name, "r", 10, "", "assistant") for name in ("m1", "m2", "m3"))
    written(home, ".claude", "projects", "-a", "s1.jsonl", lines=[first, first])
    written(home, ".claude", "projects", "-b", "s2.jsonl", lines=[first, second])
    written(home, ".claude", "projects", "-b", "s2", "subagents", "agent-1.jsonl", lines=[third])
    written(
        home, ".config", "claude", "projects", "-c", "s3.jsonl", lines=[answer("m4", "r", 1, "", "assistant")]
    )
    found = json.loads(used(home, "--json", XDG_CONFIG_HOME=""))
    assert found["gaps"] == []
    assert found["usage"] == [
        {
            "provider": "claude", "model": "model-2", "tokensIn": 4 * 8, "tokensOut": 31, "cachedIn": 20,
            "cacheWriteIn": 0, "exact": True,
        }
    ]  # fmt: skip
    moved = json.loads(used(home, "--json", CLAUDE_CONFIG_DIR=str(home / ".config" / "claude")))
    assert [row["tokensOut"] for row in moved["usage"]] == [1]


def test_a_model_that_is_none_is_not_listed(used, tmp_path):
    """Claude Code writes its own words down as an answer of `<synthetic>`, without a token: a row of zeros was told."""
    own = json.loads(answer("m1", "r", 0, "", "assistant"))
    own["message"] |= {"model": "<synthetic>", "usage": {"input_tokens": 0, "output_tokens": 0}}
    said = json.dumps(own, separators=(",", ":")).encode()
    written(
        tmp_path / "home", ".claude", "projects", "-a", "s.jsonl",
        lines=[said, answer("m2", "r", 1, "", "assistant")],
    )  # fmt: skip
    assert [row["model"] for row in json.loads(used(tmp_path / "home", "--json"))["usage"]] == ["model-2"]


def test_other_agents_sum_themselves_up(used, tmp_path):
    home = home_of("codex", "rich", tmp_path)
    row = json.loads(used(home, "--json"))["usage"][0]
    assert (row["provider"], row["cachedIn"], row["exact"]) == ("codex", None, True)
    assert row["tokensIn"] > row["tokensOut"] > 0


def nameless(out):
    """An answer that counts wherever it stands: nothing but its file tells a copy."""
    return answer("", "r", out, "", "assistant")


def test_sessions_of_accounts_count_wherever_an_account_is_named(used, tmp_path):
    """They were left out: an account's own folder is no place that the environment tells of."""
    home = tmp_path / "home"
    (tmp_path / ".git").mkdir()
    written(home, ".claude", "projects", "-a", "s.jsonl", lines=[nameless(1)])
    written(home, "work", "projects", "-a", "s.jsonl", lines=[nameless(20)])
    written(tmp_path, "book", "projects", "-a", "s.jsonl", lines=[nameless(300)])
    written(
        tmp_path, "state", "accounts", "claude", "mine", "projects", "-a", "s.jsonl", lines=[nameless(4000)]
    )
    written(
        tmp_path / "config",
        "config.toml",
        lines=[b"[[providers.claude.accounts]]", b'label = "w"\nconfigDir = "~/work"'],
    )
    book = f'[[claude.accounts]]\nlabel = "b"\nconfigDir = "{tmp_path}/book"'
    (tmp_path / ".hub").mkdir()
    accounts = tmp_path / ".hub" / "accounts.toml"
    accounts.write_bytes(
        seal.closed(load_or_create_key("seal", tmp_path / "state"), name_of(accounts), book.encode())
    )
    found = json.loads(used(home, "--json", CLAUDE_CONFIG_DIR="", XDG_CONFIG_HOME=""))
    assert ([row["tokensOut"] for row in found["usage"]], found["gaps"]) == ([4321], [])
    env = environ(tmp_path, HOME=str(home), CLAUDE_CONFIG_DIR="", XDG_CONFIG_HOME="")
    assert "4,321" in hub("--project", str(tmp_path), "usage", cwd=home, env=env).stdout
    (tmp_path / ".git").rmdir()
    assert "4,021" in hub("usage", cwd=home, env=env).stdout


@pytest.mark.parametrize("trusted", ["", "1"])
def test_a_folder_that_a_clone_names_is_not_opened(used, tmp_path, trusted):
    """A login's folder is nobody's but the user's, whether the project is trusted or not."""
    home = tmp_path / "home"
    (tmp_path / ".git").mkdir()
    written(home, ".claude", "projects", "-a", "s.jsonl", lines=[nameless(1)])
    written(tmp_path, "theirs", "projects", "-a", "s.jsonl", lines=[nameless(20)])
    env = {"CLAUDE_CONFIG_DIR": "", "XDG_CONFIG_HOME": "", "HUB_TRUST": trusted}
    account = f'[[providers.claude.accounts]]\nlabel = "x"\nconfigDir = "{tmp_path}/theirs"'
    written(tmp_path, "hub.toml", lines=[account.encode()])
    found = json.loads(used(home, "--json", **env))
    assert [row["tokensOut"] for row in found["usage"]] == [1]
    (gap,) = found["gaps"]
    assert "read from your own configuration alone" in gap


def test_a_file_that_two_paths_lead_to_counts_once(used, tmp_path):
    """An account's folder may be a link to the user's own, or share its sessions with it."""
    home = home_of("codex", "rich", tmp_path)
    alone = json.loads(used(home, "--json", CLAUDE_CONFIG_DIR="", CODEX_HOME=""))["usage"]
    written(home, ".claude", "projects", "-a", "s.jsonl", lines=[nameless(7)])
    (home / "link").symlink_to(home / ".claude")
    shutil.copytree(home / ".codex", home / "same", copy_function=os.link)
    shutil.copytree(home / ".codex", home / "other")
    accounts = {"claude": ("link", ".claude"), "codex": ("same", "other")}
    tables = [
        f'[[providers.{name}.accounts]]\nlabel = "{each}"\nconfigDir = "{home}/{each}"'.encode()
        for name, folders in accounts.items()
        for each in folders
    ]
    (tmp_path / ".git").mkdir()
    written(tmp_path / "config", "config.toml", lines=tables)
    found = json.loads(used(home, "--json", CLAUDE_CONFIG_DIR="", CODEX_HOME=""))["usage"]
    assert [row["tokensOut"] for row in found] == [7, 2 * alone[0]["tokensOut"]]


def test_settings_that_cannot_be_read_are_a_gap_and_no_end(used, tmp_path):
    """Whoever wants his tokens counted needs no project, and no whole one either."""
    home = tmp_path / "home"
    (tmp_path / ".git").mkdir()
    written(tmp_path, "hub.toml", lines=[b"[[providers.claude.accounts]"])
    written(home, ".claude", "projects", "-a", "s.jsonl", lines=[nameless(7)])
    found = json.loads(used(home, "--json", CLAUDE_CONFIG_DIR=""))
    assert [row["tokensOut"] for row in found["usage"]] == [7]
    (gap,) = found["gaps"]
    assert gap.startswith("Accounts are not known")
    assert "hub.toml:1:" in gap


def test_what_is_missing_and_what_is_damaged_is_said(used, tmp_path):
    """A model's name is an agent's word: no escape sequence and no secret of it is shown."""
    home = tmp_path / "home"
    torn, key = answer("m1", "r", 10, "", "assistant")[:-30], "sk-ant-api03-" + "Ab1" * 31 + "-AAAAAA"
    strange = answer("m2", "r", 10, "", "assistant").replace(b"model-2", b"\\u001b[31m" + key.encode())
    written(home, ".claude", "projects", "-a", "s1.jsonl", lines=[torn, strange])
    told = used(home)
    assert "may be missing: 1 record of claude could not be read." in told
    assert told.splitlines()[1].split()[-7:] == ["at", "least", "8", "5", "at", "least", "10"]
    assert "\x1b" not in told
    assert key not in told
    assert used(tmp_path / "nobody") == "no session on this machine tells of tokens\n"


def test_only_sessions_of_the_time_asked_for(used, tmp_path):
    written(
        tmp_path / "home",
        ".claude",
        "projects",
        "-a",
        "s1.jsonl",
        lines=[answer("m1", "r", 1, "", "assistant")],
    )
    assert json.loads(used(tmp_path / "home", "--json", "--since-hours", "0"))["usage"] == []


def test_a_model_nobody_told_has_a_line():
    row = {"provider": "pi", "model": "", "tokensIn": 1200, "tokensOut": 3, "cachedIn": None, "exact": True}
    heading, line = click.unstyle(listed({"usage": [row], "gaps": []})).splitlines()
    assert heading.split() == ["AGENT", "MODEL", "TOKENS", "IN", "TOKENS", "OUT"]
    assert line.split() == ["pi", "not", "told", "1,200", "3"]
