"""`hub status`: what the session does now.

Owns: the one-screen picture of a session.
Must not: compute anything the daemon has not said.
"""

from __future__ import annotations

from typing import Any

import click

from hub.cli.approvals import listed
from hub.cli.context import client, json_option, show


@click.command()
@json_option
@click.pass_context
def status(ctx: click.Context, *, as_json: bool) -> None:
    """What the session does now.

    Example: hub status --json
    """
    api = client(ctx)
    state = api.get("/api/status")
    show(state, as_json=as_json, text=picture)
    if state["needsApproval"] and not as_json:
        click.echo(waiting(api.get("/api/approvals")))


def picture(state: dict[str, Any]) -> str:
    """The status for people."""
    if not state["sessionId"]:
        return 'idle - start a session: hub run "task"'
    account = f"/{state['account']}" if state["account"] not in ("", "default") else ""
    lines = [
        f"{state['sessionState']}  {state['activeProvider']}{account}  ({state['fsmState']})",
        f"task      {state['taskGoal'].splitlines()[0][:100]}",
        f"session   {state['sessionId']}  on {state['branch']}",
        f"handoffs  {state['handoffsDone']}"
        + (f"  hfs {state['hfsScore']:g}" if state["handoffsDone"] else ""),
        f"tokens    {state['tokensUsed']:,}",
    ]
    if state["sessionState"] == "completed":
        lines.append("verified  " + ("yes" if state["verified"] else "no - no acceptance command said so"))
    if state["waitUntil"]:
        lines.append(f"waiting   until {state['waitUntil']}: {state['waitReason']}")
    if state["needsInput"] and not state["needsApproval"]:
        lines.append('input     the agent asks: hub reply "..."')
    if state["error"]:
        lines.append(f"error     {state['error']['code']}: {state['error']['detail']}")
        lines.append(f"next      {state['error']['hint']}")
    return "\n".join(lines)


def waiting(approvals: list[dict[str, Any]]) -> str:
    """What waits for the user's word, and how it is given."""
    return f"approval  is needed: hub approve ID, or hub deny ID\n{listed(approvals)}"
