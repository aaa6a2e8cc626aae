"""`hub run` and `hub attach` in a real terminal: what is shown, the keys that answer, and the terminal as it was after."""

import json
import os
import signal
import sys

import pytest

from tests.faults.test_agent_faults import process
from tests.hub.cli.tmux import terminal
from tests.waiting import ended

HUB = f"{sys.executable} -m hub"
DONE = ({"write": {"path": "a.txt", "text": "x"}}, {"done": "All **done**."})


@pytest.fixture
def shell(work):
    """A shell in the project, in a terminal."""
    env = work.environ(TERM="xterm-256color", TZ="UTC", LC_ALL="C.UTF-8", HUB_AMBIENT="0")
    env = {name: value for name, value in env.items() if "\n" not in value and name not in ("TMUX", "PS1")}

    def opened(**size):
        return terminal(work.root, env, **size)

    return opened


def run(shell, words):
    """Type a command."""
    shell.press("-l", f"{HUB} {words}")
    shell.press("Enter")


def echoes(shell):
    """Whether the shell's terminal shows what is typed, and has its cursor."""
    shell.press("-l", "stty -a | tr ' ' '\\n' | grep -x -e echo -e icanon | tr '\\n' '+'")
    shell.press("Enter")
    shell.shows("icanon+echo+")


def test_a_conversation_and_its_answers(work, shell):
    """An approval whose whole command is shown takes a, a question takes a line, and nothing is left behind."""
    long = "deploy " + " ".join(f"--flag-{n}=value" for n in range(20))
    work.script(
        "demo-first",
        {"say": "I use `list<int>` for this."},
        {"approve": long},
        {"approve": long},
        {"ask": "Which colour?"},
        *DONE,
    )
    work.configure('\n[[approvals]]\ncommand = "deploy*"\n')
    with shell() as window:
        run(window, "run 'Colour it'")
        screen = window.shows("allow it?")
        assert "--flag-19=value" in screen.replace("\n", "")
        assert "list<int>" in screen
        assert screen.count("approval needed") == 0, "the request is shown once"
        window.answers("a")
        screen = window.shows("Which colour?")
        assert screen.count("approved:") == 1, "the same is not asked again"
        window.shows("reply (Enter sends")
        window.press("-l", "hp blue ü y")
        window.press("Enter")
        screen = window.shows("done, not verified")
        assert screen.count("hp blue ü y") == 1, "every letter is the reply's, and it is told once"
        assert "you: hp blue ü y" in screen
        assert "All done." in screen, "Markdown is drawn"
        assert "? keys" not in screen, "the bottom line is gone"
        echoes(window)


def test_it_is_left_at_work_and_come_back_to_over_a_killed_daemon(work, shell):
    """D leaves, attach comes back, a daemon that was killed is waited for, and nothing is shown twice."""
    work.script("demo-first", {"say": "Step one."}, {"ask": "Which colour?"}, {"say": "Step two."}, *DONE)
    work.configure()
    with shell() as window:
        run(window, "run 'Colour it'")
        window.shows("reply (Enter sends")
        window.press("Escape")
        window.shows("r reply", gone="reply (Enter sends")
        window.press("d")
        window.shows("hub attach s-")
        echoes(window)
        window.press("clear", "Enter")
        run(window, "attach")
        screen = window.shows("reply (Enter sends", gone="left at work")
        assert "Step one." in screen
        told = json.loads((work.hub / "daemon.json").read_bytes())
        os.kill(told["pid"], signal.SIGKILL)
        assert ended(told["pid"]), "it holds its lock to its very end"
        window.shows("the daemon is gone")
        work.start()
        window.shows("the daemon is back")
        window.shows("reply (Enter sends")
        window.press("-l", "blue")
        window.press("Enter")
        screen = window.shows("done, not verified")
        assert (screen.count("Step one."), screen.count("Step two.")) == (1, 1)
        assert len(work.starts()) == 1, "the agent was not started again"


def test_ctrl_z_and_back(work, shell):
    """The shell finds its terminal as it was, and so does whoever comes back."""
    work.script("demo-first", {"ask": "Which colour?"}, *DONE)
    work.configure()
    with shell() as window:
        run(window, "run 'Colour it'")
        window.shows("reply (Enter sends")
        window.press("Escape", "C-z")
        window.shows("Stopped")
        echoes(window)
        window.press("fg", "Enter")
        window.shows("r reply", gone="reply (Enter sends")
        window.press("?")
        window.shows("d detach")
        window.press("r")
        window.shows("reply (Enter sends")
        window.press("-l", "blue")
        window.press("Enter")
        window.shows("done, not verified")


def test_the_demo_fits_a_narrow_terminal(shell):
    """The bars of the handoff were drawn for 66 columns, and their ends stood in lines of their own."""
    with shell(columns=40) as window:
        run(window, "demo")
        screen = window.shows("next: in a project")
        drawn = screen[screen.index("handed over in") : screen.index("done and verified")]
        assert drawn.count("|") == 10
        assert max(map(len, drawn.splitlines())) <= 40


def test_ctrl_c_is_answered_above_the_bottom_lines_and_these_go(work, shell):
    """The answer was wiped out, and the line of the reply and the spinner's stood there for good."""
    work.script("demo-first", {"ask": "Which colour?"}, *DONE)
    work.configure()
    with shell() as window:
        run(window, "run 'Colour it'")
        window.shows("reply (Enter sends")
        window.press("C-c")
        screen = window.shows("stopped; the work so far is on the branch")
        assert "stopping in order, with a snapshot" in screen
        assert "? keys" not in screen
        assert "reply (Enter sends" not in screen


def test_a_second_ctrl_c_gives_the_terminal_back(work, shell):
    """It leaves by os._exit, which runs nothing else."""
    work.script(
        "demo-first", {"say": "HALF"}, {"hang": {"stubborn": True}}
    )  # it has to be killed, which takes a while
    work.configure()
    with shell() as window:
        run(window, "run 'long work'")
        window.shows("HALF")
        window.press("C-c")
        window.shows("stopping in order")
        window.press("C-c")
        window.shows("left at once")
        echoes(window)
    os.kill(process(work, "agent.json", "pid"), signal.SIGKILL)


def test_no_line_is_wider_than_the_terminal(work, shell):
    """Also the bottom line, which is drawn again and again, and leaves nothing of itself."""
    work.script(
        "demo-first",
        {"say": "word " * 60},
        {"run": f"echo {'x' * 200}"},
        {"usage": {"tokensIn": 123456, "tokensOut": 7890}},
        {"quota": {"used": 0.72, "resetsIn": 3600}},
        *DONE,
    )
    work.configure()
    with shell(columns=40) as window:
        run(window, "run 'Colour it' 2>&1")
        screen = window.shows("done, not verified")
        assert "working" not in screen
        assert screen.count("run echo") == 1
        assert screen.count("✓") + screen.count("●") == 2
