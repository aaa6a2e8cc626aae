"""Secrets in what a handoff gives away.

Owns: the warning about secrets in the work, and the refusal of a contract that holds one of hub's keys.
Must not: alter the work, or stop a handoff for a mere likeness.
"""

from __future__ import annotations

import contextlib

import trio

from hub.actors.session.context import SessionContext
from hub.domain.event import Tag
from hub.domain.routing import Target
from hub.domain.session import SessionRecord
from hub.errors import Code, HubError
from hub.io import git


async def warn_of_secrets(context: SessionContext, record: SessionRecord, target: Target) -> None:
    """Tell, before another provider gets the work, which kinds of secrets it holds beyond the user's commits.

    Told once a handoff. A difference that cannot be read is no reason to stop one: what is wrong with the branch is
    met, and told, where the branch is needed.
    """
    if target.provider == record.provider:
        return
    with contextlib.suppress(HubError):
        diff = await git.session_diff(context.places.root, record.base, record.branch, carried=True)
        counts = await trio.to_thread.run_sync(context.secrets.count, _added(diff.diff))
        if counts:
            kinds = ", ".join(f"{kind}:{count}" for kind, count in sorted(counts.items()))
            await context.store.say(
                Tag.SYSTEM,
                f"the work holds what looks like secrets ({kinds}), and {target.provider} is given it",
                source=f"secrets:{record.handoff_id}",
                secrets=counts,
            )


def refuse_known_secrets(context: SessionContext, *texts: str) -> None:
    """The last look at a contract: all that goes into it was redacted before.

    Raises:
        HubError: `contract_invalid`; one of the values hub keeps secret stands in a text.
    """
    if any(map(context.secrets.holds, texts)):
        raise HubError(
            Code.CONTRACT_INVALID, "A key that hub holds stands in the contract: nobody is given it."
        )


def _added(diff: str) -> str:
    """The lines a difference adds."""
    return "\n".join(
        line[1:] for line in diff.split("\n") if line.startswith("+") and not line.startswith("+++ ")
    )
