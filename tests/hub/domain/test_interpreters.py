"""What a program that runs scripts is told to run: by one-letter options alone or together, as each family reads them."""

import subprocess
import sys

import pytest

from hub.domain.interpreters import NODE, PYTHON, SHELL, line_of


@pytest.mark.parametrize(
    ("words", "script"),
    [
        ("-X utf8 -W error -B /x/aider --yes", "/x/aider --yes"),
        ("-Xtracemalloc -Wignore::UnicodeWarning /x/aider", "/x/aider"),
        ("-IW ignore /x/aider", "/x/aider"),
        ("--check-hash-based-pycs always /x/aider", "/x/aider"),
        ("-m aider --yes", "aider --yes"),
        ("-Im aider -c", "aider -c"),
        ("-maider", "aider"),
        ("-c code aider", ""),
        ("-Bc code aider", ""),
        ("-OOIccode aider", ""),
        ("- aider", ""),
        ("-B", ""),
        ("", ""),
    ],
)
def test_pythons_script_or_module_and_what_it_is_given(words, script):
    assert list(PYTHON.script(words.split())) == script.split()


@pytest.mark.parametrize(
    ("words", "script"),
    [
        ("-r hook.js --env-file .env --no-warnings /x/gemini -p hi", "/x/gemini -p hi"),
        ("-e code /x/gemini", ""),
        ("-pe code /x/gemini", ""),
        ("--print=code /x/gemini", ""),
    ],
)
def test_nodes_script(words, script):
    assert list(NODE.script(words.split())) == script.split()


@pytest.mark.parametrize(
    "options",
    [["-c"], ["-Bc"], ["-IBc"], ["-W", "ignore", "-c"], ["-Xutf8", "-Wdefault::UserWarning", "-Sc"]],
)
def test_python_itself_reads_bundles_so(options):
    """The real one runs the code: a word that is taken for its script would be an argument."""
    code = "import sys; print(sys.argv[1])"
    done = subprocess.run([sys.executable, *options, code, "x"], capture_output=True, text=True, check=True)
    assert done.stdout == "x\n"
    assert list(PYTHON.script([*options, code, "x"])) == []


@pytest.mark.parametrize("option", ["-c", "-ec", "-ce", "-euc"])
def test_a_shell_itself_reads_bundles_so(option):
    assert subprocess.run(["sh", option, "echo x"], capture_output=True, check=True).stdout == b"x\n"
    assert line_of(["/bin/sh", option, "echo x"]) == "echo x"


@pytest.mark.parametrize(
    "words",
    [
        ["git", "-c", "a=b"],
        ["bash", "run.sh", "-c"],
        ["bash", "-c", "$0", "rm"],
        ["bash", "--rcfile", "f", "-c", "ls"],
        ["bash", "-x", "run.sh"],
        [],
    ],
)
def test_what_is_more_than_a_shells_line_is_none(words):
    """Each is judged as a whole: it runs more than the line says."""
    assert line_of(words) is None


@pytest.mark.parametrize("option", ["-o", "+o", "-eo", "-O", "--rcfile"])
def test_options_of_a_shell_that_a_word_follows(option):
    assert SHELL.valued.fullmatch(option)
