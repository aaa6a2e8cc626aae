"""Where a task comes from."""

import io
import sys

import pytest

from hub.cli.terminal.task import task_of
from hub.errors import Code, HubError
from tests.hub.cli.command import hub


def refused(*words):
    with pytest.raises(HubError) as error:
        task_of(*words)
    return error.value


def test_words_a_file_and_standard_input(tmp_path, monkeypatch):
    assert task_of(" do it ", "") == "do it"
    (tmp_path / "task.md").write_text("\ufeffdo\nthis\n")
    assert task_of("", str(tmp_path / "task.md")) == "do\nthis"
    for words in (("-", ""), ("", "-")):
        monkeypatch.setattr(sys, "stdin", io.StringIO("piped\n"))
        assert task_of(*words) == "piped"


def test_what_is_no_task(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert refused("x", "y").code is Code.USAGE
    assert refused(" ", "").detail == "The task is empty."
    assert refused("-", "").detail == "The task is empty."
    assert refused("", str(tmp_path / "none")).code is Code.NOT_FOUND
    (tmp_path / "bin").write_bytes(b"\xff\xfe\x00")
    assert refused("", str(tmp_path / "bin")).code is Code.USAGE
    assert refused("x" * 100_001, "").code is Code.USAGE
    assert "hub run -" in refused("", "").hint, "nobody sits at an editor"


@pytest.mark.parametrize("errors", ["strict", "surrogateescape"])
def test_a_text_that_is_no_utf8_is_refused_before_anything_is_started(tmp_path, monkeypatch, errors):
    """A daemon was started for it, which said that "the body is not JSON: half a surrogate pair"."""
    (tmp_path / "latin").write_bytes(b"caf\xe9")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9"), "utf-8", errors))
    for words in ("-", "caf\udce9"):
        error = refused(words, "")
        assert (error.code, error.detail) == (Code.USAGE, "The task is not UTF-8 text.")
    assert refused("", str(tmp_path / "latin")).detail == f"{tmp_path / 'latin'} is not UTF-8 text."


def test_before_anything_is_started(repo):
    done = hub("run", cwd=repo)
    assert (done.returncode, "There is no task." in done.stderr) == (2, True)
    assert not (repo / ".hub").exists()


@pytest.mark.parametrize("blank", ["", "  "])
def test_an_empty_acceptance_command_is_refused(repo, blank):
    """`--verify "$UNSET "` passed: the session was "done and verified"."""
    done = hub("run", "x", "--verify", blank, cwd=repo)
    assert (done.returncode, "An acceptance command is empty." in done.stderr) == (2, True)
    assert not (repo / ".hub").exists()


def test_who_types_the_task_is_told_how_to_end_it(monkeypatch, capsys):
    """`hub run -` on a terminal stood still without a word."""
    typed = io.StringIO("the docs\n")
    monkeypatch.setattr(typed, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stdin", typed)
    assert task_of("-", "") == "the docs"
    assert "Ctrl-D" in capsys.readouterr().err


def test_an_editor_that_fails_or_is_not_there_is_named_with_both_ways_out(monkeypatch):
    for stream in (sys.stdin, sys.stdout):
        monkeypatch.setattr(stream, "isatty", lambda: True)
    for editor in ("false", "no-such-editor"):
        monkeypatch.setenv("VISUAL", editor)
        error = refused("", "")
        assert (error.code, error.detail.partition(":")[0]) == (Code.PROGRAM_MISSING, editor)
        assert "EDITOR" in error.hint
        assert 'hub run "..."' in error.hint
