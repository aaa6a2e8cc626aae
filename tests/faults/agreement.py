"""What wallet, providers, circuit and history must say together, at any moment.

Owns: that one comparison, through the API alone.
Must not: know which story led there.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hub.client.quick import Api


def agree(api: Api) -> dict[str, Any]:
    """Compare the four; answers each account's `{status, reason, resetsAt, state, used}` by `provider/account`."""
    circuit = {row["name"]: row for row in api.get("/api/circuit")}
    wallet = {f"{row['provider']}/{row['account']}": row for row in api.get("/api/quota/wallet")}
    rows = api.get("/api/providers")
    told = _told(api)
    seen = {}
    for row in rows:
        assert row["status"] == _best(row["accounts"]), row
        for account in row["accounts"]:
            name = f"{row['name']}/{account['label']}"
            state = circuit.get(name, {"state": "closed"})["state"]
            entry = wallet.get(name, {"fractionUsed": None, "resetsAt": None})
            _one(name, account, state, entry)
            if name in told:  # half-open by the clock alone is no change that anybody made
                assert state == told[name] or (state, told[name]) == ("half-open", "open"), (name, told)
            seen[name] = {**account, "state": state, "used": entry["fractionUsed"], "wallet": entry}
    _handoffs(api)
    return seen


def _one(name: str, account: dict[str, Any], state: str, entry: dict[str, Any]) -> None:
    status, used = account["status"], entry["fractionUsed"]
    full = used is not None and used >= 1
    story = (name, account, state, entry)
    if status == "exhausted":
        assert state == "open", story
        assert full, story
    if full:
        assert status in ("exhausted", "active"), story
        assert state == "open", story
    if state == "open":
        assert status != "standby", story
    if status in ("standby", "active"):
        assert account["resetsAt"] is None or status == "active", story
    else:
        assert account["reason"], story
    if status == "exhausted":
        assert account["resetsAt"], story
    if status == "exhausted" and entry["resetsAt"]:
        apart = datetime.fromisoformat(account["resetsAt"]) - datetime.fromisoformat(entry["resetsAt"])
        assert abs(apart.total_seconds()) <= 1, story


def _best(accounts: list[dict[str, Any]]) -> str:
    found = {account["status"] for account in accounts}
    first: str = accounts[0]["status"]
    return next((status for status in ("active", "standby") if status in found), first)


def _told(api: Api) -> dict[str, str]:
    """The newest state of each breaker by the history."""
    rows = [row["summary"] for row in api.get("/api/history") if row["event"] == "breaker"]
    return {row.split()[1].rstrip(":"): row.split(": ")[1].split()[0] for row in rows}


def _handoffs(api: Api) -> None:
    """The newest session's handoffs are counted where a receiver took over, and nowhere else."""
    status, rows = api.get("/api/status"), api.get("/api/history")
    mine = [row for row in rows if row["event"] == "handoff" and row.get("sessionId") == status["sessionId"]]
    done = [
        r
        for r in mine
        if r["summary"].startswith("RESUMING -> RUNNING") and "not handed over" not in r["summary"]
    ]
    assert len(done) == status["handoffsDone"], mine
