"""What sessions have more is read once, from where the ledger stands; a look at what has not grown reads nothing."""

import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import attrs
import pytest

from hub.actors.detector import meter as module
from hub.actors.detector.meter import SessionMeter
from hub.domain.detection.detected import DetectedAgent, KeptSession
from hub.domain.detection.intel import WHOLE, SessionIntel, StoreHit
from hub.domain.quota.elsewhere import UNSEEN, Elsewhere
from hub.io.stores import StoreFiles
from hub.providers import jsonline, stores
from hub.providers.registry import spent
from tests.hub.providers.stores import home_of

STORES = Path(__file__).parents[3] / "captures/stores"
AT = "2026-11-21T03:00:00.000Z"


def answer(name, tokens, **more):
    message = {
        "id": name,
        "role": "assistant",
        "model": "m",
        "content": [],
        "usage": {"output_tokens": tokens},
    }
    return (
        json.dumps({"type": "assistant", "requestId": "r", "timestamp": AT, "message": message, **more})
        + "\n"
    )


def session(path, provider="claude", cwd="/home/dev/repo"):
    hit = StoreHit(
        provider=provider,
        path=str(path),
        session_id=path.stem,
        mtime_ns=time.time_ns(),
        root=str(path.parent),
    )
    return DetectedAgent(provider=provider, account="work", kept=KeptSession(hit, SessionIntel(cwd=cwd)))


class Followed:
    """A meter and a ledger that counts all it is told."""

    def __init__(self, *found):
        self.meter = SessionMeter(spent, StoreFiles(), {})
        self.meter.follow(found)
        self.ledger = {}

    def look(self):
        """Names and tokens of what is new."""
        growths = self.meter.look()
        self.ledger |= {growth.session: growth.until for growth in growths}
        self.meter.counted(growths, dict(self.ledger))
        return [(used.name.split(":")[0], used.tokens) for growth in growths for used in growth.used]


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "one.jsonl"
    found.write_text('{"type":"user"}\n' + answer("a", 1) + answer("a", 1))
    return found


def append(path, text):
    with path.open("a") as file:
        file.write(text)


def test_only_what_was_appended_is_read(path, monkeypatch):
    followed = Followed(session(path))
    assert followed.look() == [("a", 1), ("a", 1)]
    append(path, answer("b", 2))
    assert followed.look() == [("b", 2)]
    monkeypatch.setattr(StoreFiles, "open", lambda *_: pytest.fail("nothing has changed"))
    assert followed.look() == []


def test_what_subagents_of_codex_keep_is_counted_though_it_is_no_session(path, tmp_path):
    other = tmp_path / "two.jsonl"
    other.write_text(answer("b", 2))
    whole = attrs.evolve(session(path), parts=(session(other).kept,))
    assert sorted(Followed(whole).look()) == [("a", 1), ("a", 1), ("b", 2)]


def test_a_torn_line_waits_for_its_end(path):
    followed = Followed(session(path))
    followed.look()
    line = answer("b", 2)
    append(path, line[:40])
    assert followed.look() == []
    append(path, line[40:])
    assert followed.look() == [("b", 2)]


def test_what_the_ledger_did_not_count_is_told_again(path):
    meter = SessionMeter(spent, StoreFiles(), {})
    meter.follow([session(path)])
    first = meter.look()
    meter.counted(first, None)  # it is being restarted
    assert meter.look() == first
    meter.counted(first, {})  # it has lost what it was told
    assert meter.look() == first
    meter.counted(first, {first[0].session: first[0].until})
    assert (meter.look(), first[0].since) == ((), UNSEEN)


def test_a_new_scan_goes_on_where_the_one_before_stood(path, tmp_path):
    followed = Followed(session(path))
    followed.look()
    other = tmp_path / "two.jsonl"
    other.write_text(answer("c", 3))
    followed.meter.follow([session(path), session(other)])
    assert followed.look() == [("c", 3)]


def test_a_session_that_hub_runs_is_stepped_over(path):
    """What its own agents spend is in the event log; counted here as well it would be twice."""
    mine = session(path, cwd="/home/dev/repo/.hub/worktrees/s-1")
    followed = Followed(mine)
    assert followed.look() == []
    followed.meter.follow([session(path)])
    append(path, answer("b", 2))
    assert followed.look() == [("b", 2)]
    append(path, answer("b", 2))
    followed.meter.follow([mine])
    assert followed.look() == []
    append(path, answer("c", 3))
    followed.meter.follow([session(path)])
    assert followed.look() == [("c", 3)]


def test_a_file_that_was_cut_is_read_anew_and_one_that_is_gone_is_not(path):
    followed = Followed(session(path))
    followed.look()
    path.write_text(answer("z", 9))
    assert followed.look() == [("z", 9)]
    path.unlink()
    assert followed.look() == []


def test_a_long_file_is_read_from_near_its_end_and_a_long_growth_in_parts(path, monkeypatch):
    monkeypatch.setattr(module, "MOST", 400)
    append(path, "".join(answer(f"m{number}", 1) for number in range(40)))
    followed = Followed(session(path))
    assert followed.look() == [("m38", 1), ("m39", 1)]
    append(path, answer("n1", 1) + "x" * 1000 + "\n" + answer("n2", 2))
    seen = [name for _ in range(9) for name, _ in followed.look()]
    assert seen == ["n1", "n2"]


def test_a_link_is_not_followed(path, tmp_path):
    """Whoever may write into an agent's folder chooses what lies there."""
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    assert Followed(session(link)).look() == []


def test_agents_whose_files_tell_nothing_are_not_looked_at(path):
    assert Followed(session(path, "copilot"), session(path, "cursor")).look() == []
    old = path.rename(path.with_suffix(".json"))  # written anew each time: nothing in it is appended
    assert Followed(session(old, "gemini")).look() == []


def test_what_subagents_spend_counts_for_their_session(path, tmp_path):
    """Claude Code writes each one's answers to a file of its own, also long after its session was found."""
    followed = Followed(session(path))
    followed.look()
    beside = tmp_path / "one" / "subagents"
    beside.mkdir(parents=True)
    first = beside / "agent-1.jsonl"
    first.write_text(answer("s", 5, isSidechain=True))
    assert followed.look() == [("s", 5)]
    assert followed.look() == []
    append(first, answer("t", 6, isSidechain=True))
    (beside / "agent-2.jsonl").write_text(answer("u", 7, isSidechain=True))
    assert sorted(followed.look()) == [("t", 6), ("u", 7)]
    again = SessionMeter(spent, StoreFiles(), dict(followed.ledger))  # the daemon was restarted
    again.follow([session(path)])
    assert again.look() == ()
    (beside / "agent-3.jsonl").write_text(answer("v", 8, isSidechain=True))
    [growth] = again.look()
    assert (growth.account, growth.used[0].tokens) == ("work", 8)


def test_what_subagents_of_hubs_own_session_spend_is_stepped_over(path, tmp_path):
    beside = tmp_path / "one" / "subagents"
    beside.mkdir(parents=True)
    (beside / "agent-1.jsonl").write_text(answer("s", 5))
    assert Followed(session(path, cwd="/home/dev/repo/.hub/worktrees/s-1")).look() == []


def test_a_folder_of_subagents_that_is_a_link_is_not_followed(path, tmp_path):
    (elsewhere := tmp_path.parent / f"{tmp_path.name}-elsewhere").mkdir()
    (elsewhere / "agent-1.jsonl").write_text(answer("s", 5))
    (tmp_path / "one").mkdir()
    (tmp_path / "one" / "subagents").symlink_to(elsewhere)
    assert Followed(session(path)).look() == [("a", 1), ("a", 1)]


@pytest.fixture
def database(tmp_path):
    """OpenCode's, with a session of three steps; the user has it open."""
    found = next(home_of("opencode", "rich", tmp_path).rglob("opencode.db"))
    with closing(sqlite3.connect(found, isolation_level=None)) as opened, opened:
        opened.execute("PRAGMA journal_mode=WAL")
        yield found, opened
    opened.close()


def steps(opened, name, at, *, folder="/home/dev/repo", above=None):
    """One more session with one step of 10 tokens, made at that moment."""
    data = json.dumps({"type": "step-finish", "tokens": {"input": 9, "output": 1}})
    project = opened.execute("SELECT project_id FROM session").fetchone()[0]
    row = {
        "id": f"ses_{name}",
        "project_id": project,
        "parent_id": above,
        "slug": name,
        "directory": folder,
        "title": name,
        "version": "1",
        "time_created": at,
        "time_updated": at,
    }
    opened.execute(
        f"INSERT INTO session ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", [*row.values()]
    )
    opened.execute("INSERT INTO message VALUES (?, ?, ?, ?, '{}')", (f"msg_{name}", f"ses_{name}", at, at))
    opened.execute(
        "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
        (f"prt_{name}", f"msg_{name}", f"ses_{name}", at, at, data),
    )


class Counted(Followed):
    """The ledger itself behind the meter: what is told again counts once."""

    def __init__(self, *found, elsewhere=None):
        super().__init__(*found)
        self.elsewhere = elsewhere or Elsewhere()
        self.meter.places = dict(self.elsewhere.places)

    def tokens(self, now):
        growths = self.meter.look()
        counted = sum(self.elsewhere.count(growth, now)[0] for growth in growths)
        self.meter.counted(growths, dict(self.elsewhere.places))
        return counted


def test_the_steps_of_a_database_count_once_whoever_wrote_first(database):
    """Sessions write at the same time: a row with an earlier moment may be there later. One of hub's own does not count."""
    path, opened = database
    [(last,)] = opened.execute("SELECT max(time_created) FROM part").fetchall()
    now, one = last / 1000, session(path, "opencode")
    hit = attrs.evolve(one.kept.hit, mtime_ns=last * 1_000_000)
    one = attrs.evolve(one, kept=attrs.evolve(one.kept, hit=hit))
    followed = Counted(one)
    assert followed.tokens(now) == 3 * 167
    assert followed.tokens(now) == 0
    steps(opened, "late", last - 5)
    steps(opened, "sub", last + 7, above="ses_late")
    steps(opened, "hubs", last + 9, folder="/home/dev/repo/.hub/worktrees/s-1")
    assert followed.tokens(now) == 20
    again = Counted(one, elsewhere=followed.elsewhere)  # the daemon was restarted
    assert again.tokens(now) == 0
    steps(opened, "new", last + 11)
    assert again.tokens(now) == 10


def test_a_database_that_cannot_be_read_is_looked_at_when_it_has_changed(tmp_path):
    path = tmp_path / "opencode.db"
    path.write_bytes(b"no database")
    assert Followed(session(path, "opencode")).look() == []


def lines(name, pattern):
    found = next((STORES / name).glob(pattern))
    return [jsonline.read(line) for line in found.read_bytes().splitlines()]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("claude", "rich/**/projects/*/*.jsonl"),
        ("codex", "rich/**/rollout-*.jsonl"),
        ("gemini", "rich/**/session-*.jsonl"),
        ("qwen", "rich/**/chats/*.jsonl"),
    ],
)
def test_the_answers_of_a_real_session_add_up_to_what_its_store_tells(name, pattern):
    client = spent(name)
    told = [used for line in lines(name, pattern) if (used := client.answer(line, "s")) is not None]
    whole = sum({used.name: used.tokens for used in told}.values())
    path = next((STORES / name).glob(pattern))
    hit = StoreHit(provider=name, path=str(path), root=str(STORES), kind="lines")
    intel = stores.read(hit, StoreFiles(), WHOLE)
    assert whole == intel.tokens_in + intel.tokens_out > 0
    assert len(told) > len({used.name for used in told}) or name in ("codex", "qwen")
    assert all(
        client.mark in line
        for line in path.read_bytes().splitlines()
        if client.answer(jsonline.read(line) or {}, "s")
    )
    assert all(used.at > 1_700_000_000 for used in told)
