"""What sessions have more is read once, from where the ledger stands; a look at what has not grown reads nothing."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from hub.actors.detector import meter as module
from hub.actors.detector.meter import Meter
from hub.domain.detection.detected import Detected, Kept
from hub.domain.detection.intel import WHOLE, SessionIntel, StoreHit
from hub.domain.quota.elsewhere import UNSEEN
from hub.io.stores import StoreFiles
from hub.providers import stores
from hub.providers.quota import document
from hub.providers.registry import quota_client

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
    return Detected(provider=provider, account="work", kept=Kept(hit, SessionIntel(cwd=cwd)))


class Followed:
    """A meter and a ledger that counts all it is told."""

    def __init__(self, *found):
        self.meter = Meter(quota_client, StoreFiles(), {})
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


def test_a_torn_line_waits_for_its_end(path):
    followed = Followed(session(path))
    followed.look()
    line = answer("b", 2)
    append(path, line[:40])
    assert followed.look() == []
    append(path, line[40:])
    assert followed.look() == [("b", 2)]


def test_what_the_ledger_did_not_count_is_told_again(path):
    meter = Meter(quota_client, StoreFiles(), {})
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
    assert Followed(session(path, "gemini"), session(path, "cursor")).look() == []


def lines(name, pattern):
    found = next((STORES / name).glob(pattern))
    return [document(line) for line in found.read_bytes().splitlines()]


@pytest.mark.parametrize(
    ("name", "pattern"),
    [("claude", "rich/**/projects/*/*.jsonl"), ("codex", "rich/**/rollout-*.jsonl")],
)
def test_the_answers_of_a_real_session_add_up_to_what_its_store_tells(name, pattern):
    client = quota_client(name)
    told = [used for line in lines(name, pattern) if (used := client.spent(line, "s")) is not None]
    whole = sum({used.name: used.tokens for used in told}.values())
    path = next((STORES / name).glob(pattern))
    hit = StoreHit(provider=name, path=str(path), root=str(STORES))
    intel = stores.read(hit, StoreFiles(), WHOLE)
    assert whole == intel.tokens_in + intel.tokens_out > 0
    assert len(told) > len({used.name for used in told}) or name == "codex"
    assert all(used.at > 1_700_000_000 for used in told)
