"""The contract of all commands: each is lazy, each helps, each speaks JSON, and short ones import little."""

import json
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import hub as package
from hub.cli.group import COMMANDS, SECTIONS, cli, run, wanted_colour
from tests.hub.cli.command import ROOT, environ, hub

HEAVY = {"trio", "quart", "hypercorn", "rich", "msgspec", "tomlkit", "hub.app", "hub.daemon", "textual"}


def leaves(group=cli, path=()):
    """Every command that does something, with its path."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if isinstance(command, click.Group):
            yield from leaves(command, (*path, name))
        else:
            yield (*path, name), command


ALL = dict(leaves())


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_helps_with_an_example(path):
    """What a command is for is seen fastest from one line that can be copied."""
    said = CliRunner().invoke(cli, [*path, "--help"])
    assert said.exit_code == 0
    assert f"Example: hub {' '.join(path)}" in said.output
    example = next(line for line in ALL[path].help.splitlines() if "Example:" in line)
    assert f"  {example.strip()}\n" in said.output, "broken in two it cannot be copied"


GROUPS = [(), *sorted({path[:-1] for path in ALL if len(path) > 1})]


@pytest.mark.parametrize("path", GROUPS, ids=lambda path: " ".join(path) or "hub")
def test_a_group_tells_each_command_in_a_whole_sentence_and_has_an_example(path):
    """click cut the sentences off: `Make an account the active one: the next session or handoff...`."""
    said = CliRunner().invoke(cli, [*path, "--help"]).output
    assert "..." not in said.partition("Options:")[2]
    assert "Example: hub " in said


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_every_command_has_json(path):
    """A program can use every command: the same flag everywhere."""
    assert any("--json" in option.opts for option in ALL[path].params)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says(name):
    """The line in the lazy list begins like the command's own help: the list cannot go stale."""
    own = cli.get_command(None, name).get_short_help_str(limit=200)
    assert own.split()[0].rstrip(":.,;") == COMMANDS[name][1].split()[0].rstrip(":.,;")


def test_the_list_is_in_sections_and_a_command_a_line():
    """Forty-seven commands under one heading: nobody found the one he wanted."""
    said = CliRunner().invoke(cli, ["--help"], terminal_width=80).output
    sections = said.partition("Options:")[2]
    for title, commands in SECTIONS.items():
        lines = sections.partition(f"\n{title}:\n")[2].partition("\n\n")[0].splitlines()
        assert [line.split()[0] for line in lines] == list(commands)


def test_the_help_has_no_mark_of_its_maker():
    """click's `\\b` was shown to the user: in a raw docstring it is two letters."""
    for path in ((), *ALL):
        assert "\\" not in CliRunner().invoke(cli, [*path, "--help"]).output


def test_the_list_of_commands_imports_none_of_them():
    """--help must not pay for what it only names."""
    loaded = modules_after("--help")
    assert not loaded & HEAVY
    assert not {f"hub.cli.commands.{name}" for name, _ in COMMANDS.values()} & loaded


def test_version_imports_nothing_at_all():
    """--version is what scripts and editors ask; it costs the interpreter and no more."""
    loaded = modules_after("--version")
    assert not loaded & (HEAVY | {"click", "hub.errors", "json"})


@pytest.mark.parametrize(
    "path", [("status", "--json"), ("logs",), ("diff",), ("history",), ("pause",), ("stop",)]
)
def test_short_commands_import_no_event_loop_and_no_web_stack(path):
    """A command that asks one question pays for click and one HTTP request. As structure: no clock is read."""
    assert not modules_after(*path) & HEAVY


def test_no_help_imports_a_daemon():
    """`hub detect --help` took a second: to find the project's daemon it imported all of one."""
    code = (
        "import sys\n"
        "from click.testing import CliRunner\n"
        "from hub.cli.group import cli\n"
        "for name in cli.list_commands(None): assert CliRunner().invoke(cli, [name, '--help']).exit_code == 0\n"
        "print(' '.join(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & (HEAVY - {"msgspec", "trio"}), (
        "of these `init` and `doctor` do more"
    )


def modules_after(*args, cwd=ROOT, **environment):
    """What is loaded when a command has run to its end."""
    code = (
        "import sys, io, contextlib\n"
        "from hub.cli.main import main\n"
        "with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.suppress(SystemExit): main(sys.argv[1:])\n"
        "print(' '.join(sys.modules))"
    )
    # `-I` would hide the checkout; port 1 is never hub's, so short commands end after their one request.
    env = environ(cwd.parent, **{"HUB_PORT": "1", **environment})
    done = subprocess.run(
        [sys.executable, "-c", code, *args], env=env, cwd=cwd, capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_version_is_the_package_version(tmp_path):
    """Both ways to ask give the same answer."""
    assert hub("--version", cwd=tmp_path).stdout == f"hub {package.__version__}\n"
    assert CliRunner().invoke(cli, ["--version"]).output == f"hub {package.__version__}\n"


def test_a_group_alone_shows_its_help(capsys):
    """No command is no mistake."""
    assert run(["audit"]) == 0
    assert "Options:\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["nosuch"], "nosuch"),
        (["statsu"], "Did you mean 'status'?"),
        (["account", "lst"], "Did you mean 'list'?"),
        (["-C", "/no/such/folder", "status"], "'/no/such/folder' does not exist"),
        (["audit", "verify", "--expect", "x"], "'x' is not <seq>:<hash>"),
        (["rewind", "HEAD"], "hub history --commits"),
        (["status", "--nosuch"], "--nosuch"),
        (["run"], "TASK"),
        (["--port", "70000", "status"], "70000"),
        (["run", "--on-limit", "panic", "x"], "panic"),
        (["run", "   "], "empty"),
    ],
)
def test_what_is_not_understood_is_2_and_says_where_to_look(arguments, says, capsys):
    """Usage errors: exit 2, the word that was wrong, and --help."""
    assert run(arguments) == 2
    told = capsys.readouterr()
    assert not told.out
    assert says in told.err
    assert "hub" in told.err.splitlines()[-1]


def test_errors_are_json_when_json_is_asked_for(capsys):
    """gh's habit: one document on stdout in every case, and the same exit status."""
    assert run(["status", "--json", "--nosuch"]) == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert error["code"] == "usage"
    assert error["hint"] == "See: hub status --help"


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({"TERM": "xterm"}, None),
        ({}, False),
        ({"NO_COLOR": "1"}, False),
        ({"NO_COLOR": "", "TERM": "xterm"}, None),
        ({"CLICOLOR": "0"}, False),
        ({"FORCE_COLOR": "1"}, True),
        ({"CLICOLOR_FORCE": "1"}, True),
        ({"CLICOLOR_FORCE": "0", "TERM": "xterm"}, None),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ({"TERM": "dumb"}, False),
    ],
)
def test_colours_are_the_users_choice(environ, wanted):
    """no-color.org, and the two that everybody else reads."""
    assert wanted_colour(environ) is wanted


@pytest.mark.parametrize("arguments", [["run", "--verify"], ["run", "--nope"], ["config", "set"]])
def test_a_slip_leads_to_the_help_of_its_own_command(arguments, capsys):
    """Of an option without its value it was `hub --help`."""
    assert run(arguments) == 2
    words = [word for word in arguments if not word.startswith("-")]
    assert f"See: hub {' '.join(words)} --help" in capsys.readouterr().err
