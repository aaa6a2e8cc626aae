"""The lines of the pages, from the typed answers; what no scripted agent of the screens' tests brings about."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from hub.api.convert import structure
from hub.api.detect import Detected
from hub.api.pipelines import Pipeline, RunStatus
from hub.api.providers import ProviderConfig, ProviderStatus
from hub.api.quota import Entry
from hub.api.session import Cost
from hub.api.sessions import Session
from hub.tui import agents, board, cost, diffs, pipelines, providers, quota
from hub.tui.look import ASCII
from tests.hub.tui.kit import sees, shows
from tests.hub.tui.kit import text as letters
from tests.sample import sample

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()


def text(rows):
    return ["".join(piece for piece, _ in row.pieces).rstrip() for row in rows]


def looks(rows):
    return {look for row in rows for _, look in row.pieces}


def entry(**more):
    window = {
        "window": "five_hour", "remaining": 7, "total": 100, "unit": "percent", "fractionUsed": 0.93,
        "resetsAt": "2026-01-01T13:00:00Z", "source": "stream", "readAt": None, "ageSeconds": None, "burnPerMin": 1.5,
        "etaMinutes": 12.0, "etaLowMinutes": 8.0, "etaHighMinutes": 20.0, "forecast": "forecast", **more,
    }  # fmt: skip
    window["forecast"] = more.get("forecast", "accumulating")
    rises = [{"at": "2026-01-01T11:00:00Z", "fractionUsed": used} for used in (0.1, 0.3, 0.35)]
    return structure(
        {
            **window,
            "provider": "claude",
            "account": "work",
            "tokensToday": 1200,
            "tokensElsewhere": 0,
            "windows": [{**window, "rises": rises, "burned": [], "burnedSince": rises[0]["at"]}],
        },
        Entry,
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
    state = {
        "state": "completed", "how": "executed", "provider": "codex", "sessionId": "s-1", "branch": "", "base": "", "snapshot": "",
        "handoffs": 0, "verified": None, "error": None,
    }  # fmt: skip
    at = [f"2026-01-01T11:59:{second}Z" for second in ("00", "30", "59")]
    run = {
        "runId": "r", "name": "p", "state": "completed", "head": "", "base": "", "stopping": False, "resumed": 0,
        "startedAt": at[0], "endedAt": at[2],
        "nodes": [
            {**state, "id": "a", "dependsOn": [], "startedAt": at[0], "endedAt": at[1]},
            {**state, "id": "b", "dependsOn": ["a"], "state": "failed", "startedAt": at[1], "endedAt": at[2]},
        ],
    }  # fmt: skip
    try:
        status = structure(run, RunStatus, closed=False)
    except Exception as error:  # noqa: BLE001  # says which of the names is another
        pytest.fail(str(getattr(error, "problems", error)))
    rows = list(pipelines.rows_of(found, status, NOW, 89, ASCII))
    assert ("done, not verified", "warn") in rows[0].pieces
    assert (f"{'done, not verified':<18} ", "warn") in rows[1].pieces
    shown = text(rows)
    assert shown[1].endswith("##########           30 s")
    assert shown[2].endswith("          ########## 29 s")
    assert "v a" in shown[1]
    assert "x b" in shown[2]


def test_a_cost_that_is_known_in_part_says_so():
    base = {
        "sessionUsd": 1.5, "tokensIn": 10, "tokensOut": 5, "provider": "qwen", "cachedIn": 0, "cacheWriteIn": 0,
        "priced": False, "sources": ["prices"], "unpricedModels": ["", "new-model"],
    }  # fmt: skip
    shown = text(cost.cost_rows(structure(base, Cost)))
    assert shown[0].endswith("more than $1.50")
    assert shown[-1].endswith("a model nobody named, new-model")
    assert text(cost.cost_rows(structure({**base, "sessionUsd": None}, Cost)))[0].endswith("not known")


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
    config = {
        "name": "codex", "displayName": "Codex", "enabled": True, "declaredCap": 0, "model": "m", "baseUrl": "",
        "install": {"installed": False, "version": "", "path": "", "command": "npm install codex"},
        "auth": {
            "loggedIn": False, "method": "", "loginCommand": "codex login", "expiresAt": None, "keyNames": [], "keys": []
        },
        "capabilities": {"resume": True, "reply": False},
        "probe": {"ok": False, "detail": "no answer", "latencyMs": 1, "checkedAt": "2026-01-01T11:00:00Z"},
        "accounts": [{"label": "default", "active": True, "configDir": "/x", "loggedIn": False}], "activeAccount": "default",
    }  # fmt: skip
    shown = "\n".join(text(providers.details(structure(config, ProviderConfig), NOW)))
    for words in (
        "npm install codex",
        "codex login",
        "no answer",
        "resume",
        "default  active  not logged in",
    ):
        assert words in shown


def test_accounts_are_listed_where_there_are_several():
    status = {
        "name": "codex", "displayName": "Codex", "status": "exhausted", "account": "a", "model": "", "reason": "limit",
        "resetsAt": "2026-01-01T13:00:00Z",
        "accounts": [
            {"label": label, "status": "exhausted", "reason": "limit", "resetsAt": None} for label in ("a", "b")
        ],
    }  # fmt: skip
    shown = text(providers.rows_of([structure(status, ProviderStatus)], [], NOW))
    assert [line.split()[0] for line in shown] == ["Codex", "a", "b"]


def detected(**more):
    turn = {"role": "user", "text": "and the [b]tests[/b]"}
    session = {
        "sessionId": "x", "model": "big", "initialPrompt": "fix it", "plan": ["one"], "tasksRemaining": ["two"], "filesTouched": ["a.py"],
        "skills": [], "mcps": [], "recentTurns": [turn], "tokensIn": 1, "tokensOut": 2, "tokensExact": True, "messageCount": 3,
        "alarm": "",
    }  # fmt: skip
    one = {
        "id": "claude:x", "provider": "claude", "displayName": "Claude Code", "surface": "command-line", "pid": 0, "pids": [],
        "running": False, "workDir": "/home/somebody/with/a/long/path", "account": "", "detectedVia": ["transcript"],
        "lastActive": int(NOW) - 300, "owner": "user", "confidence": "certain", "candidates": ["claude:y"], "alarm": "",
        "adoptable": True, "session": session, **more,
    }  # fmt: skip
    one["confidence"] = more.get("confidence", "none")
    return structure(one, Detected)


def test_who_runs_is_first_and_all_that_is_known_can_be_read():
    running = detected(id="codex:pid:7", displayName="Codex", running=True, pid=7, session=None)
    broken = detected(id="z", displayName="Goose", alarm="too large")
    shown = text(agents.rows_of([detected(), broken, running], NOW, 100))
    assert shown[0].startswith("Codex            runs, 7")
    assert "5 min ago" in shown[1]
    assert "..somebody" not in shown[1]
    assert any("sessions may be missing: too large" in line for line in shown)
    known = "\n".join(text(agents.details(detected())))
    for words in ("fix it", "one", "two", "a.py", "and the [b]tests[/b]", "claude:y"):
        assert words in known


def test_an_agents_session_is_looked_at_and_adopted(work, tmp_path):
    """A real transcript of Claude Code's in the folder where it keeps them."""
    home = tmp_path / "home"
    folder = home / ".claude" / "projects" / str(work.root).replace("/", "-").replace("_", "-")
    folder.mkdir(parents=True)
    number = "01a1fe0c-897b-4642-9087-e765bd0c6561"
    stamp = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    base = {
        "sessionId": number,
        "cwd": str(work.root),
        "timestamp": stamp,
        "version": "2.0.0",
        "isSidechain": False,
        "userType": "external",
    }
    lines = [
        {**base, "type": "user", "uuid": "1", "parentUuid": None, "message": {"role": "user", "content": "write the parser"}},
        {
            **base, "type": "assistant", "uuid": "2", "parentUuid": "1",
            "message": {"id": "m1", "role": "assistant", "model": "claude-opus", "content": [{"type": "text", "text": "I begin."}],
                        "usage": {"input_tokens": 10, "output_tokens": 5}},
        },
    ]  # fmt: skip
    (folder / f"{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
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
        await sees(app, pilot, "claude-opus", "I begin.")
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
