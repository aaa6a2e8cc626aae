"""`hub status`: what the session does now.

Owns: the one-screen picture of a session.
Must not: compute anything the daemon has not said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import attrs
import click

from hub.api.approvals import Approval
from hub.api.observability import AuditHead
from hub.api.pipelines import RunStatus
from hub.api.session import Cost
from hub.api.sessions import Session, Sessions
from hub.api.status import Status
from hub.cli.approvals import listed
from hub.cli.clock import Clock
from hub.cli.context import json_option, running, session_argument, show, which
from hub.cli.items import FIDELITY
from hub.cli.screen import for_people
from hub.client.quick import Api
from hub.domain.handoff import State
from hub.domain.pipeline.state import NodeState
from hub.domain.session import SessionState
from hub.domain.standing import GROUPS, HANDING_OVER, NEEDS
from hub.domain.text.figures import agent_name
from hub.domain.text.figures import cost as cost_in_words
from hub.errors import Code, HubError


@attrs.frozen(kw_only=True)
class WholeStatus(Status):
    """The status, with the session's cost, the pipeline run under way and what ails the audit log; None: there is none."""

    cost: Cost | None
    pipeline: RunStatus | None
    audit: Mapping[str, object] | None
    """A problem document."""


@click.command()
@session_argument
@json_option
@click.pass_context
def status(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """Show what a session is doing now, what it has cost, and the pipeline it is part of.

    Example: hub status --json
    """
    api = running(ctx)
    state = _whole(api, session)
    show(state, as_json=as_json, text=picture)
    if state.needs_approval and not as_json:
        click.echo(waiting(api.read(list[Approval], "/api/approvals")))
    if not session and not as_json and state.session_id:
        click.echo(beside(api.read(Sessions, "/api/sessions").sessions, state.session_id), nl=False)


def _whole(api: Api, session: str) -> WholeStatus:
    state = api.read(Status, "/api/status", which(session))
    run = api.read(RunStatus, "/api/pipelines/run") if state.run_id else None
    return WholeStatus(
        **attrs.asdict(state, recurse=False),
        cost=api.read(Cost, "/api/session/cost", which(state.session_id)) if state.session_id else None,
        pipeline=run if run is not None and run.run_id == state.run_id else None,
        audit=_audit(api),
    )


def _audit(api: Api) -> Mapping[str, object] | None:
    try:
        api.read(AuditHead, "/api/audit/head")
    except HubError as error:
        return error.problem() if error.code in (Code.AUDIT_BROKEN, Code.AUDIT_UNREADABLE) else None
    return None


def picture(state: WholeStatus) -> str:
    """The status for people."""
    audit = [f"audit     {state.audit['detail']} {state.audit['hint']}"] if state.audit else []
    if not state.session_id:
        return "\n".join(['idle - start a session: hub run "task"', *audit])
    lines = [
        f"{_does(state)}  {agent_name(state.active_provider, state.account)}{_handing_over(state.fsm_state)}"
        + ("  stopping" if state.stopping else ""),
        f"task      {state.task_goal.splitlines()[0][:100]}",
        f"session   {state.session_id}  on {state.branch}",
        f"handoffs  {state.handoffs_done}"
        + (f"  fidelity {_fidelity(state)}" if state.handoffs_done else ""),
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
        lines.append(f"error     {state.error.code}: {_briefly(state.error.detail)}")
        lines.append(f"next      {state.error.hint}")
    return "\n".join([*lines, *audit])


def _does(state: Status) -> str:
    """What it does; whom it waits for says more than that its agent runs."""
    needed = "approval" if state.needs_approval else "input" if state.needs_input else ""
    return NEEDS.get(needed, state.session_state)


def _briefly(detail: str) -> str:
    """The first line of an error; commands' output may follow, and that is in the log."""
    return detail.partition("\n")[0]


def _fidelity(state: Status) -> str:
    return "pending" if state.hfs_pending else f"{state.hfs_score:g} of 100: {FIDELITY}"


def _handing_over(fsm: State) -> str:
    """Where a handoff stands; nothing in between."""
    return f"  handing over: {HANDING_OVER[fsm]}" if fsm in HANDING_OVER else ""


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
