"""The lines of the pages, from the typed answers; what no scripted agent of the screens' tests brings about."""

from datetime import UTC, datetime

import attrs
import pytest
from textual.geometry import Size

from hub.api.convert import structure, unstructure
from hub.api.costs import Spent
from hub.api.detect import Detected, Intel
from hub.api.history import HistoryEntry
from hub.api.observability import Breaker
from hub.api.pipelines import NodeStatus, Pipeline, RunStatus
from hub.api.providers import Login, ProviderConfig, ProviderStatus
from hub.api.quota import Entry, MeteredWindow
from hub.api.session import Cost
from hub.api.sessions import Session
from hub.tui import board, cost, diffs, history, pipelines, providers, quota
from hub.tui.detected import details
from hub.tui.detected import rows_of as detected_rows
from hub.tui.look import ASCII
from hub.tui.page import PAGES, Bar
from hub.web.page.site import VIEWS
from tests.hub.io.agents import new_session, transcript
from tests.hub.tui.kit import sees, shows
from tests.hub.tui.kit import text as letters
from tests.sample import sample

AT = "2026-01-01T11:00:00Z"
NOW = datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()


def text(rows):
    return ["".join(piece for piece, _ in row.pieces).rstrip() for row in rows]


def looks(rows):
    return {look for row in rows for _, look in row.pieces}


def entry(**more):
    window = {
        "window": "five_hour", "fractionUsed": 0.93, "resetsAt": "2026-01-01T13:00:00Z", "source": "stream", "burnPerMin": 1.5,
        "etaMinutes": 12.0, "etaLowMinutes": 8.0, "etaHighMinutes": 20.0, "forecast": "accumulating", **more,
    }  # fmt: skip
    rises = [{"at": "2026-01-01T11:00:00Z", "fractionUsed": used} for used in (0.1, 0.3, 0.35)]
    metered = unstructure(sample(MeteredWindow, **window, rises=rises, burnedSince=rises[0]["at"]))
    return sample(
        Entry,
        **window,
        provider="claude",
        account="work",
        tokensToday=1200,
        tokensElsewhere=0,
        windows=[metered],
    )


def test_the_wallet_says_when_the_wall_comes_and_when_it_resets():
    shown = text(quota.rows_of([entry()], NOW, ASCII, 80))
    assert shown[0] == "claude/work   1,200 tokens today"
    assert "5-hour   ###################. " in shown[1]
    assert "93 % used" in shown[1]
    assert shown[1].endswith("%:")
    assert "wall in 12 min (8 min to 20 min)" in shown[2]
    assert "(in 60 min)" in shown[2]


def test_in_few_columns_a_bar_leaves_room_for_its_figure():
    """At 40 columns the figure was cut off."""
    (shown,) = [line for line in text(quota.rows_of([entry()], NOW, ASCII, 40)) if "% used" in line]
    assert len(shown.partition("used")[0]) < 40 - 4


def test_the_nearest_wall_is_first_and_what_nobody_told_is_last():
    far, unknown = entry(etaMinutes=None), entry(fractionUsed=None)
    shown = text(quota.rows_of([unknown, far, entry()], NOW, ASCII, 80))
    assert [("wall" in line) for line in shown if "resets" in line] == [True, False]
    assert shown[-2:] == ["Nothing told yet", "  claude/work   1,200 tokens today"]
    assert "once it works" in text(quota.rows_of([unknown], NOW, ASCII, 80))[0]


def graph(*nodes):
    return [(name, list(waits)) for name, waits in nodes]


def test_a_graph_is_a_tree_and_a_node_with_two_parents_is_drawn_once():
    drawn = [
        f"{stem}{name}{' again' if again else ''}"
        for stem, name, again in pipelines.tree(
            graph(("a", ""), ("b", "a"), ("c", "a"), ("d", "bc"), ("e", "")), ASCII
        )
    ]
    assert drawn == [" a", " |- b", " |  `- d", " `- c", "    `- d again", " e"]


def test_a_run_has_bars_on_one_line_of_time():
    nodes = [
        {"id": name, "provider": "codex", "task": "t", "dependsOn": waits}
        for name, waits in (("a", []), ("b", ["a"]))
    ]
    found = [structure({"name": "p", "nodes": nodes}, Pipeline)]
    at = [f"2026-01-01T11:59:{second}Z" for second in ("00", "30", "59")]

    def node(number, state, **more):
        given = {"provider": "codex", "sessionId": "s-1", "startedAt": at[number], "endedAt": at[number + 1]}
        return sample(NodeStatus, state=state, how="executed", verified=None, **given, **more)

    status = attrs.evolve(
        sample(RunStatus, name="p", state="completed", startedAt=at[0], endedAt=at[2]),
        nodes=[node(0, "completed", id="a"), node(1, "failed", id="b", dependsOn=["a"])],
    )
    rows = list(pipelines.rows_of(found, status, NOW, 89, ASCII))
    assert ("done, not verified", "warn") in rows[0].pieces
    assert (f"{'done, not verified':<18} ", "warn") in rows[1].pieces
    shown = text(rows)
    assert shown[1].endswith("##########           30 s")
    assert shown[2].endswith("          ########## 29 s")
    assert "v a" in shown[1]
    assert "x b" in shown[2]


def test_a_cost_that_is_known_in_part_says_so():
    priced = sample(Cost, sessionUsd=1.5, provider="qwen", priced=False, unpricedModels=["", "new-model"])
    shown = text(cost.cost_rows(priced))
    assert shown[0].endswith("more than $1.50")
    assert shown[-1].endswith("a model nobody named, new-model")
    assert text(cost.cost_rows(attrs.evolve(priced, session_usd=None)))[0].endswith("not known")


def test_what_was_spent_stands_by_agent_and_by_session():
    """The page asked for the cost of each of forty sessions, one after the other."""
    given = {"day": "2026-01-01", "provider": "qwen", "tokensIn": 1000, "tokensOut": 10}
    spent = [
        sample(Spent, sessionId="s-1", usd=1.5, priced=True, **given),
        sample(Spent, sessionId="s-2", usd=None, priced=False, **given),
    ]
    one = sample(Session, sessionId="s-2", title="Write it", startedAt="2026-01-01T11:00:00Z")
    shown = text(cost.rows_of(spent, {"s-2": one}, NOW, 80))
    assert shown[0] == "By agent"
    assert shown[1].split() == ["qwen", "more", "than", "$1.50", "2,000", "in,", "20", "out"]
    assert [line.split()[0] for line in shown[3:]] == ["not", "$1.50"]
    assert shown[3].endswith("Write it")
    assert shown[4].endswith("s-1"), "it is told no more"
    assert text(cost.rows_of([], {}, NOW, 80))[0].startswith("nothing was used yet")


def test_a_diff_has_its_colours_and_each_file_can_be_jumped_to():
    diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n same\n"
    rows = list(diffs.rows_of(" x | 2 +-", diff, truncated=True))
    assert {"good", "bad", "info", "head", "bold", "warn"} <= looks(rows)
    assert [row.key for row in rows if row.key] == ["file-0"]
    assert "hub diff" in text(rows)[-1]
    assert text(diffs.rows_of("", "")) == ["nothing has changed"]
    assert text(diffs.rows_of(f" {'x/' * 30}y | 2 +-", "", width=40))[1].endswith(" | 2 +-")


def test_a_long_line_of_a_diff_is_shown_whole():
    rows = list(diffs.rows_of("", "diff --git a/x b/x\n+" + "word " * 30 + "end\n", width=40))
    told = text(rows)
    assert max(map(len, told)) <= 43
    assert [line for line in told if line.startswith("+")] == ["+" + "word " * 7 + "word"]
    assert all(line.startswith(".. word") for line in told[3:-1])
    assert told[-2].endswith("end")
    assert "good" in looks(rows[3:4])


def test_what_is_missing_of_an_agent_has_its_next_step():
    config = sample(
        ProviderConfig,
        install={"installed": False, "version": "", "path": "", "command": "npm install codex"},
        auth=unstructure(sample(Login, loginCommand="codex login")),
        capabilities={"resume": True, "reply": False},
        probe={"ok": False, "detail": "no answer", "latencyMs": 1, "checkedAt": "2026-01-01T11:00:00Z"},
        accounts=[{"label": "default", "active": True, "configDir": "/x", "loggedIn": False}],
    )
    shown = "\n".join(text(providers.details(config, NOW)))
    for words in (
        "npm install codex",
        "codex login",
        "no answer",
        "resume",
        "default  active  not logged in",
    ):
        assert words in shown


def test_accounts_are_listed_where_there_are_several():
    logins = [
        {"label": label, "status": "exhausted", "reason": "limit", "resetsAt": None} for label in ("a", "b")
    ]
    status = sample(ProviderStatus, displayName="Codex", status="exhausted", accounts=logins)
    shown = text(providers.rows_of([status], [], NOW))
    assert [line.split()[0] for line in shown] == ["Codex", "a", "b"]


def test_a_circuit_is_told_of_where_something_failed():
    """Each account that worked had a line, "circuit closed", which nobody could read."""
    status = sample(ProviderStatus, name="codex", displayName="Codex", status="standby", accounts=[
        {"label": "default", "status": "standby", "reason": "", "resetsAt": None}
    ])  # fmt: skip
    well = sample(Breaker, name="codex/default", state="closed", failures=0)
    assert len(list(providers.rows_of([status], [well], NOW))) == 1
    shown = text(providers.rows_of([status], [attrs.evolve(well, failures=2)], NOW))
    assert shown[1].split() == ["default", "circuit", "closed,", "2", "failures"]


NO_SESSION = unstructure(sample(Intel))


def detected(**more):
    session = {
        "sessionId": "x", "initialPrompt": "fix it", "plan": ["one"], "tasksRemaining": ["two"], "filesTouched": ["a.py"],
        "recentTurns": [{"role": "user", "text": "and the [b]tests[/b]"}],
    }  # fmt: skip
    one = {
        "displayName": "Claude Code", "workDir": "/home/somebody/with/a/long/path", "lastActive": int(NOW) - 300,
        "candidates": ["claude:y"], "session": unstructure(sample(Intel, **session)), **more,
    }  # fmt: skip
    return sample(Detected, **one)


def test_who_runs_is_first_and_all_that_is_known_can_be_read():
    running = detected(id="codex:pid:7", displayName="Codex", running=True, pid=7, session=NO_SESSION)
    broken = detected(id="z", displayName="Goose", alarm="too large")
    shown = text(detected_rows([detected(), broken, running], NOW, 100))
    assert shown[0].startswith("Codex            runs, 7")
    assert "5 min ago" in shown[1]
    assert "..somebody" not in shown[1]
    assert any("sessions may be missing: too large" in line for line in shown)
    known = "\n".join(text(details(detected())))
    for words in ("fix it", "one", "two", "a.py", "and the [b]tests[/b]", "claude:y"):
        assert words in known


def test_an_agents_session_is_looked_at_and_adopted(work, tmp_path):
    """A transcript of Claude Code's in the folder where it keeps them."""
    home = tmp_path / "home"
    transcript(home / ".claude", new_session(), work.root, "write the parser", said="I begin.")
    work.script("demo-first", {"say": "I go on."}, {"done": "finished"})
    work.configure()
    work.start(HOME=str(home))

    async def story(app, pilot):
        await sees(app, pilot, "no session yet")
        await pilot.press("5")
        await sees(app, pilot, "write the parser")
        while not any(line[:1] == ">" and "write the parser" in line for line in letters(app).splitlines()):
            await pilot.press("down")  # past the agents that others run on this machine
        await pilot.press("enter")
        await sees(app, pilot, "claude-sonnet-5-5", "I begin.")
        await pilot.press("escape", "o")
        await sees(app, pilot, "Who goes on with it?", "Demo agent 1")
        await pilot.press("enter")
        await sees(app, pilot, "How?", "Begin a session")
        await pilot.press("down", "enter")
        await sees(app, pilot, "brief:")
        await pilot.press("o")
        await sees(app, pilot, "Who goes on with it?")
        await pilot.press("enter")
        await sees(app, pilot, "How?")
        await pilot.press("enter")
        await sees(app, pilot, "session s-")
        await pilot.press("1")
        await sees(app, pilot, "Done (1)", "write the parser")
        await pilot.press("6", "enter")
        await sees(app, pilot, "program   ", "login ", "can ", "account ")

    shows(work.root, story, size=(120, 40))
    assert list((work.hub / "adopted").iterdir())


def test_in_few_columns_the_board_gives_its_room_to_the_task():
    """At 40 columns a title shrank to a letter: how it stands and when had taken the rest."""
    told = sample(
        Session, sessionId="s-1", title="paint the fence green", sessionState="running", needs="none"
    )
    (_, line, *_) = text(board.rows_of([told], NOW, 40))
    assert "paint the fence green" in line
    assert len(line) <= 40


def test_a_record_says_its_figure_once():
    """The score and the exit status stand in the summary; they stood behind it again, as "hfs 100" and "exit 0"."""
    told = sample(HistoryEntry, ts=AT, event="verify", summary="make test, exit 0", exitCode=0, hfs=None)
    scored = sample(HistoryEntry, ts=AT, event="fidelity", summary="fidelity 100", hfs=100)
    shown = text(history.timeline_rows([told, scored], NOW))
    assert [line.rstrip().rpartition("  ")[2] for line in shown] == ["fidelity 100", "make test, exit 0"]


def test_in_few_columns_the_cost_page_names_the_sessions():
    """At 40 columns a line was a sum, some tokens and two dots."""
    session = sample(Session, sessionId="s-1", title="paint the fence", startedAt=AT)
    *_, line = text(cost.rows_of([sample(Spent, sessionId="s-1", usd=1.5)], {"s-1": session}, NOW, 40))
    assert "paint the fence" in line
    assert len(line) <= 40


def test_a_thing_has_one_name_on_the_page_and_in_the_terminal():
    """The page said Detected, Graph and Events of what was Agents, Find and Log here."""
    web = {name: view.title for name, view in VIEWS.items()}
    assert {name: heading for _, name, heading, _ in PAGES}.items() <= web.items()


@pytest.mark.parametrize(
    ("wide", "shown"),
    [
        (86, " 1 Board 2 Quota 3 Pipelines 4 History 5 Detected 6 Providers[7 Events] 8 Graph 9 Cost"),
        (80, " 1Board 2Quota 3Pipelines 4History 5Detected 6Providers[7Events] 8Graph 9Cost"),
        (40, " 1Board 2Quota 3 4 5 6[7Events] 8 9"),
    ],
)
def test_where_there_is_no_room_the_keys_come_close_then_the_last_headings_go(wide, shown):
    class Sized(Bar):
        size = Size(wide, 1)

    assert str(Sized([page[:3] for page in PAGES], "events", lambda _: None).render()) == shown
