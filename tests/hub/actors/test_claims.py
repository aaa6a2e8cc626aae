"""No login is used by more sessions than it may be, whatever died in between."""

from contextlib import asynccontextmanager

import pytest

from hub.actors.claims import Claims
from hub.domain.routing import Target
from hub.errors import Code, HubError
from hub.io import failpoints
from hub.io.files.sealed import write_sealed
from hub.io.project.places import Places
from hub.message_map import slot_of
from hub.messages.claims import (
    AccountFreed,
    AwaitAccounts,
    ClaimAccount,
    GetClaims,
    ReleaseAccount,
    RetainClaims,
)
from supervisors import Actor, SupervisorSpec, actor_spec
from tests.trees import running

WORK, HOME = Target("claude", "work"), Target("claude", "home")


class Heard(Actor):
    """Keeps what it is told."""

    def __init__(self, said):
        self._said = said

    async def handle(self, message):
        self._said.append(message)
        return len(self._said)


@pytest.fixture
def places(tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    found = Places(tmp_path)
    found.hub_dir.mkdir(mode=0o700)
    return found


@asynccontextmanager
async def claims(places, said=None):
    """The actor on its own, and whoever hears of accounts that come free."""
    slot, sessions = slot_of("claims"), slot_of("sessions")
    heard = [] if said is None else said
    specs = [
        actor_spec("sessions", lambda: Heard(heard), sessions),
        actor_spec("claims", lambda: Claims(places, sessions.ref), slot),
    ]
    async with running(SupervisorSpec(children=specs)):
        yield slot.ref


async def test_a_login_is_one_sessions_until_it_takes_another_or_gives_it_back(places):
    said = []
    async with claims(places, said) as ref:
        assert await ref.call(ClaimAccount("s-1", "d-1", WORK, 1))
        assert await ref.call(ClaimAccount("s-1", "d-1", WORK, 1)), "the same wish may be repeated"
        assert not await ref.call(ClaimAccount("s-2", "d-2", WORK, 1))
        assert await ref.call(ClaimAccount("s-1", "d-3", HOME, 1)), "its handoff frees what it had"
        assert await ref.call(ClaimAccount("s-2", "d-2", WORK, 1))
        assert await ref.call(GetClaims()) == {WORK: 1, HOME: 1}
        assert await ref.call(GetClaims("s-1")) == {WORK: 1}
        await ref.call(ReleaseAccount("s-1"))
        assert await ref.call(GetClaims()) == {WORK: 1}
    assert said == [AccountFreed()] * 2


async def test_as_many_as_may_use_it(places):
    async with claims(places) as ref:
        assert [await ref.call(ClaimAccount(f"s-{n}", f"d-{n}", WORK, 2)) for n in range(3)] == [
            *(True, True, False)
        ]


async def test_who_waited_first_has_the_account_first(places):
    """One that was just taken out of the queue began with the account for which another session had waited."""
    said = []
    async with claims(places, said) as ref:
        await ref.call(ClaimAccount("s-1", "d-1", WORK, 1))
        await ref.call(AwaitAccounts("s-2", [WORK, HOME]))
        await ref.call(AwaitAccounts("s-3", [WORK]))
        await ref.call(AwaitAccounts("s-2", [WORK, HOME]))  # it is repeated, and keeps its place
        await ref.call(ReleaseAccount("s-1"))
        assert not await ref.call(ClaimAccount("s-4", "d-4", WORK, 1)), "it came later"
        assert not await ref.call(ClaimAccount("s-3", "d-3", WORK, 1))
        assert await ref.call(GetClaims("s-2")) == {}
        assert await ref.call(GetClaims("s-3")) == {WORK: 1, HOME: 1}
        assert await ref.call(ClaimAccount("s-2", "d-2", WORK, 1))
        assert await ref.call(ClaimAccount("s-4", "d-4", HOME, 1)), "s-2 waits for it no more"
        await ref.call(RetainClaims(["s-4"]))
        assert await ref.call(GetClaims()) == {HOME: 1}, "who has ended waits for nothing"
    assert len(said) == 3, "at the end of s-1, when s-2 has chosen, and at its end"


async def test_who_waits_no_more_holds_up_nobody(places):
    said = []
    async with claims(places, said) as ref:
        await ref.call(AwaitAccounts("s-2", [WORK]))
        await ref.call(AwaitAccounts("s-2", []))
        assert await ref.call(ClaimAccount("s-3", "d-3", WORK, 1))
    assert said == [AccountFreed()]


async def test_claims_outlive_the_daemon_and_not_their_session(places):
    async with claims(places) as ref:
        await ref.call(ClaimAccount("s-1", "d-1", WORK, 1))
        await ref.call(ClaimAccount("s-2", "d-2", HOME, 1))
    async with claims(places) as ref:
        assert not await ref.call(ClaimAccount("s-3", "d-3", WORK, 1))
        await ref.call(RetainClaims(["s-2"]))
        assert await ref.call(GetClaims()) == {HOME: 1}


async def test_a_claim_that_cannot_be_kept_is_none(places):
    """Intent before effect: no agent starts on an account that a restart would find free."""
    async with claims(places) as ref:
        failpoints.arm("claims.pre_write=enospc")
        try:
            with pytest.raises(HubError) as caught:
                await ref.call(ClaimAccount("s-1", "d-1", WORK, 1))
        finally:
            failpoints.arm("")
        assert caught.value.code is Code.NO_SPACE
        assert await ref.call(GetClaims()) == {}


@pytest.mark.parametrize("body", [b"{}", b"seal me: not JSON"])
async def test_a_file_that_is_not_believed_is_kept_aside(places, body):
    """What a clone brings is not hub's, and a damaged one says nothing: each agent's next start makes its own."""
    if body.startswith(b"seal"):
        write_sealed(places.claims, body)
    else:
        places.claims.write_bytes(body)
    async with claims(places) as ref:
        assert await ref.call(GetClaims()) == {}
        assert await ref.call(ClaimAccount("s-1", "d-1", WORK, 1))
    assert len(list(places.hub_dir.glob("claims.json.*-*"))) == 1
