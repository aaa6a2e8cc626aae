"""Whom the work may go to: installed, allowed, not used up, and not tried for this task in vain."""

from __future__ import annotations

import json

import pytest

from hub.domain.failure import Failure, FailureClass
from hub.domain.handoff import State
from hub.domain.profile import Target
from hub.domain.session import Attempt
from hub.errors import Code, HubError
from hub.messages import BreakerFailure, StartRun
from tests.hub.actors.session.parts import parts_of

LOGIN = {"claudeAiOauth": {"accessToken": "a", "refreshToken": "r"}}
SECOND = Target("demo-second", "default")


def left(provider: str, failure: str) -> Attempt:
    return Attempt(provider, "default", failure, "2026-11-21T08:00:00.000Z")


async def limited(parts, provider: str, account: str = "default") -> None:
    """The real breaker of an account opens as at a usage limit, for an hour."""
    wall = Failure(FailureClass.USAGE_LIMIT, "at the limit", resets_at=parts.kit.clock() + 3600)
    await parts.kit.breakers.call(BreakerFailure(provider, account, wall), timeout=10)


async def test_the_next_of_the_chain_is_the_one_after_the_record(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        assert await parts.targets.next(parts.record(), FailureClass.USAGE_LIMIT) == SECOND


@pytest.mark.parametrize("failure", ["auth", "dispatch_failed", "verify_failed"])
async def test_who_could_not_do_this_task_is_not_asked_again(two, monkeypatch, failure):
    async with parts_of(two, monkeypatch) as parts:
        record = parts.record(tried=(left("demo-second", failure),))
        assert await parts.targets.next(record, None) is None


async def test_who_only_met_a_limit_is_asked_again(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        record = parts.record(tried=(left("demo-second", "usage_limit"),))
        assert await parts.targets.next(record, None) == SECOND


async def test_a_receiver_that_did_not_take_over_is_passed_by_in_this_handoff_only(two, monkeypatch):
    """F7 in RESUMING: otherwise two of them would be asked in turns for ever."""
    tried = (left("demo-first", "usage_limit"), left("demo-second", "crash"))
    async with parts_of(two, monkeypatch) as parts:
        under_way = parts.record(tried=tried, state=State.ENVELOPE_BUILT)
        assert await parts.targets.next(under_way, None) is None
        assert await parts.targets.next(parts.record(tried=tried), None) == SECOND


async def test_an_open_breaker_bars_and_says_until_when(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        record = parts.record()
        assert await parts.targets.earliest_reset(record) is None
        await limited(parts, "demo-second")
        assert await parts.targets.next(record, FailureClass.USAGE_LIMIT) is None
        reset = await parts.targets.earliest_reset(record)
        assert reset is not None
        assert 3000 < reset - parts.kit.clock() <= 3660
        refused = parts.record(refused_by=("demo-second",))
        assert await parts.targets.earliest_reset(refused) is None, "waiting for who refused helps nobody"
        row = next(row for row in await parts.targets.statuses() if row["name"] == "demo-second")
        assert (row["status"], bool(row["resetsAt"])) == ("exhausted", True)


async def test_a_program_that_is_not_there_is_told_and_never_chosen(two, monkeypatch):
    toml = (two.root / "hub.toml").read_text()
    place = "[providers.demo-second]\n"
    (two.root / "hub.toml").write_text(toml.replace(place, f'{place}program = "/nowhere/agent"\n'))
    async with parts_of(two, monkeypatch) as parts:
        assert await parts.targets.next(parts.record(), FailureClass.USAGE_LIMIT) is None
        assert parts.targets.chain_for(provider="", profile="") == ("demo-first",)
        with pytest.raises(HubError) as caught:
            parts.targets.chain_for(provider="demo-second", profile="")
        assert caught.value.code is Code.AGENT_MISSING
        rows = {row["name"]: row["status"] for row in await parts.targets.statuses()}
        assert rows["demo-second"] == "error"


async def test_the_wanted_one_comes_first_and_nobody_unknown_at_all(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        wanted = parts.targets.chain_for(provider="demo-second", profile="")
        assert wanted == ("demo-second", "demo-first")
        with pytest.raises(HubError) as caught:
            parts.targets.chain_for(provider="nobody", profile="")
        assert caught.value.code is Code.INVALID


async def test_a_broken_configuration_leaves_the_last_good_one_in_use(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        good = parts.kit.config
        (two.root / "hub.toml").write_text("[[[")
        with pytest.raises(HubError) as caught:
            await parts.targets.refresh_config()
        assert (caught.value.code, parts.kit.config) == (Code.CONFIG_INVALID, good)


@pytest.fixture
def three(two, monkeypatch):
    """No chain is configured; beside the scripted agents Claude Code and Codex are installed, and nobody logged in."""
    config = two.root / "hub.toml"
    config.write_text(config.read_text().replace('chain = ["demo-first", "demo-second"]\n', ""))
    home, programs = two.root.parent / "home", two.root.parent / "programs"
    home.mkdir()
    programs.mkdir()
    for name in ("claude", "codex"):
        (programs / name).write_text("#!/bin/sh\nexit 1\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    return two


async def chain_of(parts, **asked):
    asked = {"provider": "", "profile": "", **asked}
    out = await parts.targets.logged_out()
    left_out = [it.provider for it in parts.targets.left_out(out, **asked)]
    return parts.targets.chain_for(**asked, logged_out=out), left_out


async def test_the_default_chain_leaves_out_who_is_not_logged_in(three, monkeypatch):
    """decisions, section 4: every enabled, installed, logged-in provider; a login that is made later counts."""
    async with parts_of(three, monkeypatch) as parts:
        demos = ("demo-first", "demo-second")
        assert await chain_of(parts) == (demos, ["claude", "codex"])
        rows = {row["name"]: (row["status"], row["reason"]) for row in await parts.targets.statuses()}
        assert rows["claude"] == ("error", "not logged in")
        assert rows["demo-first"] == ("standby", "")
        login = three.root.parent / "home/.claude/.credentials.json"
        login.parent.mkdir()
        login.write_text(json.dumps(LOGIN))
        assert await chain_of(parts) == (("claude", *demos), ["codex"])


@pytest.mark.parametrize(
    ("line", "asked", "first"),
    [
        ('[session]\nchain = ["codex", "demo-first"]\n', {}, "codex"),
        ('[providers.codex]\nbaseUrl = "http://127.0.0.1:11434/v1"\n', {}, "codex"),
        ('[providers.codex]\nenv = { OPENAI_ORG = "x" }\n', {}, "codex"),
        ("", {"provider": "codex"}, "codex"),
        ("", {"provider": "codex", "fallback": ("claude",)}, "codex"),
    ],
    ids=["chain", "server", "variables", "wanted", "fallback"],
)
async def test_who_is_named_or_has_a_server_of_its_own_needs_no_login(three, monkeypatch, line, asked, first):
    """A local model asks for none, and the user may know of a login that hub cannot see."""
    config = three.root / "hub.toml"
    text = config.read_text()
    merged = text.replace("[session]\n", line) if line.startswith("[session]") else text + line
    config.write_text(merged)
    async with parts_of(three, monkeypatch) as parts:
        names, left_out = await chain_of(parts, **asked)
        assert names[0] == first
        assert "codex" not in left_out


async def test_where_nobody_is_logged_in_a_start_says_how_to(three, monkeypatch):
    config = three.root / "hub.toml"
    config.write_text(config.read_text().replace("enabled = true", "enabled = false"))
    async with parts_of(three, monkeypatch) as parts:
        with pytest.raises(HubError) as caught:
            await parts.live.ask("session", StartRun("do it"))
    assert caught.value.code is Code.AUTH_NEEDED
    assert "claude, codex" in caught.value.detail
    assert caught.value.hint.startswith("Log in: claude auth login; or give it a key: hub key set claude")


async def test_a_session_tells_whom_its_chain_left_out(three, monkeypatch):
    async with parts_of(three, monkeypatch) as parts:
        await parts.live.ask("session", StartRun("do it"))
        status = await parts.live.status()
        assert [(out["provider"], out["reason"]) for out in status["leftOut"]] == [
            ("claude", "not logged in"),
            ("codex", "not logged in"),
        ]
        told = await parts.live.until_event(
            "claude is left out of the chain: not logged in. Log in: claude auth"
        )
        assert told.meta["hint"] == status["leftOut"][0]["hint"]


PROFILES = """
[[profiles]]
name = "code"
kinds = ["feature", "bugfix"]

[[profiles]]
name = "docs"
chain = ["demo-second"]
kinds = ["docs", "feature"]
skills = ["pdf"]
contextHint = "For beginners."
"""


async def test_a_kind_of_task_chooses_the_first_profile_for_it(two, monkeypatch):
    """A profile that is named wins; a kind nobody is for is refused with those there are."""
    (two.root / "hub.toml").write_text((two.root / "hub.toml").read_text() + PROFILES)
    async with parts_of(two, monkeypatch) as parts:
        with pytest.raises(HubError) as caught:
            await parts.live.ask("session", StartRun("do it", kind="poem"))
        assert (caught.value.code, caught.value.hint) == (
            Code.INVALID,
            "There are profiles for: bugfix, docs, feature.",
        )
        config = parts.kit.config
        assert [config.profile_for(kind) for kind in ("feature", "docs")] == ["code", "docs"]
        await parts.live.ask("session", StartRun("do it", kind="docs"))
        record = json.loads((two.hub / "fsm.json").read_text())
        assert (record["profile"], record["chain"]) == ("docs", ["demo-second"])
        assert (record["contextHint"], record["skills"]) == ("For beginners.", ["pdf"])
