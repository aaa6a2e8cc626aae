"""What the event log proves about a session: the intent block, the facts and the gate's results.

Owns: where a contract's intent comes from, and the run of the acceptance commands.
Must not: write anything but the acceptance commands' results.

The intent is drawn from the graph's nodes. Where the graph does not give it at once, for whatever reason, it is that of the
session's chronicle: both are the same, and a handoff neither waits for an index nor fails because a database is damaged or
locked.
"""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path

import attrs
import trio

from hub.actors.common.calls import call_until_answered
from hub.actors.session.chronicler import Chronicler
from hub.actors.session.context import SessionContext
from hub.domain.contract import Evidence, EvidenceKind
from hub.domain.event import Tag
from hub.domain.intent.fold import Intent
from hub.domain.result.acceptance import orders_of
from hub.domain.result.repair import Refused
from hub.domain.session import SessionRecord
from hub.errors import HubError
from hub.io import git
from hub.io.git.aside import note_left
from hub.io.git.since import changed_since_start
from hub.io.git.snapshot import new_files
from hub.io.processes.commands import run_command
from hub.messages import DrawIntent, EventsHead
from supervisors import ActorDied

_SHOWN = 8000
"""Characters of an acceptance command's output that are kept."""
_SCRUBBED = 80_000
_GRAPH_PATIENCE = 0.1
"""Seconds that a handoff waits for the graph, at most."""


class IntentSource(StrEnum):
    """Where a contract's intent was found."""

    GRAPH = "graph"
    """Its nodes, which hold all that the log tells."""
    LOG = "log"
    """The events themselves: the graph did not answer, or has not read the session from its task on."""


@attrs.frozen
class Check:
    """The result of one acceptance command."""

    command: str
    exit_code: int | None
    output: str
    duration_ms: int
    timed_out: bool
    source: int = 0
    """Event id of the result."""
    changed: tuple[str, ...] = ()
    """Files the command is made of that are not what the session began with."""

    @property
    def passed(self) -> bool:
        """Only exit status 0 is a pass."""
        return self.exit_code == 0


@attrs.frozen
class GateResult:
    """The results of all acceptance commands over one tree."""

    checks: tuple[Check, ...]
    tree: str

    @property
    def passed(self) -> bool:
        """Every command passed; also true of none, which the caller must tell apart."""
        return all(check.passed for check in self.checks)

    def evidence(self) -> tuple[Evidence, ...]:
        """The same for a contract."""
        return tuple(
            Evidence(EvidenceKind.VERIFY, c.command, c.source, c.exit_code, "" if c.passed else c.output)
            for c in self.checks
        )

    def refused(self) -> tuple[Refused, ...]:
        """What failed, for the agent whose work it is."""
        return tuple(Refused(c.command, c.exit_code, c.output) for c in self.checks if not c.passed)

    def text(self) -> str:
        """What failed, with the end of its output."""
        failed = [c for c in self.checks if not c.passed]
        return "\n".join(f"$ {c.command}\n(exit {c.exit_code})\n{c.output[-2000:]}" for c in failed)


@attrs.frozen
class EvidenceGatherer:
    """Reads and checks; the same log and tree give the same answers."""

    context: SessionContext
    chronicler: Chronicler

    async def intent(self, record: SessionRecord) -> tuple[Intent, IntentSource]:
        """The intent block as of the log's last event, and where it was found."""
        drawn = await self._drawn(record)
        if drawn is not None:
            return drawn, IntentSource.GRAPH
        chronicle = await self.chronicler.whole(record)
        return await trio.to_thread.run_sync(chronicle.intent), IntentSource.LOG

    async def _drawn(self, record: SessionRecord) -> Intent | None:
        """Out of the graph's nodes; None where they are not to be had, or are of a task that is told otherwise by now."""
        upto = await call_until_answered(self.context.events, EventsHead())
        try:
            question = DrawIntent(record.session_id, upto)
            found = await self.context.knowledge.call(question, timeout=_GRAPH_PATIENCE)
        except (HubError, ActorDied, trio.TooSlowError):
            return None
        task = self.context.task(record)
        return found if found is not None and found.initial_prompt == (task or found.initial_prompt) else None

    async def gate(self, record: SessionRecord, key: str) -> GateResult:
        """Run every acceptance command in the worktree and put the results on record.

        The tree is hashed *after* the commands ran: what they changed is part of what is judged.
        """
        checks: list[Check] = []
        worktree, root = Path(record.worktree), self.context.places.root
        before = await new_files(worktree, root=root)
        commands = zip(record.verify, self.context.assertions(record), strict=True)
        for number, (command, shown) in enumerate(commands):
            await self.context.store.say(
                Tag.SYSTEM, f"verify: {shown}", source=f"{key}:{number}:start", command=shown
            )
            check = await self._check(record, command, shown)
            checks.append(attrs.evolve(check, source=await self._told(check)))
        # What they have made besides is no work of the agent's.
        after = await new_files(worktree, root=root)
        note_left(self.context.places.kept_index(record.session_id), before, after)
        tree = await git.tree_hash(worktree, root=root)
        for check in checks:
            await self.context.store.note(
                "verify",
                f"{key}:{check.command}:{check.exit_code}:{tree}",
                command=check.command,
                exitCode=check.exit_code,
                passed=check.passed,
                timedOut=check.timed_out,
                tree=tree,
                changed=list(check.changed),
            )
        return GateResult(tuple(checks), tree)

    async def _check(self, record: SessionRecord, command: str, shown: str) -> Check:
        changed = await self._changed(record, command)
        timeout = self.context.config.session.verify_timeout
        run = partial(run_command, command, cwd=Path(record.worktree), timeout=timeout)
        result = await self.context.shared.unless_stopped(run)
        # Only its end is shown; what is cut off before it is more than any secret's length.
        output = self.context.secrets.text(result.output[-_SCRUBBED:])[-_SHOWN:]
        return Check(shown, result.exit_code, output, result.duration_ms, result.timed_out, changed=changed)

    async def _told(self, check: Check) -> int:
        """Puts the result on record; the id of its event."""
        verdict = "passed" if check.passed else f"failed (exit {check.exit_code})"
        doubt = f" (changed since the start: {', '.join(check.changed)})" if check.changed else ""
        return await self.context.store.say(
            Tag.SYSTEM if check.passed else Tag.ERROR,
            f"verify {verdict}: {check.command}{doubt}",
            command=check.command,
            exitCode=check.exit_code,
            output=check.output,
            durationMs=check.duration_ms,
            changed=list(check.changed) or None,
        )

    async def _changed(self, record: SessionRecord, command: str) -> tuple[str, ...]:
        """What the command is made of and the session has changed: it judges all the same, and that is said beside it."""
        root, worktree = self.context.places.root, Path(record.worktree)
        return await changed_since_start(root, worktree, record.session_id, record.base, orders_of(command))
