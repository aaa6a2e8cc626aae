"""`hub status`: what the session does now, or how the last one ended.

Owns: the one-screen picture of a session, and what to do with one that is over.
Must not: compute anything that neither the daemon nor a record has said.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping
from functools import partial

import attrs
import click

from hub.api.approvals import Approval
from hub.api.history import HistoryEntry
from hub.api.meta import UNSET, Unset
from hub.api.observability import AuditHead
from hub.api.pipelines import RunStatus
from hub.api.session import Cost
from hub.api.sessions import Session, Sessions
from hub.api.status import Status
from hub.cli.commands.approvals import listed
from hub.cli.context import nothing_runs, session_argument, show, which, with_json
from hub.cli.local.records import UNATTENDED, Records
from hub.cli.terminal.clock import Clock
from hub.cli.terminal.items import FIDELITY
from hub.cli.terminal.screen import for_people
from hub.cli.terminal.width import columns, hung
from hub.client.quick import Query, unless_absent
from hub.domain.pipeline.state import NodeState
from hub.domain.result.fate import TAKES, fate
from hub.domain.session import SessionState
from hub.domain.standing import GROUPS, HANDING_OVER, NEEDS
from hub.domain.text.figures import agent_name
from hub.domain.text.figures import cost as cost_in_words
from hub.errors import Code, HubError

_HANG = 10
"""Where a line goes on that is wider than the terminal: below what is said, not below its name."""


@attrs.frozen(kw_only=True)
class WholeStatus(Status):
    """The status, with the session's cost, the pipeline run under way and what ails the audit log; None: there is none."""

    cost: Cost | None
    pipeline: RunStatus | None
    audit: Mapping[str, object] | None
    """A problem document."""
    unattended: bool | Unset = UNSET
    """Told where the session is not over, and no daemon runs that goes on with it."""


@click.command()
@session_argument
@with_json
def status(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """Show what a session is doing now or how it ended, what it has cost, and the pipeline it is part of.

    Without a daemon: the last session, from its record.

    Example: hub status --json
    """
    api = Records(ctx)
    try:
        state = _whole(api, session)
    except HubError as error:
        if error.code is Code.NO_ACTIVE_SESSION and api.alone:
            raise nothing_runs() from error
        raise
    show(state, as_json=as_json, text=lambda told: picture(told, _fate(api, told)))
    if state.needs_approval and not as_json:
        click.echo(waiting(api.read(list[Approval], "/api/approvals")))
    if not session and not as_json and state.session_id:
        click.echo(beside(api.read(Sessions, "/api/sessions").sessions, state.session_id), nl=False)


def _whole(api: Records, session: str) -> WholeStatus:
    state = api.read(Status, "/api/status", which(session))
    run = _run(api) if state.run_id else None
    return WholeStatus(
        **attrs.asdict(state, recurse=False),
        cost=api.read(Cost, "/api/session/cost", which(state.session_id)) if state.session_id else None,
        pipeline=run if run is not None and run.run_id == state.run_id else None,
        audit=_audit(api),
        unattended=True if api.alone and not state.ended_at else UNSET,
    )


def _run(api: Records) -> RunStatus | None:
    """The newest run of a pipeline; how a session stands can be told without it."""
    unknown = {Code.NOT_FOUND, Code.STATE_CORRUPT, Code.NOT_SEALED}
    return unless_absent(partial(api.read, RunStatus, "/api/pipelines/run"), unknown)


def _fate(api: Records, state: Status) -> HistoryEntry | None:
    """The record of what became of the work of one that is over; None: nothing did that holds, or no log can be read."""
    if not state.ended_at:
        return None

    def newest(event: str) -> list[HistoryEntry]:
        query: Query = {"sessionId": state.session_id, "event": event, "limit": TAKES}
        return api.read(list[HistoryEntry], "/api/history", query)

    try:
        return fate(newest("discarded"), newest("taken"))
    except HubError:  # as is told beside it
        return None


def _audit(api: Records) -> Mapping[str, object] | None:
    try:
        api.read(AuditHead, "/api/audit/head")
    except HubError as error:
        return error.problem() if error.code in (Code.AUDIT_BROKEN, Code.AUDIT_UNREADABLE) else None
    return None


def picture(state: WholeStatus, became: HistoryEntry | None = None) -> str:
    """The status for people, and what became of the work."""
    audit = [f"audit     {state.audit['detail']} {state.audit['hint']}"] if state.audit else []
    if not state.session_id:
        return "\n".join(['idle - start a session: hub run "task"', *audit])
    gone = became is not None and became.event == "discarded"
    # Whom it waits for says more than that its agent runs.
    now = [NEEDS.get(state.needs, state.session_state.replace("_", " "))]
    now.append(agent_name(state.active_provider, state.account))
    if state.fsm_state in HANDING_OVER:
        now.append(f"handing over: {HANDING_OVER[state.fsm_state]}")
    fidelity = "pending" if state.hfs_pending else f"{state.hfs_score:g} of 100: {FIDELITY}"
    lines = [
        "  ".join([*now, *(["stopping"] if state.stopping else [])]),
        f"task      {state.task_goal.splitlines()[0][:100]}",
        f"session   {state.session_id}" + (f"  on {state.branch}" if not gone else ""),
        f"handoffs  {state.handoffs_done}" + (f"  fidelity {fidelity}" if state.handoffs_done else ""),
        f"tokens    {state.tokens_used:,}",
    ]
    if state.cost:
        lines.append(f"cost      {_cost(state.cost)}")
    if state.pipeline:
        lines.append(f"pipeline  {_pipeline(state.pipeline)}")
    if state.session_state is SessionState.COMPLETED:
        lines.append("verified  " + ("yes" if state.verified else "no - no acceptance command said so"))
    if state.wait_reason:
        until = f"until {Clock().at(state.wait_until)}: " if state.wait_until else ""
        lines.append(f"waiting   {until}{for_people(state.wait_reason)}")
    if state.needs_input and not state.needs_approval:
        lines.append('input     the agent asks: hub reply "..."')
    if state.error:
        # Commands' output may follow, and that is in the log.
        lines.append(f"error     {state.error.code}: {state.error.detail.partition(chr(10))[0]}")
        lines.append(f"next      {state.error.hint}")
    width = columns(sys.stdout)
    return "\n".join(hung(line, width, _HANG) for line in [*lines, *_afterwards(state, became), *audit])


def _afterwards(state: WholeStatus, became: HistoryEntry | None) -> list[str]:
    """Of one that is over: when it ended, and what to do with what it did, by commands that need no daemon."""
    if not state.ended_at:
        return [] if state.unattended is UNSET else [UNATTENDED]
    see, take = f"see it    hub diff {state.session_id}", f"take it   hub take {state.session_id}"
    if became is None:
        work = [see, take]
    elif became.event == "discarded":
        work = [f"discarded {Clock().at(became.ts)}; its snapshots: hub history --commits", see]
    else:
        work = [f"taken     as {became.commit[:12]} on {became.held_by or became.branch}", see]
    return [f"ended     {Clock().at(state.ended_at)}", *work, 'another   hub run "task"']


def _cost(cost: Cost) -> str:
    """The sum, and what is not in it."""
    known = cost_in_words(cost.session_usd, whole=cost.priced)
    if cost.priced:
        return known
    models = ", ".join(name or "a model nobody named" for name in cost.unpriced_models)
    return f"{known}: no price for {models}"


def _pipeline(run: RunStatus) -> str:
    """How far a run is, and the node it is at."""
    done = sum(node.state is NodeState.COMPLETED for node in run.nodes)
    now = ", ".join(node.id for node in run.nodes if node.state in (NodeState.STARTING, NodeState.RUNNING))
    return f"{run.name}: {done} of {len(run.nodes)} nodes done" + (f", at {now}" if now else "")


def beside(sessions: list[Session], shown: str) -> str:
    """A line of how many others are not over, those that need somebody first; nothing where there are none."""
    groups = Counter(one.group for one in sessions if not one.ended_at and one.session_id != shown)
    if not groups:
        return ""
    said = ", ".join(f"{GROUPS[group].lower()}: {count}" for group, count in sorted(groups.items()))
    return f"others    {said}  (hub ls)\n"


def waiting(approvals: list[Approval]) -> str:
    """What waits for the user's word, and how it is given."""
    return f"approval  is needed: hub approve ID, or hub deny ID\n{listed(approvals)}"
