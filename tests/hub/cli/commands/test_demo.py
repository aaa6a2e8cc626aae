"""`hub demo` is what a stranger sees first: it works anywhere, says the truth, and leaves nothing behind."""

import html
import json
import os
import re
from pathlib import Path

from tests.hub.cli.command import ROOT, environ, hub

INSTANT = re.compile(r"(?:\d{1,2} [A-Z][a-z]{2} )?\d\d:\d\d [A-Z]{3,4}|in \d+\.\d{3}s")
"""And how long its tests took."""


def bare(tmp_path, **more):
    """A stranger's machine: hardly a PATH, an empty home, a temporary directory that can be looked into."""
    scratch = tmp_path / "tmp"
    home = tmp_path / "home"
    scratch.mkdir()
    home.mkdir()
    plain = {
        name: value
        for name, value in environ(tmp_path).items()
        if not name.startswith(("HUB_", "GIT_", "XDG_"))
    }
    return plain | {"TMPDIR": str(scratch), "HOME": str(home), **more}


def test_a_whole_handoff_is_shown(tmp_path):
    """The limit, each state, the second agent, the verdict, the diff, and what to do next; nothing stays."""
    env = bare(tmp_path)
    done = hub("demo", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    order = [
        "demo-first",
        "handing over: demo-first/default -> demo-second/default (demo limit, resets",
        "demo-second",
        "verify passed",
    ]
    places = [done.stderr.index(words) for words in order]
    assert places == sorted(places)
    for words in ("+++ b/convert.py", "handed over in", "done and verified", "next:"):
        assert words in done.stdout
    assert not list((tmp_path / "tmp").iterdir())
    assert not list((tmp_path / "home").iterdir()), "keys and settings are the demo's own"
    shown = picture()
    for line in done.stderr.splitlines():
        said = INSTANT.sub("", line)
        assert "".join(said.split()) in shown, f"README's picture shows something else than: {line}"


def picture():
    """The words of README's picture, without blanks and instants: its terminal breaks long lines."""
    drawn = re.findall(r"<text [^>]*>(.*?)</text>", (ROOT / "design/demo.svg").read_text())
    text = html.unescape(" ".join(re.sub("<.*?>", "", word) for word in drawn)).replace("\xa0", " ")
    return "".join(INSTANT.sub("", text).split())


def test_a_users_settings_neither_break_nor_change_it_and_it_can_be_kept(tmp_path):
    """Variables, a chain, a signing hook: they are for the user's projects. --keep says where its own is, with an intact log."""
    config = tmp_path / "gitconfig"
    config.write_text(
        "[commit]\n\tgpgsign = true\n[init]\n\ttemplateDir = /nowhere\n[user]\n\tuseConfigOnly = true\n"
    )
    env = bare(
        tmp_path,
        HUB_PORT="1",
        HUB_CHAIN="claude",
        HUB_SIGNING_KEY="not a key",
        HUB_ON_LIMIT="stop",
        GIT_CONFIG_GLOBAL=str(config),
        GIT_DIR="/nowhere",
    )
    done = hub("demo", "--keep", "--json", cwd=tmp_path, env=env)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["status"]["verified"] is True
    assert told["status"]["handoffsDone"] == 1
    assert told["status"]["hfsHistory"][0] == 100
    assert "convert.py" in told["diff"]["diff"]
    place = Path(done.stderr.strip().removeprefix("kept: "))
    assert (place / ".hub" / "fsm.json").exists()
    verified = hub("audit", "verify", cwd=place, env=bare_state(tmp_path, place))
    assert verified.returncode == 0, verified.stdout


def bare_state(tmp_path, place):
    """The demo's keys lie beside its project."""
    return {**os.environ, **environ(tmp_path), "HUB_STATE_DIR": str(place.parent / "state")}


def test_without_git_it_says_so(tmp_path):
    """The one thing that it needs."""
    empty = tmp_path / "bin"
    empty.mkdir()
    done = hub("demo", cwd=tmp_path, env=bare(tmp_path, PATH=str(empty)))
    assert done.returncode == 1
    assert "git is not installed" in done.stderr
    assert "Install git" in done.stderr
    assert not list((tmp_path / "tmp").iterdir())
