"""`hub completion`, as the shells themselves use it."""

import json
import shlex
import shutil
import subprocess

import click
import pytest

from hub.cli.group import COMMANDS, cli
from tests.faults.harness import project, until
from tests.hub.cli.command import environ, hub


def offered(words, cwd, env):
    """What bash is told for the last word."""
    asked = {"_HUB_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = hub(cwd=cwd, env={**env, **asked})
    assert done.returncode == 0, done.stderr
    return [line.partition(",")[2] for line in done.stdout.split()]


def test_commands_and_agents_are_completed_without_a_daemon(repo):
    env = environ(repo.parent)
    assert offered("hub acc", repo, env) == ["account"]
    assert set(offered("hub ", repo, env)) >= set(COMMANDS)
    assert "--windows" in offered("hub quota --", repo, env)
    assert offered("hub account add cl", repo, env) == ["claude"]
    assert offered("hub run --provider cl", repo, env) == ["claude"]
    assert offered("hub key set op", repo, env) == ["opencode"]
    assert offered("hub config get session.verifyT", repo, env) == [
        "session.verifyTimeout",
        "session.verifyTries",
    ]
    assert offered("hub help account ad", repo, env) == ["add"]
    assert offered("hub help ex", repo, env) == ["exit-codes"]
    assert offered("hub help exit-codes ", repo, env) == []
    assert offered("hub account switch claude ", repo, env) == ["default"]
    assert offered("hub run --file M", repo, env) == ["M"], "the shell looks for files itself"
    assert offered("hub approve ", repo, env) == []
    assert offered("hub stop ", repo, env) == [], "nobody is there to ask, and nowhere to complain"


def _parameters(command, ctx, path="hub"):
    """Every argument and option of every command, with the command's name."""
    if isinstance(command, click.Group):
        for name in command.list_commands(ctx):
            found = command.get_command(ctx, name)
            yield from _parameters(found, click.Context(found, parent=ctx), f"{path} {name}")
    for one in command.params:
        yield path, one


def test_whatever_names_what_there_is_can_be_completed():
    """A file, a folder, a session or an agent was typed out for seven of the commands."""
    named = {"FILE", "DIR", "SESSION", "PROVIDER", "ID", "LABEL", "file", "label"}
    new, slow = ("hub account add", "label"), ("hub adopt", "number")
    missing = {
        (path, one.name)
        for path, one in _parameters(cli, click.Context(cli))
        if (one.metavar or one.name or "").strip("[]") in named
        and one._custom_shell_complete is None
        and not isinstance(one.type, click.Path)
    }
    assert missing == {new, slow}, (
        "a name that is not there yet, and one for which the whole machine is looked through"
    )


def test_what_the_project_itself_names_is_completed(repo):
    """And where its settings cannot be read, what ships with hub."""
    text = (
        '[session]\nchain = ["mine", "claude"]\n[providers.mine]\nkind = "acp"\ncommand = ["true"]\n'
        '[[profiles]]\nname = "careful"\nchain = ["claude"]\n'
        '[[pipelines]]\nname = "feature"\n[[pipelines.nodes]]\nid = "spec"\nprovider = "claude"\ntask = "x"\n'
    )
    (repo / "hub.toml").write_text(text)
    env = environ(repo.parent, HUB_TRUST="1")
    assert offered("hub run --provider mi", repo, env) == ["mine"]
    assert offered("hub run --profile ", repo, env) == ["careful"]
    assert offered("hub pipeline run f", repo, env) == ["feature"]
    (repo / "hub.toml").write_text("[[[")
    assert offered("hub run --provider cl", repo, env) == ["claude"]
    assert offered("hub run --profile ", repo, env) == []
    assert offered("hub config get session.verifyTr", repo, env) == ["session.verifyTries"]


def test_sessions_are_completed_with_and_without_a_daemon(tmp_path):
    with project(tmp_path) as work:
        work.script("demo-first", {"done": "finished"})
        work.configure()
        begun = work.start().post("/api/run", {"task": "write it"})["sessionId"]
        assert offered("hub diff s-", work.root, work.environ()) == [begun]
        until(work.ended, "the session ends")
        work.kill()
        assert offered("hub take s-", work.root, work.environ()) == [begun], (
            "its work is still there to be taken"
        )


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_a_script_that_calls_hub(shell, repo):
    done = hub("completion", shell, cwd=repo)
    assert "_HUB_COMPLETE" in done.stdout
    assert (
        json.loads(hub("completion", shell, "--json", cwd=repo).stdout)["script"].strip()
        == done.stdout.strip()
    )
    program = shutil.which(shell)
    if program is not None:
        checked = subprocess.run(
            [program, "-n"], input=done.stdout, text=True, capture_output=True, check=False
        )
        assert checked.returncode == 0, checked.stderr


@pytest.mark.parametrize(
    ("shell", "place"),
    [
        ("bash", ".local/share/bash-completion/completions/hub"),
        ("zsh", ".local/share/zsh/site-functions/_hub"),
        ("fish", ".config/fish/completions/hub.fish"),
    ],
)
def test_install_writes_it_where_the_shell_looks(shell, place, repo, tmp_path):
    """A file, not a line to be evaluated at each start of the shell: that would cost 100 ms every time."""
    tmp_path /= "a home"
    tmp_path.mkdir()
    env = environ(
        repo.parent, HOME=str(tmp_path), SHELL=f"/usr/bin/{shell}", XDG_DATA_HOME="", XDG_CONFIG_HOME=""
    )
    for _ in range(2):  # it may be done again
        done = hub("completion", "install", cwd=repo, env=env)
        assert str(tmp_path / place) in done.stdout
    assert "_HUB_COMPLETE" in (tmp_path / place).read_text()
    assert ("fpath" in done.stdout) == (shell == "zsh")
    if shell == "zsh":
        assert f"fpath=({shlex.quote(str((tmp_path / place).parent))} $fpath)" in done.stdout
    assert ("bash-completion, which" in done.stdout) == (shell == "bash")  # a bash alone looks nowhere


def test_an_unknown_shell_is_told_what_to_do(repo):
    done = hub("completion", "install", cwd=repo, env=environ(repo.parent, SHELL="/bin/tcsh"))
    assert (done.returncode, "hub completion bash|zsh|fish" in done.stderr) == (2, True)
