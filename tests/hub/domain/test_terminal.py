"""Which terminal is tried when, and a script in which every value is only a value."""

import shlex
import subprocess

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.domain.terminal import TerminalCommand, openers, script, supports_ansi

WORDS = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0\r\n"), max_size=20)


def first(configured=(), platform="linux", **environ):
    return next(iter(openers(configured, environ, platform)), None)


def test_the_users_choice_comes_first():
    """The order: `terminal.command`, `$TERMINAL`, tmux, the platform's usual ones."""
    everything = {"TERMINAL": "foot", "TMUX": "/tmp/s,1,0", "DISPLAY": ":0"}
    assert list(openers(["alacritty", "-e"], everything, "linux")) == [("alacritty", "-e")]
    assert [opener[0] for opener in openers((), everything, "linux")][:3] == [
        "foot",
        "tmux",
        "x-terminal-emulator",
    ]


def test_a_terminal_variable_with_arguments_is_taken_as_it_is():
    assert first(TERMINAL="foot") == ("foot", "-e")
    assert first(TERMINAL="wezterm start --") == ("wezterm", "start", "--")
    assert first(TERMINAL="'broken") is None


@pytest.mark.parametrize(
    ("kind", "does"),
    [({}, False), ({"TERM": "dumb"}, False), ({"TERM": "unknown"}, False), ({"TERM": "xterm"}, True)],
)
def test_which_terminal_obeys_control_sequences(kind, does):
    """Without `TERM` nothing is known of it: it was given colours."""
    assert supports_ansi(kind) is does


def test_what_there_is_without_a_choice():
    assert first(TMUX="/tmp/s,1,0") == ("tmux", "new-window")
    assert first(DISPLAY=":0") == first(WAYLAND_DISPLAY="w") == ("x-terminal-emulator", "-e")
    assert first(platform="darwin") == ("open", "-a", "Terminal")
    assert first() is None, "a headless machine has none"


def test_what_a_person_types():
    command = TerminalCommand(("claude", "auth", "login"), {"CLAUDE_CONFIG_DIR": "/a b"})
    assert command.text() == "CLAUDE_CONFIG_DIR='/a b' claude auth login"


@pytest.mark.parametrize("bad", ["a\nb", "a\0b", "a\rb"])
def test_a_line_break_is_never_written_into_a_script(bad):
    for attempt in (lambda: TerminalCommand((bad,)), lambda: TerminalCommand(("x",), {"A": bad})):
        with pytest.raises(ValueError, match="line break"):
            attempt()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(WORDS, min_size=1, max_size=3), WORDS, st.booleans())
def test_a_value_stays_a_value_in_a_real_shell(tmp_path, words, value, keep):
    """Security row 14: quotes, $( ), ; and blanks in a path or label run nothing."""
    command = TerminalCommand(("printf", "%s\\n", *words, "--", value), {"A_DIR": value})
    seen = script(command, str(tmp_path), keep=keep).replace(
        'exit "$code"', 'printf "%s" "$A_DIR" > "$folder/env"'
    )
    done = subprocess.run(["/bin/sh", "-c", seen], input=b"\n", capture_output=True, check=True)
    printed = "\n".join([*words, "--", value])
    assert printed.encode() in done.stdout
    assert (tmp_path / "env").read_text() == value
    assert (tmp_path / "status").read_text() == "0\n"


@pytest.mark.parametrize("keep", [True, False])
def test_the_status_is_the_commands_own(tmp_path, keep):
    text = script(TerminalCommand(("sh", "-c", "echo seen; exit 7")), str(tmp_path), keep=keep)
    done = subprocess.run(["/bin/sh", "-c", text], input=b"\n", capture_output=True, check=False)
    assert done.returncode == 7
    assert (tmp_path / "status").read_text() == "7\n"
    assert (tmp_path / "output").exists() == keep
    assert b"It ended with status 7." in done.stdout
    assert shlex.quote("$ sh -c 'echo seen; exit 7'") in text


def test_a_command_runs_where_it_is_told_to(tmp_path):
    """Decisions 9: an interactive adoption works in the agent's own directory."""
    place = tmp_path / "a b's"
    place.mkdir()
    command = TerminalCommand(("pwd",), {"A": "b"}, str(place))
    assert command.text() == f"cd {shlex.quote(str(place))} && A=b pwd"
    done = subprocess.run(
        ["sh", "-c", script(command, str(tmp_path), keep=False)],
        check=True,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.stdout.splitlines()[1] == str(place)
    assert (tmp_path / "status").read_text() == "0\n"
