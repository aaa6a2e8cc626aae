"""`hub quota`: a bar, the pace, the wall, the reset, the source and its age; nothing that was not told."""

from datetime import UTC, datetime
from typing import get_args

import click

from hub.api.quota import Entry
from hub.cli.commands.quota import _told, quota, table
from hub.cli.local import offline
from hub.domain.config.model import ProviderSettings
from hub.domain.config.reader import Config
from hub.domain.quota.spoken import SOURCES, SOURCES_BRIEFLY
from hub.domain.quota.window import Source
from tests.sample import sample

WINDOW = {
    "window": "five_hour", "remaining": 58, "total": 100, "unit": "percent", "fractionUsed": 0.42,
    "resetsAt": "2026-01-01T05:00:00.000Z", "source": "stream", "readAt": "2026-01-01T00:00:00.000Z",
    "ageSeconds": 5, "burnPerMin": 0.5, "etaMinutes": 116.0, "etaLowMinutes": 80.0, "etaHighMinutes": 250.0,
    "forecast": "ready",
}  # fmt: skip


def entry(windows=(), **figures):
    given = {"provider": "claude", "account": "work", **WINDOW, **figures}
    more = {"rises": [], "burned": [], "burnedSince": "2026-01-01T00:00:00.000Z"}
    return sample(Entry, **given, windows=[{**one, **more} for one in windows or [WINDOW]])


def test_a_line_tells_it_all():
    now = datetime(2026, 1, 1, 2, 30, tzinfo=UTC)
    assert table([entry()], now=now).splitlines()[1] == (
        "claude/work  5-hour  [####------]  42%   58 %  "
        "0.5%/min, wall in 116 min (80 min to 4 h 10 min)  in 2 h 30 min (05:00 UTC)  its agent, 5 s old"
    )
    later = datetime(2026, 1, 2, tzinfo=UTC)
    assert "  was 01 Jan 05:00 UTC  " in table([entry()], now=later), "no reset is announced that has been"


def test_the_source_of_a_figure_is_told_in_words():
    """A figure that hub had read in an agent's own files was said to come from "store"."""
    assert SOURCES_BRIEFLY.keys() == SOURCES.keys() == set(get_args(Source))
    assert table([entry(source="store")]).endswith("  its files, 5 s old")


def test_what_is_not_known_is_said_so():
    line = table([entry(burnPerMin=None, etaMinutes=None, forecast="accumulating", resetsAt=None)])
    assert "  not known yet  " in line
    assert "  not known  " in line
    assert "nothing is used" in table([entry(burnPerMin=0.0, etaMinutes=None, forecast="idle")])
    assert "unknown" in table([sample(Entry, provider="codex", account="a")])


def test_what_would_make_it_known_is_said_for_each_agent(monkeypatch):
    """It was "unknown: claude/default", and nothing to do about it."""
    entries = [sample(Entry, provider=name, account="a") for name in ("claude", "codex", "qwen", "claude")]
    asked = Config(providers={"codex": ProviderSettings(quota_endpoint=True)})
    monkeypatch.setattr(offline.OfflineProject, "config", lambda _: asked)
    told = _told(click.Context(quota, obj={"project": None}), entries, windows=False)
    assert told.splitlines()[1:] == [
        "  let hub ask its maker: hub config set --user providers.claude.quotaEndpoint true",
        "  its maker has not told it yet; is codex logged in? hub doctor",
        "  count a cap of yours: hub config set providers.qwen.declaredCap TOKENS_A_DAY",
    ]


def test_tokens_and_long_times():
    line = table([entry(unit="tokens", remaining=1_500_000, etaHighMinutes=10_000.0, ageSeconds=9000)])
    assert "  1,500,000 tokens  " in line
    assert "to 6 d)" in line
    assert "2 h 30 min old" in line


def test_what_was_spent_without_hub_is_told_apart():
    line = table([entry(tokensToday=12_500, tokensElsewhere=2500), entry(tokensToday=9, tokensElsewhere=0)])
    assert line.splitlines()[1].endswith("5 s old  2,500 of 12,500 tokens today without hub")
    assert line.splitlines()[2].endswith("5 s old")


def test_every_window_or_the_wall_alone():
    two = entry([WINDOW, {**WINDOW, "window": "seven_day"}])
    assert table([two]).count("\n") == 1
    assert "7-day" in table([two], windows=True)


def test_an_empty_wallet_says_what_to_do():
    assert "hub providers" in table([])
