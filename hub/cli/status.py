"""`hub status`: what the session does now.

Owns: the one-screen picture of a session.
Must not: compute anything the daemon has not said.
"""

from __future__ import annotations

from typing import Any

import click

from hub.cli.approvals import listed
from hub.cli.clock import Clock
from hub.cli.context import client, json_option, session_argument, show, which
from hub.cli.items import FIDELITY
from hub.cli.screen import for_people
from hub.client.quick import Api
from hub.errors import Code, HubError


@click.command()
@session_argument
@json_option
@click.pass_context
def status(ctx: click.Context, session: str, *, as_json: bool) -> None:
    """What a session does now, what it has cost, and the pipeline it is a part of.

    Example: hub status --json
    """
    api = client(ctx)
    state = _whole(api, session)
    show(state, as_json=as_json, text=picture)
    if state["needsApproval"] and not as_json:
        click.echo(waiting(api.get("/api/approvals")))


def _whole(api: Api, session: str) -> dict[str, Any]:
    """The status with the session's `cost`, the running `pipeline` and what ails the `audit` log; else None each."""
    state: dict[str, Any] = api.get("/api/status", which(session))
    state["cost"] = api.get("/api/session/cost", which(state["sessionId"])) if state["sessionId"] else None
    state["pipeline"] = None
    state["audit"] = _audit(api)
    if state["runId"]:
        run = api.get("/api/pipelines/run")
        state["pipeline"] = run if run["runId"] == state["runId"] else None
    return state


def _audit(api: Api) -> dict[str, Any] | None:
    try:
        api.get("/api/audit/head")
    except HubError as error:
        return error.problem() if error.code in (Code.AUDIT_BROKEN, Code.AUDIT_UNREADABLE) else None
    return None


def picture(state: dict[str, Any]) -> str:
    """The status for people."""
    audit = [f"audit     {state['audit']['detail']} {state['audit']['hint']}"] if state.get("audit") else []
    if not state["sessionId"]:
        return "\n".join(['idle - start a session: hub run "task"', *audit])
    account = f"/{state['account']}" if state["account"] not in ("", "default") else ""
    lines = [
        f"{state['sessionState']}  {state['activeProvider']}{account}{_handing_over(state['fsmState'])}"
        + ("  stopping" if state["stopping"] else ""),
        f"task      {state['taskGoal'].splitlines()[0][:100]}",
        f"session   {state['sessionId']}  on {state['branch']}",
        f"handoffs  {state['handoffsDone']}"
        + (f"  fidelity {_fidelity(state)}" if state["handoffsDone"] else ""),
        f"tokens    {state['tokensUsed']:,}",
    ]
    lines.append(f"cost      {_cost(state['cost'])}")
    if state["pipeline"]:
        lines.append(f"pipeline  {_pipeline(state['pipeline'])}")
    if state["sessionState"] == "completed":
        lines.append("verified  " + ("yes" if state["verified"] else "no - no acceptance command said so"))
    if state["waitUntil"]:
        lines.append(f"waiting   until {Clock().at(state['waitUntil'])}: {for_people(state['waitReason'])}")
    if state["needsInput"] and not state["needsApproval"]:
        lines.append('input     the agent asks: hub reply "..."')
    if state["error"]:
        lines.append(f"error     {state['error']['code']}: {_briefly(state['error']['detail'])}")
        lines.append(f"next      {state['error']['hint']}")
    return "\n".join([*lines, *audit])


def _briefly(detail: str) -> str:
    """The first line of an error; commands' output may follow, and that is in the log."""
    return detail.partition("\n")[0]


def _fidelity(state: dict[str, Any]) -> str:
    if state.get("hfsPending"):
        return "pending"
    return f"{state['hfsScore']:g} of 100: {FIDELITY}"


def _handing_over(fsm: str) -> str:
    """Where a handoff stands; nothing in between."""
    return "" if fsm == "RUNNING" else f"  handing over: {fsm}"


def _cost(cost: dict[str, Any]) -> str:
    """The sum, and what is not in it."""
    usd = cost["sessionUsd"]
    if cost["priced"]:
        return f"${usd:.4f}"
    models = ", ".join(name or "a model nobody named" for name in cost["unpricedModels"])
    return ("not known" if usd is None else f"more than ${usd:.4f}") + f": no price for {models}"


def _pipeline(run: dict[str, Any]) -> str:
    """How far a run is, and the node it is at."""
    done = sum(node["state"] == "completed" for node in run["nodes"])
    now = ", ".join(node["id"] for node in run["nodes"] if node["state"] in ("starting", "running"))
    return f"{run['name']}: {done} of {len(run['nodes'])} nodes done" + (f", at {now}" if now else "")


def waiting(approvals: list[dict[str, Any]]) -> str:
    """What waits for the user's word, and how it is given."""
    return f"approval  is needed: hub approve ID, or hub deny ID\n{listed(approvals)}"
