"""Whom the work may go to: every fact the choice needs, as the running daemon has it, and the status made of the same."""

from __future__ import annotations

import json

import pytest

from hub.actors.sessions.beginning import Beginnings
from hub.actors.sessions.provider_status import statuses
from hub.domain.failure import Failure, FailureClass
from hub.domain.handoff import State
from hub.domain.retry import Wait
from hub.domain.routing import Exclusion, Target
from hub.domain.session import Attempt, OnLimit, SessionState
from hub.errors import Code, HubError
from hub.messages.breakers import BreakerFailure
from hub.messages.claims import ClaimAccount, GetClaims, ReleaseAccount
from hub.messages.session import StartRun
from tests.hub.actors.session.parts import parts_of
from tests.refusals import refuses
from tests.settings import lay_out

LOGIN = {"claudeAiOauth": {"accessToken": "a", "refreshToken": "r"}}
FIRST, SECOND = Target("demo-first", "default"), Target("demo-second", "default")


def left(provider: str, failure: str) -> Attempt:
    return Attempt(provider, "default", failure, "2026-11-21T08:00:00.000Z")


async def limited(parts, provider: str, account: str = "default") -> None:
    """The real breaker of an account opens as at a usage limit, for an hour."""
    wall = Failure(FailureClass.USAGE_LIMIT, "at the limit", resets_at=parts.context.clock() + 3600)
    await parts.context.breakers.call(BreakerFailure(provider, account, wall), timeout=10)


async def begins_with(parts, **asked):
    """Whom a session would begin with, and why each other is passed by."""
    await parts.routing.refresh_config()
    choice = (await Beginnings(parts.context, parts.routing).begin(StartRun("do it", **asked))).choice
    return choice.first, {p.target: p.bar for p in choice.passed}


async def test_who_could_not_do_this_task_is_not_asked_again_and_who_met_a_limit_is(two, monkeypatch):
    """F7 in RESUMING: who did not take over is passed by in this handoff only, or two would be asked in turns for ever."""
    tried = (left("demo-first", "usage_limit"), left("demo-second", "crash"))
    async with parts_of(two, monkeypatch) as parts:
        assert await parts.routing.next(parts.record(), FailureClass.USAGE_LIMIT) == SECOND
        for failure in ("auth", "dispatch_failed", "verify_failed", "denied"):
            choice = await parts.routing.choose(parts.record(tried=(left("demo-second", failure),)), None)
            assert (choice.first, choice.until(), bool(choice.why(SECOND))) == (None, None, True), failure
        limited = parts.record(tried=(left("demo-second", "usage_limit"),))
        assert await parts.routing.next(limited, None) == SECOND
        under_way = parts.record(tried=tried, state=State.ENVELOPE_BUILT)
        assert await parts.routing.next(under_way, None) is None
        assert await parts.routing.next(parts.record(tried=tried), None) == SECOND


async def test_an_open_breaker_bars_and_says_until_when(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        record = parts.record()
        await limited(parts, "demo-second")
        choice = await parts.routing.choose(record, FailureClass.USAGE_LIMIT)
        assert choice.first is None
        until = choice.until(but=FIRST)
        assert until is not None
        assert 3000 < until - parts.context.clock() <= 3660
        refused = parts.record(refused_by=("demo-second",))
        assert (await parts.routing.choose(refused, None)).until() is None, (
            "waiting for who refused helps nobody"
        )
        row = next(row for row in await statuses(parts.routing, ()) if row.name == "demo-second")
        assert (row.status, row.accounts[0].status, bool(row.resets_at)) == (
            "exhausted",
            "exhausted",
            True,
        )


async def test_a_session_begins_with_who_is_not_used_up(two, monkeypatch):
    """It began on the exhausted one while the other was free."""
    async with parts_of(two, monkeypatch) as parts:
        await limited(parts, "demo-first")
        assert await begins_with(parts) == (SECOND, {FIRST: Exclusion.LIMIT})
        await limited(parts, "demo-second")
        with refuses(Code.QUOTA_EXHAUSTED) as caught:
            await begins_with(parts, on_limit="stop")
        for words in (
            "demo-first/default: its usage limit",
            "demo-second/default: its usage limit",
            "free first, at",
        ):
            assert words in caught.value.detail


async def test_who_is_turned_off_in_the_middle_of_a_session_is_not_next(two, monkeypatch):
    """The rest of the configuration is the session's own until it ends; whom the user wants is asked anew each time."""
    async with parts_of(two, monkeypatch) as parts:
        config = two.root / "hub.toml"
        place = "[providers.demo-second]\nenabled = "
        config.write_text(config.read_text().replace(f"{place}true", f"{place}false"))
        choice = await parts.routing.choose(parts.record(), None)
        assert (choice.first, choice.why(SECOND)) == (None, "turned off in hub.toml")
        with refuses(Code.INVALID, "turned off"):
            await begins_with(parts, provider="demo-second")


async def test_of_a_half_open_breaker_one_dispatch_gets_the_attempt(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        now = parts.context.clock()
        wall = Failure(FailureClass.USAGE_LIMIT, "at the limit", resets_at=now + 0.05)
        await parts.context.breakers.call(BreakerFailure("demo-first", "default", wall), timeout=10)
        while await parts.routing.is_shut(FIRST):
            pass
        mine, other = parts.record(), parts.record(dispatch_id="d-2")
        assert [await parts.routing.claim(it) for it in (mine, other, mine)] == [True, False, True]
        choice = await parts.routing.choose(other, None, stay=True)
        assert choice.why(FIRST).startswith("the one attempt after its failures is under way")
        await parts.routing.ended(mine)
        assert await parts.routing.claim(other), "an attempt that was ended unanswered says nothing"


async def test_a_program_that_is_not_there_is_told_and_never_chosen(two, monkeypatch):
    two.configure(programs={"demo-second": "/nowhere/agent"})
    async with parts_of(two, monkeypatch) as parts:
        assert await parts.routing.next(parts.record(), FailureClass.USAGE_LIMIT) is None
        assert await begins_with(parts) == (FIRST, {SECOND: Exclusion.NOT_INSTALLED})
        with refuses(Code.AGENT_MISSING):
            await begins_with(parts, provider="demo-second")
        rows = {row.name: row.status for row in await statuses(parts.routing, ())}
        assert rows["demo-second"] == "error"


async def test_the_wanted_one_comes_first_and_nobody_unknown_at_all(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        assert (await begins_with(parts, provider="demo-second"))[0] == SECOND
        with refuses(Code.INVALID):
            await begins_with(parts, provider="nobody")


async def test_a_broken_configuration_leaves_the_last_good_one_in_use(two, monkeypatch):
    async with parts_of(two, monkeypatch) as parts:
        good = parts.context.config
        (two.root / "hub.toml").write_text("[[[")
        with pytest.raises(HubError) as caught:
            await parts.routing.refresh_config()
        assert (caught.value.code, parts.context.config) == (Code.CONFIG_INVALID, good)


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
    monkeypatch.setenv("IS_SANDBOX", "1")  # a test may be run by root, for whom Claude Code wants that
    return two


CLAUDE, CODEX = Target("claude", "default"), Target("codex", "default")


def log_in(three, folder: str = "home/.claude") -> None:
    """Claude Code has a login in this directory."""
    login = three.root.parent / folder / ".credentials.json"
    login.parent.mkdir(parents=True, exist_ok=True)
    login.write_text(json.dumps(LOGIN))


async def test_the_default_chain_leaves_out_who_is_not_logged_in(three, monkeypatch):
    """decisions, section 4: every enabled, installed, logged-in provider; a login that is made later counts."""
    async with parts_of(three, monkeypatch) as parts:
        assert await begins_with(parts) == (
            FIRST,
            {CLAUDE: Exclusion.LOGGED_OUT, CODEX: Exclusion.LOGGED_OUT},
        )
        rows = {row.name: (row.status, row.reason) for row in await statuses(parts.routing, ())}
        assert rows["claude"] == ("error", "not logged in")
        assert rows["demo-first"] == ("standby", "")
        log_in(three)
        assert await begins_with(parts) == (CLAUDE, {CODEX: Exclusion.LOGGED_OUT})


async def test_an_account_with_a_login_comes_before_the_active_one_without(three, monkeypatch):
    """Only the active account was looked at: one that the API lists with `loggedIn: false` went first."""
    config, folder = three.root / "hub.toml", three.root.parent
    rows = "".join(
        f'[[providers.claude.accounts]]\nlabel = "{label}"\nconfigDir = "{folder}/{label}"\n'
        for label in ("out", "in")
    )
    lay_out(config.read_text() + rows, three.root, three.own)
    log_in(three, "in")
    async with parts_of(three, monkeypatch) as parts:
        assert (await begins_with(parts, provider="claude"))[0] == Target("claude", "in")
        row = next(row for row in await statuses(parts.routing, ()) if row.name == "claude")
        assert (row.account, row.status) == ("in", "standby")
        shown = [(it.label, it.status, it.reason) for it in row.accounts]
        assert shown == [("out", "error", "not logged in"), ("in", "standby", "")]


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ('[session]\nchain = ["codex"]\n', {}),
        ('[providers.codex]\nbaseUrl = "http://127.0.0.1:11434/v1"\n', {}),
        ('[providers.codex]\nenv = { OPENAI_ORG = "x" }\n', {}),
        ("", {"provider": "codex", "fallback": ("claude",)}),
    ],
    ids=["chain", "server", "variables", "fallback"],
)
async def test_who_is_named_or_has_a_server_of_its_own_needs_no_login(three, monkeypatch, line, asked):
    """A local model asks for none, and the user may know of a login that hub cannot see."""
    config = three.root / "hub.toml"
    text = config.read_text()
    config.write_text(text.replace("[session]\n", line) if line.startswith("[session]") else text + line)
    async with parts_of(three, monkeypatch) as parts:
        first, passed = await begins_with(parts, **asked)
        assert first == CODEX
        assert CODEX not in passed


async def test_who_is_named_without_a_login_comes_after_who_has_one(three, monkeypatch):
    async with parts_of(three, monkeypatch) as parts:
        assert await begins_with(parts, provider="codex") == (CODEX, {CLAUDE: Exclusion.LOGGED_OUT})
        log_in(three)
        assert await begins_with(parts, provider="codex") == (CODEX, {}), "the user's word of this moment"
    config = three.root / "hub.toml"
    config.write_text(config.read_text().replace("[session]\n", '[session]\nchain = ["codex", "claude"]\n'))
    async with parts_of(three, monkeypatch) as parts:
        assert await begins_with(parts) == (CLAUDE, {})


@pytest.mark.parametrize(
    ("sandbox", "line", "first"),
    [
        ("", "", FIRST),
        ("1", "", CLAUDE),
        ("", '[providers.claude.options]\npermission_mode = "acceptEdits"\n', CLAUDE),
        ("", '[providers.claude.env]\nIS_SANDBOX = "1"\n', CLAUDE),
    ],
)
async def test_who_refuses_root_is_passed_by_for_root(three, monkeypatch, sandbox, line, first):
    """Claude Code bypasses no permissions for root outside of a sandbox: it ended at once, and that was a handoff."""
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setenv("IS_SANDBOX", sandbox)
    config = three.root / "hub.toml"
    config.write_text(config.read_text() + line)
    log_in(three)
    async with parts_of(three, monkeypatch) as parts:
        assert (await begins_with(parts))[0] == first


async def test_where_nobody_is_logged_in_a_start_says_how_to(three, monkeypatch):
    config = three.root / "hub.toml"
    config.write_text(config.read_text().replace("enabled = true", "enabled = false"))
    async with parts_of(three, monkeypatch) as parts:
        with refuses(Code.AUTH_NEEDED, "claude, codex") as caught:
            await parts.live.ask("sessions", StartRun("do it"))
    assert caught.value.hint.startswith("Log in: claude auth login; or give it a key: hub key set claude")


async def test_a_session_tells_whom_its_chain_left_out(three, monkeypatch):
    async with parts_of(three, monkeypatch) as parts:
        await parts.live.ask("sessions", StartRun("do it"))
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
    two.configure(PROFILES)
    async with parts_of(two, monkeypatch) as parts:
        with pytest.raises(HubError) as caught:
            await parts.live.ask("sessions", StartRun("do it", kind="poem"))
        assert (caught.value.code, caught.value.hint) == (
            Code.INVALID,
            "There are profiles for: bugfix, docs, feature.",
        )
        config = parts.context.config
        assert [config.profile_for(kind) for kind in ("feature", "docs")] == ["code", "docs"]
        await parts.live.ask("sessions", StartRun("do it", kind="docs"))
        record = json.loads((two.hub / "fsm.json").read_text())
        assert (record["profile"], record["chain"]) == ("docs", ["demo-second"])
        assert (record["contextHint"], record["skills"]) == ("For beginners.", ["pdf"])


async def test_of_all_that_it_waited_for_a_session_holds_up_the_one_that_it_takes(two, monkeypatch):
    """Its setup took minutes, and whoever waited for the other account waited for the end of that too."""
    async with parts_of(two, monkeypatch) as parts:
        claims, now = parts.context.claims, parts.context.clock()
        wait = Wait(now + 600, "others work with both", ender="anybody", unsure=True)
        await parts.store.begin(
            parts.record(session_state=SessionState.WAITING, wait=wait, dispatch_id="", attempt=0)
        )
        for number, target in enumerate((FIRST, SECOND)):
            assert await claims.call(ClaimAccount(f"s-other-{number}", f"d-{number}", target, 1), timeout=10)
        assert await parts.routing.look(parts.store.now, wait) == wait
        assert await claims.call(GetClaims("s-later"), timeout=10) == {FIRST: 2, SECOND: 2}
        await claims.call(ReleaseAccount("s-other-1"), timeout=10)
        assert await parts.routing.look(parts.store.now, wait) is None
        assert await claims.call(GetClaims("s-later"), timeout=10) == {FIRST: 1, SECOND: 1}, (
            "its user's, and ours"
        )
        assert not await claims.call(ClaimAccount("s-later", "d-9", SECOND, 1), timeout=10), (
            "first in, first out"
        )
        await claims.call(ReleaseAccount("s-other-0"), timeout=10)
        assert await claims.call(ClaimAccount("s-later", "d-9", FIRST, 1), timeout=10)


async def test_whose_work_stays_with_its_account_is_in_line_for_that(two, monkeypatch):
    """Another account was free, which it may not take, so it never was in line: each that came later went before it."""
    async with parts_of(two, monkeypatch) as parts:
        claims, now = parts.context.claims, parts.context.clock()
        wait = Wait(now + 600, "another session works with it", ender="anybody", unsure=True)
        waits = {"session_state": SessionState.WAITING, "wait": wait, "dispatch_id": "", "handoffs_done": 1}
        await parts.store.begin(parts.record(on_limit=OnLimit.WAIT, **waits))
        assert await claims.call(ClaimAccount("s-other", "d-1", FIRST, 1), timeout=10)
        assert await parts.routing.look(parts.store.now, wait) == wait, "it stays with the one that is busy"
        assert await claims.call(GetClaims("s-later"), timeout=10) == {FIRST: 2}
        await claims.call(ReleaseAccount("s-other"), timeout=10)
        assert not await claims.call(ClaimAccount("s-later", "d-9", FIRST, 1), timeout=10), (
            "first in, first out"
        )
        assert await parts.routing.look(parts.store.now, wait) is None


async def test_whose_work_stays_with_its_account_holds_up_nobody_who_waits_for_another(two, monkeypatch):
    """It was in line for each account that others had, and the one that came free stayed idle until its own limit's end."""
    async with parts_of(two, monkeypatch) as parts:
        claims, now = parts.context.claims, parts.context.clock()
        await limited(parts, "demo-first")
        wait = Wait(now + 3600, "the usage limit is reached", ender="anybody")
        waits = {"session_state": SessionState.WAITING, "wait": wait, "dispatch_id": "", "handoffs_done": 1}
        await parts.store.begin(parts.record(on_limit=OnLimit.WAIT, **waits))
        assert await claims.call(ClaimAccount("s-other", "d-1", SECOND, 1), timeout=10)
        assert await parts.routing.look(parts.store.now, wait) == wait
        await claims.call(ReleaseAccount("s-other"), timeout=10)
        assert await parts.routing.look(parts.store.now, wait) == wait
        assert await claims.call(ClaimAccount("s-later", "d-9", SECOND, 1), timeout=10)
        _, choice = await parts.routing.turn(parts.store.now)
        assert choice.next_step() == "hand it over: hub handoff, or end it: hub stop", (
            "no other login ends it"
        )
