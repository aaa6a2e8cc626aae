"""What the keeper of claims is asked.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from hub.domain.routing import Target
from supervisors import Call, Cast


@attrs.frozen
class ClaimAccount(Call[bool]):
    """Take an account for a session's dispatch, in place of what the session had; durable when it is answered.

    Answers whether it has it now. For the same dispatch it may be asked again.
    """

    session_id: str
    dispatch_id: str
    target: Target
    most: int
    """How many sessions may have the account at once."""


@attrs.frozen
class ReleaseAccount(Call[None]):
    """The session has no agent now."""

    session_id: str


@attrs.frozen
class AwaitAccounts(Call[None]):
    """The session waits for the first of these that is free, and has it before whoever asks later; () = it waits no more.

    In place of what it waited for. Forgotten with a claim of the session's, and whenever this actor dies: it is repeated.
    """

    session_id: str
    targets: Sequence[Target]


@attrs.frozen
class RetainClaims(Call[None]):
    """These sessions alone are active: what others had is free."""

    sessions: Sequence[str]


@attrs.frozen
class GetClaims(Call[Mapping[Target, int]]):
    """Answers how many sessions have each account, or wait for it, `but` one of them and whoever waits behind that."""

    but: str = ""


@attrs.frozen
class AccountFreed(Cast):
    """An account that was in use is free. Whoever waits for one looks again; it is repeated with the next."""


ClaimsInbox = AwaitAccounts | ClaimAccount | GetClaims | ReleaseAccount | RetainClaims
