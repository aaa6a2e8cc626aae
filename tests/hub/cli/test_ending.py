"""Every end of a command: what, why, the next step, and never a traceback that nobody asked for."""

import errno
import json
import os
import subprocess
import sys
import time

import click
import pytest

from hub.cli import group
from hub.cli.ending import cause_of, coded, ended_by
from hub.domain.missing import no_such
from hub.errors import RULES, Code, HubError
from tests.hub.cli.command import environ
from tests.hub.io.git.kit import make_repo


class BoomError(RuntimeError):
    """A mistake of ours."""


def test_a_mistake_of_ours_shows_no_traceback(capsys, monkeypatch):
    """The code is `internal`, and the hint says how to see more."""
    monkeypatch.delenv("HUB_DEBUG", raising=False)
    assert ended_by(BoomError("7 of 9"), as_json=False) == 1
    told = capsys.readouterr()
    assert told.err.splitlines()[0] == "hub: BoomError: 7 of 9"
    assert "HUB_DEBUG=1" in told.err
    assert "Traceback" not in told.err


@pytest.mark.parametrize("error", [MemoryError(), OSError(errno.ENOMEM, "Cannot allocate memory")])
def test_too_little_memory_is_no_mistake_of_ours(error):
    """Below `ulimit -v` it was "MemoryError", to be reported."""
    told = coded(error)
    assert (told.code, told.detail) == (Code.UNAVAILABLE, "There is not enough memory.")
    assert "ulimit -v" in told.hint


def test_a_person_reads_times_of_the_place_and_a_program_the_text_as_it_is(capsys, monkeypatch):
    """`until 2026-11-27 11:34:38 UTC`, where all else on the terminal was local."""
    error = HubError(Code.QUOTA_EXHAUSTED, "Nobody is free until 2026-11-27 11:34:38 UTC.")
    ended_by(error, as_json=True)
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    ended_by(error, as_json=False)
    told = capsys.readouterr()
    assert json.loads(told.out)["error"]["detail"] == error.detail
    assert told.err.splitlines()[0] == "hub: Nobody is free until 2026-11-27 12:34 CET."


def test_debugging_shows_it(capsys, monkeypatch):
    """HUB_DEBUG=1 gives the traceback besides."""
    monkeypatch.setenv("HUB_DEBUG", "1")
    assert ended_by(BoomError("seen"), as_json=True) == 1
    told = capsys.readouterr()
    assert "test_ending.BoomError: seen" in told.err
    assert json.loads(told.out)["error"]["code"] == "internal"


def test_whatever_a_command_raises_is_told(monkeypatch, capsys):
    """The edge holds for the real entry: a command that fails in any way ends coded."""

    def broken(*_, **__):
        raise BaseExceptionGroup("several", [BoomError("first"), KeyboardInterrupt()])

    monkeypatch.setattr(group.cli, "main", broken)
    assert group.run(["status", "--json"]) == 130
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "interrupted"


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (HubError(Code.PORT_IN_USE), Code.PORT_IN_USE),
        (KeyboardInterrupt(), Code.INTERRUPTED),
        (click.Abort(), Code.INTERRUPTED),
        (click.UsageError("no"), Code.USAGE),
        (click.FileError("x", "gone"), Code.USAGE),
        (OSError(5, "Input/output error"), Code.INTERNAL),
        (ModuleNotFoundError("No module named 'quart_trio'"), Code.INSTALL_BROKEN),
    ],
)
def test_every_error_is_one_of_the_list(error, code):
    """The closed list is closed for the command line too."""
    assert coded(error).code is code


def test_the_cause_of_a_group_is_what_a_user_understands():
    """A coded error first, then a reader that left, then Ctrl-C, else the first leaf; however deep."""
    known, left, stop, other = HubError(Code.NO_SPACE), BrokenPipeError(), KeyboardInterrupt(), BoomError()

    def nest(*errors):
        return BaseExceptionGroup("outer", [other, BaseExceptionGroup("inner", list(errors))])

    assert cause_of(nest(stop, left, known)) is known
    assert cause_of(nest(stop, left)) is left
    assert cause_of(nest(stop)) is stop
    assert cause_of(nest(BoomError())) is other
    assert cause_of(known) is known


@pytest.mark.parametrize("code", list(Code))
def test_every_code_ends_with_a_documented_status(code, capsys):
    """The exit statuses are a closed table; every error but an interruption has a next step."""
    assert ended_by(HubError(code), as_json=False) in {1, 2, 3, 4, 5, 6, 69, 74, 75, 76, 130}
    said = capsys.readouterr().err.splitlines()
    assert len(said) == (1 if code is Code.INTERRUPTED else 2)
    assert RULES[code].title in said[0]


def test_a_reader_that_leaves_is_no_error(tmp_path):
    """`hub ... | head`: status 0 and not a word on stderr, also from the interpreter's last flush."""
    code = (
        "import sys, click\n"
        "from hub.cli import group\n"
        "from hub.cli.commands import status\n"
        "@click.command()\n"
        "def status_():\n"
        "    for n in range(100000): click.echo('x' * 100)\n"
        "status.status = status_\n"
        "sys.exit(group.run(['status']))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code], env=environ(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert child.stdout.readline() == b"x" * 100 + b"\n"
    child.stdout.close()
    with child.stderr as errors:
        assert errors.read() == b""
    assert child.wait(timeout=60) == 0


@pytest.mark.parametrize("more", [(), ("--json",)])
@pytest.mark.parametrize("words", [("doctor",), ("audit", "verify")])
def test_what_a_command_found_is_its_status_whoever_has_left(tmp_path, words, more):
    """`hub run x | true` was 0 for a session that had failed: the reader had left before its last lines."""
    root = make_repo(tmp_path / "project")
    (root / ".hub" / "audit.jsonl").write_text("{}\n")
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        line = [sys.executable, "-m", "hub", "-C", str(root), *words, *more]
        done = subprocess.run(line, env=environ(tmp_path), stdout=nobody, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (1, b""), done


def test_an_output_that_was_closed_before_the_start_is_read_by_nobody(tmp_path):
    """Python has no stream for it, and the first file that is opened would take its number."""
    line = ["sh", "-c", 'exec "$@" >&-', "sh", sys.executable, "-m", "hub", "help", "exit-codes"]
    done = subprocess.run(
        line, env=environ(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize(("encoding", "told"), [("latin-1", "caf\xe9 \\u2013"), ("utf-8", "caf\xe9 \u2013")])
def test_a_letter_that_the_terminal_has_not_is_told_by_its_number(tmp_path, encoding, told):
    """In a locale such as `de_DE.ISO-8859-1` a dash of an agent's ended `hub logs`."""
    make_repo(tmp_path / "repo")
    (tmp_path / "repo" / "hub.toml").write_text('[session]\nverify = ["echo caf\xe9 \u2013"]\n', "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "hub", "config", "get", "session.verify"],
        env=environ(tmp_path, PYTHONIOENCODING=encoding), cwd=tmp_path / "repo", capture_output=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b"")
    assert told in done.stdout.decode(encoding)


def test_a_name_that_is_none_is_told_the_one_that_was_meant():
    """`--provider claud` was answered with a list of nine."""
    error = no_such("provider", "claud", ["claude", "codex"])
    assert (error.detail, error.hint) == (
        "There is no provider 'claud'.",
        "Did you mean 'claude'? Known: claude, codex.",
    )
    assert no_such("profile", "quick", [], hint="Describe it.").hint == "Describe it."


def test_a_field_that_names_nothing_is_told_by_its_path():
    """The contract: what does not validate is listed with its JSON path, also where only an actor can know it."""
    error = no_such("profile", "quick", ["slow"], code=Code.INVALID)
    assert error.problem()["errors"] == [{"path": "$.profile", "message": "There is no profile 'quick'."}]


def test_ctrl_c_before_the_command_is_read_shows_no_traceback():
    """On a busy machine the imports take a second, and whoever mistyped presses it at once."""
    early = (
        "import sys\n"
        "class Pressed:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'hub.cli.group': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Pressed())\n"
        "from hub.cli.main import main\n"
        "main(['ls'])\n"
    )
    done = subprocess.run([sys.executable, "-c", early], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_what_click_says_in_lines_is_one_sentence():
    """`hub completion` listed its four choices with tabs, a line each."""
    asked = click.Argument(["shell"], type=click.Choice(["bash", "zsh"]))
    wrong = coded(click.MissingParameter(param=asked, param_type="argument"))
    assert wrong.detail.endswith("Choose from: bash, zsh")
