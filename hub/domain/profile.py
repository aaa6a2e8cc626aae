"""Who works next: the chain of providers and the choice from it.

Owns: the order of providers for a task, and the one rule by which a session start, a handoff and a pipeline's
fallback choose from it.
Must not: decide whether to hand over or to wait (`hub.domain.retry` does), or find out who is available.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from enum import StrEnum

import attrs

from hub.domain.failure import FailureClass

MAX_REFUSALS = 2
"""After a refusal one other provider is asked; when it refuses too, a person must look at the task."""


class Status(StrEnum):
    """The runtime status of a provider."""

    ACTIVE = "active"
    STANDBY = "standby"
    EXHAUSTED = "exhausted"
    ERROR = "error"


@attrs.frozen(order=True)
class Target:
    """A provider under one of its accounts."""

    provider: str
    account: str


@attrs.frozen
class ProviderStatus:
    """What the choice must know of an enabled provider."""

    name: str
    status: Status
    accounts: tuple[str, ...] = ("default",)
    """Labels, the active account first; never empty."""


def chain(
    profile_chain: Sequence[str], configured_chain: Sequence[str], providers: Sequence[ProviderStatus]
) -> list[Target]:
    """The order of providers for a task, each under its active account.

    The profile's chain, else the configured one, else every provider that is not in error. A named provider
    that is not enabled is left out; one that is merely unavailable keeps its place, since it may come back.
    """
    known = {provider.name: provider for provider in providers}
    usable = [provider.name for provider in providers if provider.status is not Status.ERROR]
    names = dict.fromkeys(profile_chain or configured_chain or usable)
    return [Target(name, known[name].accounts[0]) for name in names if name in known]


def guidance(name: str, hint: str, skills: Sequence[str]) -> str:
    """What every agent of a session is told besides its task, in the user's words; "" where the profile says nothing."""
    parts = [f"Context, from the user's profile {name}:\n\n{hint.strip()}"] if hint.strip() else []
    if skills:
        parts.append(f"Use these skills where you have them: {', '.join(skills)}.")
    return "\n\n".join(parts)


def accounts_of(providers: Iterable[ProviderStatus]) -> dict[str, tuple[str, ...]]:
    """Each provider's account labels, the active one first."""
    return {provider.name: provider.accounts for provider in providers}


def unavailable(
    providers: Iterable[ProviderStatus], closed: Iterable[tuple[str, str]] = ()
) -> frozenset[Target]:
    """Who must not be chosen.

    Every account of a provider in error, the active account of an exhausted one (its others have quotas of
    their own), and whomever an open breaker names in `closed` as (provider, account).
    """
    barred = {Target(name, account) for name, account in closed}
    for provider in providers:
        if provider.status is Status.ERROR:
            barred.update(Target(provider.name, account) for account in provider.accounts)
        elif provider.status is Status.EXHAUSTED:
            barred.add(Target(provider.name, provider.accounts[0]))
    return frozenset(barred)


def next_target(
    current: Target | None,
    chain: Sequence[Target],
    accounts: Mapping[str, Sequence[str]],
    unavailable: Collection[Target],
    failure: FailureClass | None = None,
    *,
    refused_by: Collection[str] = (),
) -> Target | None:
    """Who takes over from `current`, or None when nobody is left.

    Another account of the same provider comes first (the same model, another quota), then the providers after
    it in the chain, then, from the chain's head, those before it. Never chosen: `current` itself, anybody in
    `unavailable`, and a provider that refused this task; after two providers refused, nobody.

    Args:
        current: Who works now; None at the start of a session.
        chain: The order, as `chain()` made it.
        accounts: Labels by provider, the active one first.
        unavailable: Who must not be chosen.
        failure: Why `current` stopped; None when it was asked to.
        refused_by: Providers that refused this task before.
    """
    refused = set(refused_by)
    if current is not None and failure is FailureClass.REFUSAL:
        refused.add(current.provider)
    if len(refused) >= MAX_REFUSALS:
        return None
    for target in _in_order(current, chain, accounts):
        if target != current and target not in unavailable and target.provider not in refused:
            return target
    # A context that overflowed is cured by a fresh one: the contract is far shorter than what it replaces.
    if current is None or failure is not FailureClass.CONTEXT_OVERFLOW or current.provider in refused:
        return None
    return None if current in unavailable else current


def _in_order(
    current: Target | None, chain: Sequence[Target], accounts: Mapping[str, Sequence[str]]
) -> list[Target]:
    names = [target.provider for target in chain]
    if current is not None:
        place = names.index(current.provider) if current.provider in names else -1
        names = [current.provider, *names[place + 1 :], *names[: max(place, 0)]]
    active = {target.provider: (target.account,) for target in reversed(chain)}
    return [Target(name, account) for name in names for account in accounts.get(name, active.get(name, ()))]
