"""How a session begins: who may begin it, and its first record.

Owns: how an order and the configuration make a record.
Must not: say whether there is a place for it (the register does), choose (`hub.domain.routing` does), or start an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.session.context import SessionContext
from hub.actors.session.routing import Routing
from hub.domain.missing import invalid_field, no_such
from hub.domain.routing import (
    AccountFacts,
    Choice,
    Exclusion,
    Question,
    Target,
    choose,
    default_order,
)
from hub.domain.session import OnLimit, SessionRecord, SessionState
from hub.domain.turn import left_out, wait_for
from hub.domain.wallclock import iso
from hub.errors import Code, HubError
from hub.io.git import repository
from hub.io.git.repository import RepoState
from hub.messages.audit import AuditAppend
from hub.messages.session import StartRun
from hub.providers.provider import INSTALL_ANY

T = TypeVar("T")


@attrs.frozen
class Beginning:
    """Whom a new session begins with: the order as asked for, and the choice from it."""

    order: tuple[str, ...]
    named: tuple[str, ...]
    """Those of them that the user named, login or not."""
    choice: Choice


@attrs.frozen
class Beginnings:
    """From an order to a record."""

    context: SessionContext
    routing: Routing
    insist_on_trust: Callable[[str], None] = lambda _: None
    """Looks at the project's files; raises where its user has not agreed to what it would do now."""

    async def insist_trusted(self) -> None:
        """Refuse to begin in a project that its user has not agreed to as it is now.

        Raises:
            HubError: `trust_needed`.
        """
        await trio.to_thread.run_sync(self.insist_on_trust, "")

    async def first_record(self, order: StartRun) -> SessionRecord:
        """What a new session is to have on record; nothing is written yet.

        Raises:
            HubError: `no_commit`, `no_fallback`..., and nothing begins.
        """
        context = self.context
        if order.kind and not order.profile:
            order = attrs.evolve(order, profile=context.config.profile_for(order.kind))
        beginning = await self.begin(order)
        state = await repository.repo_state(context.places.root)
        if not state.head_sha:
            raise HubError(Code.NO_COMMIT)
        # Refused now, where the log was tampered with: a session without its audit log is none.
        await call_until_answered(context.audit, AuditAppend([]))
        return new_record(context, order, beginning, state)

    async def insist_possible(self, order: StartRun) -> None:
        """Refuse an order whose turn is to come later for what would be refused now, but for who is free.

        Raises:
            HubError: As `first_record`.
        """
        if order.kind and not order.profile:
            self.context.config.profile_for(order.kind)
        self.context.config.profile(order.profile)
        if not (await repository.repo_state(self.context.places.root)).head_sha:
            raise HubError(Code.NO_COMMIT)

    async def begin(self, order: StartRun, *, by_hand: bool = False, ends: bool = False) -> Beginning:
        """Whom a new session begins with, the wanted one before all others.

        With a `fallback` the order is the wanted one and these, and nobody else. `by_hand`: it is no session of hub's,
        and nobody is unfit for a terminal. `ends`: an agent is ended for it, see `WhoBegins`.

        Raises:
            HubError: Nobody can do the work, also after a wait; or the one that is wanted is unknown, off, not
                installed or unfit; or logged out, where that is asked.
        """
        config = self.context.config
        wanted = (order.provider,) if order.provider else ()
        chain = order.fallback or config.profile(order.profile).chain or config.session.chain
        named = tuple(dict.fromkeys((*wanted, *chain)))
        found = await self.routing.facts([*self.context.providers])
        if by_hand:
            found = [attrs.evolve(each, unfit="") for each in found]
        if order.provider:
            self._insist_fit(order.provider, found, login=ends and order.provider not in chain)
        names = named if chain else tuple(dict.fromkeys((*wanted, *default_order(found))))
        choice = choose(Question(order=names, named=named, wanted=order.provider), found)
        on_limit = order.on_limit or config.session.on_limit
        if choice.first is None and (choice.until() is None or on_limit == "stop"):
            raise _nobody(choice)
        return Beginning(names, named, choice)

    def _insist_fit(self, name: str, facts: Sequence[AccountFacts], *, login: bool) -> None:
        mine = next((f for f in facts if f.provider == name), None)
        if mine is None:
            raise no_such("provider", name, self.context.providers, code=Code.INVALID)
        if not mine.installed:
            raise HubError(Code.AGENT_MISSING, f"{name} is not installed.", hint=mine.hint)
        if not mine.enabled:
            hint = f"Set enabled = true in [providers.{name}] of hub.toml."
            raise invalid_field("provider", f"{name} is turned off in hub.toml.", hint)
        if all(f.unfit for f in facts if f.provider == name):
            raise invalid_field("provider", f"{name} cannot work here: {mine.unfit}.", mine.hint)
        if login and all(f.logged_in is False for f in facts if f.provider == name):
            raise HubError(Code.AUTH_NEEDED, f"{name} is not logged in; nothing was ended.", hint=mine.hint)


def _nobody(choice: Choice) -> HubError:
    """Why nobody can begin, as one coded error."""
    bars = {p.bar for p in choice.passed}
    if not bars:
        return HubError(Code.AGENT_MISSING, "No agent is enabled and installed.", hint=INSTALL_ANY)
    if Exclusion.BUSY in bars:
        hint = "Wait for that session, or add an account: hub account add PROVIDER LABEL"
        return HubError(Code.ACCOUNT_IN_USE, f"Nobody can take the work now: {choice.reasons()}", hint=hint)
    if choice.until() is not None:
        return HubError(Code.QUOTA_EXHAUSTED, f"Nobody can take the work now: {choice.reasons()}")
    hint = next((p.hint for p in choice.passed if p.hint), "")
    if bars == {Exclusion.LOGGED_OUT}:
        names = ", ".join(dict.fromkeys(p.target.provider for p in choice.passed))
        detail = f"No agent that is enabled and installed is logged in: {names}."
        return HubError(Code.AUTH_NEEDED, detail, hint=hint)
    code = Code.AUTH_NEEDED if Exclusion.LOGGED_OUT in bars else Code.AGENT_MISSING
    return HubError(code, f"Nobody can take the work: {choice.reasons()}", hint=hint)


def new_record(
    context: SessionContext, order: StartRun, beginning: Beginning, state: RepoState
) -> SessionRecord:
    """The first record: what was asked for, else what is configured. Where nobody is free now, it waits."""
    session_id = order.session_id or context.new_id("s")
    config, profile = context.config, context.config.profile(order.profile)
    choice = beginning.choice
    waits = min((p for p in choice.passed if p.until), key=lambda p: p.until or 0.0, default=None)
    chosen = choice.first or (waits.target if waits is not None else Target("", ""))
    wait = wait_for(choice, "nobody can begin now: ") if choice.first is None else None
    active = order.provider, config.accounts(order.provider)[0].label
    verify = tuple(order.verify if order.verify is not None else config.session.verify)
    return SessionRecord(
        session_id=session_id,
        seq=1,
        at=iso(context.clock()),
        session_state=SessionState.WAITING if wait else SessionState.STARTING,
        role=order.role,
        run_id=order.run_id,
        task_id=order.task_id or context.new_id("t"),
        task=order.task,
        branch=f"hub/{session_id}",
        worktree=str(context.places.worktrees / session_id),
        base=order.base or state.head_sha,
        carries=not order.base,
        first=order.first,
        adopted=order.adopted,
        adopts=order.adopts,
        continues=order.continues,
        native_id=order.native_id if (chosen.provider, chosen.account) == active else "",
        main_branch=state.main_branch,
        profile=order.profile,
        context_hint=profile.context_hint,
        skills=profile.skills,
        chain=beginning.order,
        named=beginning.named,
        left_out=left_out(choice),
        threshold=_or(order.threshold, config.session.threshold),
        max_handoffs=_or(order.max_handoffs, config.session.max_handoffs),
        on_limit=OnLimit(_or(order.on_limit, config.session.on_limit)),
        verify=verify,
        provider=chosen.provider,
        account=chosen.account,
        wait=wait,
        started_at=iso(context.clock()),
    )


def _or(asked: T | None, configured: T) -> T:
    """What was asked for, else what is configured."""
    return configured if asked is None else asked
