"""Every store, the same questions: a captured session is told, and whatever is done to it, nothing hangs, escapes or
is dropped without a word.

Each provider that has a folder under `tests/captures/stores` is asked by itself; a store without one fails.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import attrs
import pytest

from hub.domain.detection.intel import GLANCE, WHOLE, Limits, Place, SessionIntel, Unreadable
from hub.io.files import walk
from hub.io.files.walk import entries
from hub.io.stores import StoreFiles
from hub.providers import stores
from hub.providers.store import Store
from tests.hub.providers.stores import CAPTURES, FILES, REPO, hits_of, home_of, only

RUNS = sorted((path.parent.name, path.name) for path in CAPTURES.glob("*/*"))
PROVIDERS = stores.names()
FORMS = [(provider, run) for provider, run in RUNS if run.startswith("rich")]
"""Every format of every store; `rich` is the one that a provider has now."""
DATABASES = [form for form in FORMS if next(CAPTURES.joinpath(*form).rglob("*.sql"), None)]
LINES = [
    form
    for form in FORMS
    if form not in DATABASES and next((CAPTURES.joinpath(*form)).rglob("*.jsonl"), None)
]
every = pytest.mark.parametrize(("provider", "form"), FORMS)
on_databases = pytest.mark.parametrize(("provider", "form"), DATABASES)
on_lines = pytest.mark.parametrize(("provider", "form"), LINES)


on_documents = pytest.mark.parametrize(
    ("provider", "form"),
    [form for form in FORMS if form not in (*DATABASES, *LINES) and form[0] != "aider"],
)


@pytest.fixture
def home(provider: str, form: str, tmp_path: Path) -> Path:
    """The home directory of a rich session in this format."""
    return home_of(provider, form, tmp_path)


def files_of(home: Path, provider: str) -> list[Path]:
    """The files its sessions were found in."""
    return [Path(hit.path) for hit in hits_of(home, provider)]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_each_store_keeps_the_contract(provider):
    store: Store = stores.load(provider)
    places = store.locations("/home/x", {}, ["/home/x/repo"])
    assert places
    assert all(place.root.startswith("/home/x") and place.pattern for place in places)


def test_there_is_no_other_store():
    with pytest.raises(KeyError):
        stores.load("nobody")
    assert {name for name, _ in RUNS} == set(PROVIDERS), (
        "a store without a captured session is not known to work"
    )


@every
def test_a_session_is_told(provider, home):
    """The fields of the specification, from a session of the real program or of its documented format."""
    intel = only(home, provider)
    assert "hello.txt" in intel.initial_prompt
    assert intel.alarm == ""
    assert (intel.accounting.unknown, intel.accounting.damaged, intel.accounting.skipped_bytes) == (0, 0, 0)
    assert intel.session_id
    assert intel.cwd
    assert any(path.endswith("hello.txt") for path in intel.files_touched)
    assert intel.recent_turns[0].text == intel.initial_prompt
    assert {turn.role for turn in intel.recent_turns} == {"user", "assistant"}
    assert intel.message_count == len(intel.recent_turns)


@pytest.mark.parametrize(("provider", "run"), RUNS)
def test_no_captured_session_has_a_record_nobody_knows(provider, run, tmp_path):
    for hit in hits_of(home_of(provider, run, tmp_path), provider):
        for limits in (GLANCE, WHOLE):
            intel = stores.read(hit, FILES, limits)
            assert (intel.accounting.unknown, intel.alarm) == (0, "")
            assert intel.accounting.parsed


@every
def test_only_what_was_written_since_then_is_found(provider, home):
    found = stores.search(
        FILES, str(home), {}, time.time_ns() + 10**12, folders=[str(home / REPO)], only=[provider]
    )
    assert found == stores.Search(())


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_empty_home_has_no_sessions(provider, tmp_path):
    assert hits_of(tmp_path, provider) == []


# What may have been done to a store.


@every
def test_a_file_cut_anywhere_is_told_up_to_there(provider, home):
    """A record that is torn is counted as damaged, never taken for the end of the world."""
    path, whole = files_of(home, provider)[0], only(home, provider)
    data = path.read_bytes()
    for part in (3, 10, 50, 90, 99):
        path.write_bytes(data[: len(data) * part // 100])
        for intel in (only_or_alarm(home, provider), only_or_alarm(home, provider, GLANCE)):
            assert intel.alarm or intel.accounting.records <= whole.accounting.records + 1
            assert intel.message_count <= whole.message_count


def only_or_alarm(home, provider, limits=WHOLE):
    """The session; where not even the search can read its file, the alarm that says so."""
    found = stores.search(FILES, str(home), {}, 0, folders=[str(home / REPO)], only=[provider])
    if found.hits:
        return stores.read(found.hits[0], FILES, limits)
    return SessionIntel(alarm=" ".join(skip.why for skip in found.skipped))


@every
def test_bytes_of_any_kind_raise_nothing_and_alarm(provider, home):
    path = files_of(home, provider)[0]
    for junk in (
        b"\0" * 4096,
        b"\xff\xfe" * 2048,
        b"{" * 5000,
        b"[" * 100_000,
        b"null\n" * 50,
        b'{"a":1}\n' * 50,
    ):
        path.write_bytes(junk)
        intel = only_or_alarm(home, provider)
        assert intel.message_count == 0 or provider == "aider"
        assert intel.alarm or provider == "aider", junk[:8]


def swapped(value, name):
    """The value with an object in every member of this name, in JSON that a text holds too."""
    if isinstance(value, dict):
        return {key: {} if key == name else swapped(inner, name) for key, inner in value.items()}
    if isinstance(value, list):
        return [swapped(inner, name) for inner in value]
    if isinstance(value, str) and value.startswith("{"):
        with contextlib.suppress(ValueError):
            return json.dumps(swapped(json.loads(value), name))
    return value


@every
def test_a_member_of_another_type_raises_nothing(provider, home):
    """What no dict and no set can hold: a status, a tool's name. Agents' formats change, and models write into them."""
    files = [path for path in files_of(home, provider) if path.suffix in (".json", ".jsonl")]
    for path in files:
        data = path.read_text()
        lines = data.splitlines() if path.suffix == ".jsonl" else [data]
        records = [json.loads(line) for line in lines if line.strip()]
        for name in sorted(set(re.findall(r"(\w+)\\?\"\s?:", data))):
            path.write_text("".join(json.dumps(swapped(record, name)) + "\n" for record in records))
            only_or_alarm(home, provider)
        path.write_text(data)


@every
def test_a_link_in_the_place_of_a_session_is_not_followed(provider, home, tmp_path):
    """Neither to a file outside, nor to a folder, nor in a circle."""
    path = files_of(home, provider)[0]
    outside = tmp_path / "outside"
    path.rename(outside)
    path.symlink_to(outside)
    assert hits_of(home, provider) == []
    path.unlink()
    path.symlink_to(path)
    assert hits_of(home, provider) == []


@every
def test_a_link_that_comes_after_the_search_is_not_opened(provider, home, tmp_path):
    (hit,) = hits_of(home, provider)
    path = Path(hit.path)
    path.rename(tmp_path / "outside")
    path.symlink_to(tmp_path / "outside")
    intel = stores.read(hit, FILES)
    assert "cannot be read" in intel.alarm
    assert intel.message_count == 0


@every
def test_a_folder_that_becomes_a_link_after_the_search_is_not_entered(provider, home, tmp_path):
    (hit,) = hits_of(home, provider)
    folder = Path(hit.path).parent
    if folder == Path(hit.root):
        return
    folder.rename(tmp_path / "outside")
    folder.symlink_to(tmp_path / "outside")
    assert "cannot be read" in stores.read(hit, FILES).alarm
    assert hits_of(home, provider) == []


@every
def test_a_fifo_in_the_place_of_a_session_blocks_nobody(provider, home):
    (hit,) = hits_of(home, provider)
    path = Path(hit.path)
    path.unlink()
    os.mkfifo(path)
    assert hits_of(home, provider) == []
    assert "no regular file" in stores.read(hit, FILES).alarm


@every
def test_a_path_outside_of_the_root_is_refused(provider, home):
    (hit,) = hits_of(home, provider)
    for path in (f"{hit.root}/../../etc/passwd", "/etc/passwd", "etc/passwd", hit.root):
        assert stores.read(attrs.evolve(hit, path=path), FILES).alarm


@every
def test_a_file_that_is_gone_is_told(provider, home):
    (hit,) = hits_of(home, provider)
    Path(hit.path).unlink()
    assert stores.read(hit, FILES).alarm


def test_a_line_of_a_gigabyte_is_bounded_in_time_and_memory(tmp_path):
    """Sparse files: nothing is stored, but whoever reads all of one holds a gigabyte.

    One process for all formats. The peak is VmHWM: `ru_maxrss` outlives exec, so it would tell of the test runner.
    """
    asked = []
    for provider, form in FORMS:
        if (provider, form) in DATABASES:
            continue
        home = home_of(provider, form, tmp_path / provider / form)
        with files_of(home, provider)[0].open("ab") as file:
            file.truncate(1 << 30)
        asked += [str(home), provider]
    code = (
        "import re, sys; from pathlib import Path; from hub.io.stores import StoreFiles;"
        "from hub.providers import stores; files = StoreFiles();"
        "asked = list(zip(sys.argv[1::2], sys.argv[2::2]));"
        "hits = [stores.search(files, home, {}, 0, folders=[home + '/repo'], only=[name]).hits[0] for home, name in asked];"
        "told = [stores.read(hit, files).accounting for hit in hits];"
        "print(re.search(r'VmHWM:\\s*(\\d+)', Path('/proc/self/status').read_text())[1]);"
        "print(*(one.damaged + one.skipped_bytes for one in told))"
    )
    started = time.monotonic()
    done = subprocess.run([sys.executable, "-c", code, *asked], capture_output=True, text=True, check=True)
    peak, left_out = done.stdout.splitlines()
    assert all(map(int, left_out.split()))
    assert len(left_out.split()) == len(asked) // 2
    assert int(peak) // 1024 < 200
    assert time.monotonic() - started < 60


@on_databases
def test_a_view_that_never_ends_is_not_asked(provider, home):
    """A recursive view in the place of a table: SQLite itself would compute for ever."""
    path = files_of(home, provider)[0]
    (hit,) = hits_of(home, provider)
    with closing(sqlite3.connect(path)) as database, database:
        own = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        tables = [row[0] for row in database.execute(own)]
        for table in tables:
            database.execute(f'DROP TABLE "{table}"')
            database.execute(
                f'CREATE VIEW "{table}" AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n'
            )
    database.close()
    assert "has no table" in stores.read(hit, FILES).alarm
    found = stores.search(FILES, str(home), {}, 0, folders=[str(home / REPO)], only=[provider])
    assert "has no table" in found.skipped[0].why


@on_lines
def test_lines_that_stuck_together_are_all_read(provider, home):
    """Two processes that append at once: the newline between two records is lost."""
    path = files_of(home, provider)[0]
    whole = only(home, provider)
    path.write_bytes(path.read_bytes().replace(b"}\n{", b"}{"))
    assert only(home, provider) == whole


@on_lines
def test_turns_written_twice_count_once(provider, home):
    path = files_of(home, provider)[0]
    whole = only(home, provider)
    path.write_bytes(b"".join(line + b"\n" + line + b"\n" for line in path.read_bytes().splitlines()))
    intel = only(home, provider)
    assert (intel.message_count, intel.recent_turns) == (whole.message_count, whole.recent_turns)
    assert (intel.tokens_in, intel.tokens_out) == (whole.tokens_in, whole.tokens_out)
    assert intel.accounting.repeated >= len(path.read_bytes().splitlines()) // 2


@on_lines
def test_records_of_tomorrow_alarm_and_are_counted(provider, home):
    """New types in the place of the known ones: the session is not shown as an empty one."""
    path = files_of(home, provider)[0]
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"".join(_renamed(line) + b"\n" for line in lines))
    intel = only(home, provider)
    assert intel.accounting.records == len(lines)
    assert intel.accounting.unknown
    assert "format may have changed" in intel.alarm


def _renamed(line: bytes) -> bytes:
    value = json.loads(line)
    return json.dumps({"v2": True, "kind": "record", "blob": {"inner": value}}).encode()


@on_databases
def test_rows_of_tomorrow_alarm_and_are_counted(provider, home):
    """As with lines: what says of which type a thing is has another name."""
    path = files_of(home, provider)[0]
    with closing(sqlite3.connect(path)) as database, database:
        for table, column in _texts(database):
            database.execute(
                f"""UPDATE "{table}" SET "{column}" = replace("{column}", '"type":', '"sort":')"""
            )
            database.execute(
                f"""UPDATE "{table}" SET "{column}" = replace("{column}", '"type" :', '"sort":')"""
            )
    database.close()
    intel = only(home, provider)
    assert intel.accounting.unknown
    assert "format may have changed" in intel.alarm


def _texts(database):
    """Columns that hold JSON."""
    tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    for table in tables:
        for (column,) in database.execute("SELECT name FROM pragma_table_info(?)", (table,)).fetchall():
            if column in ("data", "parts", "content_json", "value"):
                yield table, column


@on_documents
def test_documents_of_tomorrow_alarm_and_are_counted(provider, home):
    """As with lines: what says of which type a thing is has another name."""
    for path in home.rglob("*.json"):
        path.write_text(re.sub(r'"(type|role|say|ask)"(?=:)', r'"new-\1"', path.read_text()))
    intel = only(home, provider)
    assert intel.message_count == 0
    assert intel.accounting.unknown
    assert intel.alarm


@on_lines
def test_one_record_of_a_new_type_is_counted_and_no_alarm(provider, home):
    path = files_of(home, provider)[0]
    whole = only(home, provider)
    with path.open("ab") as file:
        file.write(b'{"type": "something-new", "role": "something-new", "v2": true}\n')
    intel = only(home, provider)
    assert intel.accounting.unknown == 1
    assert intel.alarm == ""
    assert intel.recent_turns == whole.recent_turns


@on_lines
def test_a_glance_at_a_long_session_has_its_ends_and_says_what_it_left_out(provider, home):
    path = files_of(home, provider)[0]
    whole = only(home, provider)
    first, *rest = path.read_bytes().splitlines(keepends=True)
    filler = json.dumps({"type": "something-new", "pad": "x" * 1000}).encode() + b"\n"
    head = b"".join(rest[: len(rest) // 2])
    path.write_bytes(first + head + filler * 4000 + b"".join(rest[len(rest) // 2 :]))
    glance = only(home, provider, Limits(head=16 * 1024, tail=64 * 1024))
    assert glance.initial_prompt == whole.initial_prompt
    assert glance.recent_turns[-1] == whole.recent_turns[-1]
    assert glance.accounting.skipped_bytes > 3_000_000
    assert only(home, provider).accounting.skipped_bytes == 0


# The search of all of them.


def test_a_turn_of_codex_is_at_work_until_it_ends(tmp_path):
    """Its daemon holds a session open long after its last turn; where a part is left out, a turn may have begun in it."""
    home = home_of("codex", "rich", tmp_path)
    (path,) = files_of(home, "codex")
    told = [only(home, "codex").at_work]
    for kind, words in (
        ("task_started", ""),
        ("turn_aborted", "x" * 400_000),
        ("token_count", "x" * 400_000),
    ):
        with path.open("a") as file:
            file.write(json.dumps({"type": "event_msg", "payload": {"type": kind, "words": words}}) + "\n")
        told.append(only(home, "codex", GLANCE).at_work)
    assert told == [False, True, False, True]


@pytest.mark.parametrize(
    ("header", "root"),
    [
        ({"thread_source": "user", "session_id": "c", "source": "exec"}, ""),
        ({"thread_source": "subagent", "session_id": "root", "parent_thread_id": "above"}, "root"),
        ({"thread_source": "subagent", "session_id": "c", "parent_thread_id": "above"}, "above"),
        ({"source": {"subagent": {"thread_spawn": {"parent_thread_id": "above", "depth": 1}}}}, "above"),
        ({"source": {"subagent": "review"}}, ""),
    ],
)
def test_a_subagent_of_codex_says_whose_it_is(header, root, tmp_path):
    """As the real one writes it, 0.169; what it copies of its parent comes after its own header."""
    folder = tmp_path / ".codex/sessions/2026/11/28"
    folder.mkdir(parents=True)
    headers = ({"id": "c", "cwd": "/w", **header}, {"id": "root", "cwd": "/w", "thread_source": "user"})
    lines = [json.dumps({"type": "session_meta", "payload": one}) for one in headers]
    (folder / "rollout-x.jsonl").write_text("\n".join(lines) + "\n")
    told = only(tmp_path, "codex", GLANCE)
    assert (told.session_id, told.part_of) == ("c", root)


def test_every_agents_sessions_are_found_at_once(tmp_path):
    """One home with all of them: nobody takes another's session for its own."""
    for provider in PROVIDERS:
        shutil.copytree(home_of(provider, "rich", tmp_path / provider), tmp_path / "all", dirs_exist_ok=True)
    found = stores.search(FILES, str(tmp_path / "all"), {}, 0, folders=[str(tmp_path / "all" / REPO)])
    assert sorted(hit.provider for hit in found.hits) == sorted(PROVIDERS)
    assert list(found.hits) == sorted(found.hits, key=lambda hit: hit.mtime_ns, reverse=True)
    told = [stores.read(hit, FILES) for hit in found.hits]
    assert all(intel.alarm == "" and intel.message_count for intel in told)


def test_a_place_that_takes_too_long_is_told_and_the_others_are_searched(tmp_path, monkeypatch):
    home = home_of("claude", "rich", tmp_path)
    many = home / ".codex" / "archived_sessions"
    many.mkdir(parents=True)
    for number in range(600):
        (many / f"rollout-{number}.jsonl").touch()
    now = [0.0]

    def listed(folder):
        now[0] += 10 * folder.endswith("archived_sessions")
        return entries(folder)

    monkeypatch.setattr(walk, "time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr(walk, "entries", listed)
    found = stores.search(StoreFiles(walk_seconds=5), str(home), {}, 0, only=["claude", "codex"])
    assert [hit.provider for hit in found.hits if hit.provider == "claude"] == ["claude"]
    assert [skip.provider for skip in found.skipped] == ["codex"]
    assert "took too long" in found.skipped[0].why


def test_a_session_that_takes_too_long_keeps_what_was_read_and_alarms(tmp_path):
    home = home_of("claude", "rich", tmp_path)
    assert "took too long" in only(home, "claude", Limits(seconds=0)).alarm


def test_a_session_that_is_there_twice_is_found_once(tmp_path):
    """A migration leaves the older copy behind."""
    home = home_of("codex", "rich", tmp_path)
    (path,) = files_of(home, "codex")
    archive = home / ".codex" / "archived_sessions"
    archive.mkdir()
    shutil.copy(path, archive)
    os.utime(path, (1, 1))
    (hit,) = hits_of(home, "codex")
    assert Path(hit.path).parent == archive


def test_the_walk_finds_only_what_the_pattern_fits(tmp_path):
    for name in ("a/x.jsonl", "a/b/x.jsonl", "a/x.json", "x.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    found = FILES.walk(Place(str(tmp_path), ("*", "*.jsonl")), 0)
    assert [one.path for one in found] == [str(tmp_path / "a/x.jsonl")]


def test_the_root_itself_may_be_a_link(tmp_path):
    """People keep such folders elsewhere and link to them."""
    home = home_of("claude", "rich", tmp_path)
    (home / ".claude").rename(tmp_path / "dotfiles")
    (home / ".claude").symlink_to(tmp_path / "dotfiles")
    assert only(home, "claude").message_count == 4


def test_a_file_without_permission_is_told(tmp_path, monkeypatch):
    home = home_of("claude", "rich", tmp_path)
    (hit,) = hits_of(home, "claude")
    monkeypatch.setattr(os, "pread", _denied)
    assert stores.read(hit, FILES).alarm.endswith("Permission denied.")


def _denied(*_):
    raise PermissionError(13, "Permission denied")


def test_what_is_no_path_is_no_file():
    for path in ("/x/\0y", "relative"):
        with pytest.raises(Unreadable), FILES.open("/x", path, GLANCE):
            pass
