"""A command line is cut as a shell cuts it, without being run; what is in doubt is taken both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.permission.commandforms import forms, named
from hub.domain.permission.commandline import Command, commands
from hub.domain.permission.reach import searched


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", []),
        ("a b", [("a", "b")]),
        ("a 'b c' \"d\"e", [("a", "b c", "de"), ("b", "c")]),
        ("a;b&&c||d|e&f\ng", [(letter,) for letter in "abcdefg"]),
        ("X=1 a", [("a",)]),
        ("X=$(a)", [("X=$",), ("a",)]),
        ("a >x 2>&1 2>y <z", [("a",)]),
        ("> x", [()]),
        ("if a; then b; fi", [("a",), ("b",), ("fi",)]),
        ("a 'b", [("a", "b")]),
        ("sh -c 'a; b'", [("sh", "-c", "a; b"), ("a",), ("b",)]),
    ],
)
def test_a_line_is_cut_into_its_commands(line, words):
    assert [command.words for command in commands(line)] == words


def test_a_redirection_names_files():
    assert commands("a <b >>c &>d")[0] == Command(("a",), ("b", "c", "d"), ("",))
    assert commands("> x")[0].program == ""
    assert commands("/usr/bin/a")[0].program == "a"


def test_where_a_command_runs_is_known_as_far_as_it_is_written():
    assert commands("cd a && cd b && c")[-1].folders == ("", "a", "b", "a/b")
    assert commands("cd && c")[-1].folders == ("", "~")
    assert commands("git -C a c")[0].folders == ("", "a")
    assert commands("make --directory=a c --b=d")[0].folders == ("", "a")


def test_a_program_that_runs_another_may_run_each_of_its_words():
    assert set(forms("sudo -n /bin/a b")) >= {"sudo -n /bin/a b", "/bin/a b", "a b", "b"}
    assert forms("echo a b") == ["echo a b"]
    assert forms("> x") == []


def test_a_word_may_name_a_file_behind_a_sign():
    assert named("a --b=c d@e:f") == [
        ("", "a"),
        ("", "--b=c"),
        ("", "c"),
        ("", "d@e:f"),
        ("", "e:f"),
        ("", "f"),
    ]


def test_a_search_without_a_folder_is_one_where_it_runs():
    assert searched("rg a") == [("", ".")]
    assert searched("rg a b -n c") == [("", "b"), ("", "c")]
    assert searched("grep a b") == []


def test_a_line_within_itself_is_not_read_for_ever():
    line = "a"
    for _ in range(12):
        line = f"sh -c '{line} b'"
    assert commands(line)


@given(st.text(alphabet="ab ;&|()<>'\"`\\\n$={}!-*", max_size=60))
def test_nothing_that_is_written_breaks_it(line):
    for command in commands(line):
        assert all(isinstance(word, str) for word in (*command.words, *command.files))
    assert len(forms(line)) <= 500
    assert named(line) is not None


def test_a_line_that_nobody_wrote_is_not_read_to_its_end():
    assert len(commands("a " * 10_000)[0].words) == 2_000
