"""Every command in every form: what it says is kept beside this file, in `forms/`, and no form says less than another.

`HUB_TEST_KEEP=1 pytest tests/hub/cli/test_forms.py` keeps what is said now; the difference is read before it is committed.
"""

from __future__ import annotations

import difflib
import os
import re
import tempfile
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import attrs
import pytest

from tests.faults.harness import project, until
from tests.hub.cli.forms import (
    ESCAPE,
    WIDTHS,
    cut_off,
    documents,
    in_pipe,
    on_terminal,
    settled,
    settled_json,
    too_wide,
)
from tests.hub.cli.test_group import ALL
from tests.hub.io.agents import transcript

KEPT = Path(__file__).parent / "forms"
PIPELINE = """
[[pipelines]]
name = "two"
[[pipelines.nodes]]
id = "one"
provider = "demo-first"
task = "write"
[[pipelines.nodes]]
id = "two"
provider = "demo-second"
task = "check"
dependsOn = ["one"]
[[approvals]]
command = "deploy*"
"""


@attrs.frozen
class Form:
    """How a command is called.

    Attributes:
        words: What follows its name.
        kept: Whether its words are kept: not where the machine or its load speaks in them, or another form has them.
        fits: Whether it breaks its lines itself; sentences and what is to be copied are broken by the terminal.
        alike: Whether its words are the same however wide it is, so that those of the usual width are kept alone.
        json: Whether it is called with --json too; not where it serves.
        whole: Whether it is called in every form; not where it takes seconds.
    """

    words: str = ""
    kept: bool = True
    fits: bool = False
    alike: bool = False
    json: bool = True
    whole: bool = True


NOBODY = Form("s-none")
FORMS = {
    "init": Form(), "doctor": Form(kept=False), "trust": Form("--status"), "demo": Form(kept=False, whole=False),
    "run": Form("--provider nobody task"), "ls": Form(fits=True), "attach": NOBODY, "status": Form(), "logs": Form(kept=False, fits=True),
    "diff": Form("{ended}"), "tui": Form("--json", kept=False, json=False), "open": Form("--print"), "approvals": Form(), "approve": Form("a-none"),
    "deny": Form("a-none"), "reply": Form("yes --session s-none"), "pause": NOBODY, "resume": NOBODY, "handoff": NOBODY,
    "stop": NOBODY, "take": Form("{ended} --patch -"), "pr": Form("{ended}"), "discard": Form("{ended}"),
    "clean": Form("--dry-run"), "history": Form("--handoffs", kept=False), "rewind": Form("0000000"), "providers": Form(kept=False, fits=True),
    "install": Form("nobody"), "account add": Form("nobody work"), "account list": Form(fits=True),
    "account login": Form("demo-first nobody"), "account remove": Form("demo-first nobody"),
    "account switch": Form("demo-first nobody"), "key list": Form(), "key remove": Form("nobody"), "key set": Form("nobody"),
    "quota": Form(fits=True), "usage": Form(), "cost": Form(fits=True), "detect": Form(kept=False), "adopt": Form("nobody:1 --for claude"),
    "pipeline list": Form(fits=True), "pipeline run": Form("nobody"), "pipeline show": Form("two", fits=True), "pipeline validate": Form(), "graph scan": Form(kept=False),
    "graph search": Form("nothing"), "graph show": Form(kept=False), "mcp": Form(json=False), "mcp install": Form("cursor --print"),
    "mcp uninstall": Form("cursor"), "acp": Form(json=False), "acp install": Form("zed --print"),
    "acp uninstall": Form("zed"), "audit verify": Form(kept=False), "eval": Form("--provider aider", whole=False), "daemon": Form(),
    "service install": Form("--nonsense"), "service remove": Form(kept=False), "service status": Form(kept=False),
    "config edit": Form(), "config get": Form("session.threshold"), "config list": Form("--show-origin", fits=True, alike=True),
    "config set": Form("session.threshold 2"), "config unset": Form("session.nothing"), "completion": Form("bash"),
    "help": Form("exit-codes", fits=True), "version": Form(kept=False),
}  # fmt: skip
"""One for each command; where none can be had in a project that stands still, how it refuses."""
DAILY = {
    "ls --all-projects": Form(fits=True), "status {ended}": Form(), "diff {ended} --stat": Form(), "quota --windows": Form(kept=False, fits=True),
    "history": Form(kept=False, fits=True), "history --commits": Form(fits=True), "logs --since 1": Form(kept=False, fits=True),
    "cost --by session": Form(fits=True), "cost --by agent": Form(fits=True),
    "detect --since-hours 8000": Form(kept=False), "run --help": Form(json=False, fits=True), "--help": Form(json=False, fits=True, alike=True),
    "attach {ended}": Form(kept=False, json=False), "config list": Form(kept=False, fits=True),
}  # fmt: skip
"""What people type every day, as it goes well."""
OTHERS = tuple(f"{width} columns" for width in WIDTHS if width != 80)


@pytest.fixture(scope="module")
def made():
    """A project where one session has ended after a handoff, and another waits for a word. Its path is always as long."""
    with (
        tempfile.TemporaryDirectory(prefix="hub-", dir="/tmp") as folder,
        project(Path(folder)) as work,
    ):  # its length is what is wanted
        work.script(
            "demo-first", {"write": {"path": "a.txt", "text": "a\n"}}, {"limit": {"resetsIn": 90_000}}
        )
        work.script(
            "demo-second",
            {"say": "The **rest**."},
            {"usage": {"tokensIn": 12_400, "tokensOut": 910}},
            {"write": {"path": "b.txt", "text": "b\n"}},
            {"done": "Both are there."},
        )
        work.configure(PIPELINE, session='verify = ["test -f b.txt"]\n')
        home = work.root.parent / "home"
        home.mkdir()
        transcript(home / ".claude", str(uuid.uuid4()), work.root, "Write it")
        api = work.start(PATH="/usr/bin:/bin", HOME=str(home), TZ="UTC").within(60)
        api.post("/api/run", {"task": "write both files"})
        began = int(time.time())
        until(lambda: api.get("/api/status")["sessionState"] == "completed", "the first is done")
        ended = api.get("/api/status")["sessionId"]
        until(lambda: len(api.get("/api/status")["hfsHistory"]) == 1, "it is scored")
        work.script(
            "demo-second",
            {"say": "I look around."},
            {"approve": "deploy it all --to production"},
            {"done": "x"},
        )
        until(lambda: int(time.time()) > began, "an id of another second, or both are shown whole")
        api.post("/api/run", {"task": "deploy it"})
        until(lambda: api.get("/api/approvals"), "it waits")
        env = work.environ(HOME=str(home), PATH="/usr/bin:/bin", TZ="UTC", LC_ALL="C.UTF-8", EDITOR="false")
        yield (
            work,
            ended,
            {name: value for name, value in env.items() if name not in ("NO_COLOR", "COLUMNS", "LINES")},
        )
        work.stop()


def test_every_command_has_its_forms():
    """A new command comes with what it says."""
    commands = {" ".join(path) for path in ALL} | {"mcp", "acp"}
    assert set(FORMS) == commands
    kept = {path.stem.replace("-", " ") for path in KEPT.glob("*.txt")}
    assert kept == {name for name, form in FORMS.items() if form.kept} | {
        named(words).replace("-", " ") for words, form in DAILY.items() if form.kept
    }


@pytest.mark.parametrize("name", FORMS)
def test_a_command_in_all_its_forms(made, name):
    """One exit status, one JSON document, no colour where none is wanted, no traceback; and the words that are kept."""
    form = FORMS[name]
    holds(made, f"{name} {form.words}".strip(), form, name)


@pytest.mark.parametrize("words", DAILY)
def test_what_is_typed_every_day(made, words):
    """The same of what goes well."""
    said = holds(made, words, DAILY[words], named(words))
    assert said["a pipe"].status == 0


def named(words):
    """The name of its file."""
    return "daily-" + "-".join(re.findall(r"[a-z]+", words.replace("{ended}", "")))


def holds(made, words, form, name):
    """A command in each of its forms, and what must be true of them together."""
    work, ended, env = made
    said = asked(form, words.format(ended=ended).split(), work.root, env)
    usual = said["a pipe"]
    assert {one.status for one in said.values()} == {usual.status}, said
    assert not any("Traceback" in one.out + one.err for one in said.values())
    assert not ESCAPE.search(usual.out + usual.err)
    assert "\x1b[3" not in said["no colour"].out, "no colour was wanted"
    if form.fits:
        assert not [
            too_wide(said[f"{width} columns"].out, width)
            for width in WIDTHS
            if too_wide(said[f"{width} columns"].out, width)
        ]
    if form.json:
        (document,) = documents(said["json"].out)
        failed = usual.status and isinstance(document, dict)  # findings are told as a list
        assert not failed or set(document["error"]) >= {"code", "detail", "hint"}
    if form.alike:
        # each block of a narrow table begins under no heading
        first = usual.out.split()[0].casefold()
        told = {how: words_of(said[how], work.root.parent) | {first} for how in ("a pipe", *OTHERS)}
        assert [how for how in OTHERS if told[how] != told["a pipe"]] == []
    if form.kept:
        once = {how: one for how, one in said.items() if not (form.alike and how in OTHERS)}
        compare(
            KEPT / f"{name.replace(' ', '-')}.txt",
            written(words, once, work.root.parent),
        )
    return said


def words_of(one, folder):
    """What it says, wherever it stands: a heading is small beside its value."""
    return set(settled(one.out + one.err, folder).casefold().split())


def asked(form, words, root, env):
    """What it says in each of its forms."""
    with ThreadPoolExecutor(max_workers=4) as pool:
        calls = {"a pipe": pool.submit(in_pipe, words, root, env)}
        calls["no colour"] = pool.submit(on_terminal, words, root, {**env, "NO_COLOR": "1"}, 80)
        if form.whole:
            for width in WIDTHS:
                calls[f"{width} columns"] = pool.submit(on_terminal, words, root, env, width)
            calls["closed"] = pool.submit(cut_off, words, root, env)
        if form.json:
            calls["json"] = pool.submit(in_pipe, [*words, "--json"], root, env)
    return {how: call.result() for how, call in calls.items()}


def written(called, said, folder):
    """The form of a kept file: what is said alike stands once."""
    hows: dict[str, list[str]] = {}
    for how, one in said.items():
        if how != "closed":
            words = settled_json(one.out, folder) if how == "json" else settled(one.out + one.err, folder)
            hows.setdefault(words, []).append(how)
    parts = [f"--- {', '.join(sorted(found))} ---\n{text}" for text, found in hows.items()]
    return "\n\n".join([f"$ hub {called}\nexit status {said['a pipe'].status}", *sorted(parts)]) + "\n"


def compare(path, now):
    """What is kept is what is said."""
    if os.environ.get("HUB_TEST_KEEP"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(now)
    kept = path.read_text() if path.exists() else ""
    lines = difflib.unified_diff(kept.splitlines(), now.splitlines(), "kept", "now", lineterm="")
    said = "\n".join(lines)
    assert now == kept, f"{said}\nis it meant? HUB_TEST_KEEP=1 pytest tests/hub/cli/test_forms.py keeps it"
