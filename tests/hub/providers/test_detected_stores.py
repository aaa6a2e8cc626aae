"""What the sessions of agents that hub only detects tell, field by field, and what surprises in each format."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import tests.hub.providers.stores
from hub.domain.detection.intel import GLANCE, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.providers import chat, stores
from tests.hub.providers.stores import CAPTURES, FILES, hits_of, home_of, only

HELLO, CHECK = "Write hello.txt", "Check it"
PLAN = {"plan": (HELLO, CHECK), "tasks_remaining": (CHECK,)}
TWICE = {"tokens_in": 268, "tokens_out": 66, "tokens_exact": True}
"""Two requests with 101 new, 22 cached and 11 written tokens each."""
NONE = {"tokens_in": 0, "tokens_out": 0}
TOLD = {
    "amp/rich": {"model": "claude-sonnet-4-5-20250929", **TWICE},
    "antigravity/rich": {**PLAN, **NONE},
    "cline/rich": {"model": "gpt-5", "tokens_in": 303, "tokens_out": 99},
    "cline/rich_editor": {"model": "claude-sonnet-4-5", **PLAN, **TWICE},
    "crush/rich": {"model": "claude-sonnet-4-5", **PLAN, "tokens_exact": False},
    "cursor/rich": {**PLAN, **NONE},
    "cursor/rich_editor": {"model": "claude-4.5-sonnet", **TWICE},
    "droid/rich": {"model": "custom:Fake-0", "tokens_in": 402, "tokens_out": 99, "tokens_exact": True},
    "gemini/rich_document": {"model": "gemini-2.5-pro", "tokens_in": 268, "tokens_out": 66},
    "goose/rich": {"model": "claude-sonnet-4-5", "mcps": ("developer",), **TWICE},
    "goose/rich_lines": {"mcps": ("developer",), "tokens_in": 202, "tokens_out": 66},
    "kilo/rich": {"model": "claude-sonnet-5-5", "tokens_in": 402, "tokens_out": 99, "tokens_exact": True},
    "kilo/rich_editor": {**PLAN, **TWICE},
    "kimi/rich": {"model": "claude-sonnet-5-5", **PLAN, "tokens_in": 536, "tokens_out": 132},
    "kimi/rich_cli": TWICE,
    "opencode/rich_tree": {"model": "claude-sonnet-4-5", **PLAN, **TWICE},
    "pi/rich": {"model": "claude-sonnet-4-5", "tokens_in": 402, "tokens_out": 99},
    "roo/rich": {**PLAN, **TWICE},
}


@pytest.mark.parametrize("run", TOLD)
def test_every_field_is_told(run, tmp_path):
    provider, form = run.split("/")
    intel = only(home_of(provider, form, tmp_path), provider)
    assert intel.initial_prompt.endswith("hello.txt, then check it.")
    assert [path.rpartition("/")[2] for path in intel.files_touched] == ["hello.txt"]
    assert intel.cwd in ("/home/dev/repo", str(tmp_path / "home" / "repo"))
    assert {name: getattr(intel, name) for name in TOLD[run]} == TOLD[run]


WELL = {
    "amp/rich": ('"status": "done"', '"status": "error"'),
    "amp/rich ": ('"status": "done"', '"status": "rejected-by-user"'),
    "cline/rich": ('"tool_use_id": ', '"is_error": true, "tool_use_id": '),
    "cursor/rich_editor": ('"status": "completed", "name"', '"status": "cancelled", "name"'),
    "droid/rich": ('"is_error":false', '"is_error":true'),
    "goose/rich_lines": ('"toolResult":{"status":"success"', '"toolResult":{"status":"error"'),
    "kimi/rich": ('"result":{', '"result":{"isError":true,'),
    "kimi/rich_cli": ('"is_error":false', '"is_error":true'),
    "pi/rich": ('"isError":false', '"isError":true'),
}
"""How a call's result says that all went well, and how that it did not."""


@pytest.mark.parametrize("run", WELL)
def test_a_call_that_failed_has_changed_nothing(run, tmp_path, monkeypatch):
    """A file that was to be written, and a plan that was to be set, counted as soon as the tool was called."""
    provider, form = run.strip().split("/")
    captures = Path(shutil.copytree(CAPTURES / provider / form, tmp_path / "captures" / provider / form))
    changed = 0
    for path in filter(Path.is_file, captures.rglob("*")):
        text = path.read_text()
        changed += text.count(WELL[run][0])
        path.write_text(text.replace(*WELL[run]))
    assert changed
    monkeypatch.setattr(tests.hub.providers.stores, "CAPTURES", tmp_path / "captures")
    intel = only(home_of(provider, form, tmp_path), provider)
    assert (intel.files_touched, intel.plan) == ((), ())


def lines_of(home: Path) -> tuple[Path, list[dict]]:
    """The one file of lines in this home directory, and its records."""
    (path,) = home.rglob("*.jsonl")
    return path, [json.loads(line) for line in path.read_text().splitlines()]


def written(path: Path, records: list[dict]) -> None:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))


def test_pi_going_back_leaves_the_abandoned_branch_out_of_the_recent_turns(tmp_path):
    """Its file is a tree; what stands last in it goes on from wherever its parent is."""
    home = home_of("pi", "rich", tmp_path)
    path, records = lines_of(home)
    prompt = next(one for one in records if one.get("message", {}).get("role") == "user")
    again = {**prompt, "id": "again", "message": {"role": "user", "content": "Write bye.txt instead."}}
    written(path, [*records, {**again, "parentId": prompt["id"]}])
    said = [turn.text for turn in only(home, "pi").recent_turns]
    assert said == ["Write the file hello.txt, then check it.", "Write bye.txt instead."]
    written(path, [*records, {**again, "parentId": None}])
    assert [turn.text for turn in only(home, "pi").recent_turns] == ["Write bye.txt instead."]
    written(path, [*records, {**again, "parentId": records[-1]["id"]}])
    assert len(only(home, "pi").recent_turns) == 5


def test_kimi_a_tool_server_says_something_new_and_it_is_counted(tmp_path):
    """Families of events are known; a new event of a known family tells nothing, one of a new family is unknown."""
    home = home_of("kimi", "rich", tmp_path)
    path, records = lines_of(home)
    written(path, [*records, {"type": "llm.something"}, {"type": "teleport.begin"}])
    account = only(home, "kimi").accounting
    assert (account.unknown, account.unknown_kinds) == (1, ("teleport.begin",))


def test_droid_the_plan_in_force_is_a_list_or_a_text(tmp_path):
    """No session of a real one has it: the model that wrote ours was not offered the tool."""
    home = home_of("droid", "rich", tmp_path)
    path, records = lines_of(home)
    steps = [{"content": HELLO, "status": "completed"}, {"content": CHECK, "status": "in_progress"}]
    for told in ({"todos": steps}, f"1. [completed] {HELLO}\n2. [in_progress] {CHECK}"):
        written(path, [*records, {"type": "todo_state", "todos": told}])
        intel = only(home, "droid")
        assert {name: getattr(intel, name) for name in PLAN} == PLAN


@pytest.mark.parametrize(
    ("provider", "variable", "place"),
    [("droid", "FACTORY_HOME_OVERRIDE", ""), ("cline", "CLINE_DATA_DIR", ".cline/data")],
)
def test_the_sessions_are_found_where_the_environment_moves_them(provider, variable, place, tmp_path):
    home = home_of(provider, "rich", tmp_path)
    assert hits_of(Path("/nowhere"), provider, {variable: str(home / place)})


def test_a_block_that_nobody_knows_makes_its_message_unknown_but_its_words_are_told(tmp_path):
    home = home_of("droid", "rich", tmp_path)
    path, records = lines_of(home)
    records[-2]["message"]["content"].append({"type": "hologram"})
    written(path, records)
    intel = only(home, "droid")
    assert (intel.accounting.unknown, intel.accounting.unknown_kinds) == (1, ("block/hologram",))
    assert intel.recent_turns[-1].text == "Wrote hello.txt and checked it."


def test_only_sessions_of_people_are_found_in_a_database(tmp_path):
    """The dumps have a subagent's session each."""
    for provider, form in (("goose", "rich"), ("crush", "rich"), ("cursor", "rich_editor")):
        (hit,) = hits_of(home_of(provider, form, tmp_path / provider), provider)
        assert hit.mtime_ns == 1_785_664_809 * 10**9


def test_cursor_the_list_of_conversations_may_be_a_value_or_missing(tmp_path):
    """Three generations of one database; without a list its gigabytes are not walked, and that is told."""
    home = home_of("cursor", "rich_editor", tmp_path)
    (path,) = home.rglob("state.vscdb")
    with closing(sqlite3.connect(path)) as database, database:
        (head,) = database.execute("SELECT value FROM composerHeaders WHERE NOT isSubagent").fetchone()
        database.execute("DROP TABLE composerHeaders")
        listing = json.dumps({"allComposers": [json.loads(head)]})
        database.execute("INSERT INTO ItemTable VALUES ('composer.composerHeaders', ?)", (listing.encode(),))
        database.commit()
        assert only(home, "cursor").cwd == "/home/dev/repo"
        database.execute("DELETE FROM ItemTable")
        database.commit()
        found = stores.search(FILES, str(home), {}, 0, only=["cursor"])
        assert "no list" in found.skipped[0].why
        database.execute("DELETE FROM cursorDiskKV")
        database.commit()
    database.close()
    assert hits_of(home, "cursor") == []


def test_cursor_bubbles_that_are_missing_or_new_are_counted_and_older_ones_are_in_the_conversation(tmp_path):
    home = home_of("cursor", "rich_editor", tmp_path)
    (path,) = home.rglob("state.vscdb")
    (hit,) = hits_of(home, "cursor")
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("DELETE FROM cursorDiskKV WHERE key LIKE '%:b2'")
        new = json.dumps({"type": 7, "text": "A hologram."})
        database.execute("UPDATE cursorDiskKV SET value = ? WHERE key LIKE '%:b3'", (new,))
        extra = f"bubbleId:{hit.session_id}:stale"
        database.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (extra, new))
        database.commit()
        account = only(home, "cursor").accounting
        assert (account.damaged, account.unknown_kinds, account.ignored) == (1, ("bubble/7",), 1)
        inline = json.dumps({"conversation": [{"type": 1, "bubbleId": "i1", "text": "Hello."}]})
        database.execute("DELETE FROM cursorDiskKV WHERE key LIKE 'bubbleId%'")
        database.execute("UPDATE cursorDiskKV SET value = ?", (inline,))
        database.commit()
        assert only(home, "cursor").initial_prompt == "Hello."
        database.execute("DELETE FROM cursorDiskKV")
        database.commit()
    database.close()
    assert "No message could be read" in only(home, "cursor").alarm


def test_antigravity_a_session_without_an_id_in_the_history_is_found_by_its_prompt(tmp_path):
    """The editor writes no id there."""
    home = home_of("antigravity", "rich", tmp_path)
    history = home / ".gemini" / "antigravity-cli" / "history.jsonl"
    rows = [json.loads(line) for line in history.read_text().splitlines()]
    written(history, [{name: row[name] for name in row if name != "conversationId"} for row in rows])
    assert only(home, "antigravity", GLANCE).cwd == "/home/dev/repo"
    history.unlink()
    assert only(home, "antigravity").cwd == ""


def test_every_format_by_its_document_is_told_field_by_field():
    """A format that is added has its line above."""
    real = {"claude", "codex", "gemini/rich", "opencode/rich", "qwen", "copilot", "aider"}
    forms = {f"{path.parent.name}/{path.name}" for path in CAPTURES.glob("*/rich*")}
    assert {form for form in forms if form not in real and form.split("/")[0] not in real} == set(TOLD)


def test_the_page_names_every_agent_that_is_detected():
    page = (Path(__file__).parents[3] / "docs/commands.md").read_text()
    told = page.partition("### `hub detect`")[2].partition("\n### ")[0]
    assert [name for name in stores.DETECTED.values() if name not in told] == []


def test_words_of_the_message_that_calls_are_no_word_of_the_calls_end():
    draft = IntelDraft()
    call = {"type": "tool_use", "id": "t", "name": "Write", "input": {"file_path": "a.py"}}
    chat.message(draft, {"role": "assistant", "content": [{"type": "text", "text": "I write it."}, call]})
    hit = StoreHit(provider="p", path="/s/1.jsonl", session_id="s-1", cwd="/repo")
    assert not draft.finish(hit).files_touched
    chat.message(draft, {"role": "assistant", "content": "Done."})
    assert draft.finish(hit).files_touched == ("a.py",)
