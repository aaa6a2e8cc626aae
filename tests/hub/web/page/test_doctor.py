"""What the daemon tells of its health."""

import attrs
import pytest

from hub.api.graph import Graph
from hub.api.observability import AuditHead, Breaker, TreeNode
from hub.api.providers import ProviderStatus
from hub.api.trust import Trusted
from hub.domain.breaker import BreakerState
from hub.domain.routing import Availability
from hub.web.page.ask import Failed
from hub.web.page.doctor import findings
from tests.sample import sample


def node(path: str, restarts: int = 0, *below: TreeNode) -> TreeNode:
    kind = "supervisor" if below else "worker"
    one = sample(
        TreeNode, name=path.rpartition("/")[2], path=path, kind=kind, state="running", restarts=restarts
    )
    return attrs.evolve(one, children=list(below))


WELL = {
    "trust": Trusted(project="/w", state="trusted", trusted=True, digest="", items=[], gone=[]),
    "audit": AuditHead(seq=9, hash="0", bytes=1),
    "providers": [sample(ProviderStatus, displayName="Claude Code", status=Availability.ACTIVE)],
    "breakers": [Breaker(name="a", state=BreakerState.CLOSED, failures=0)],
    "index": sample(Graph, state="ready"),
    "tree": node("root", 0, node("root/quota")),
}


def test_all_is_well():
    assert all(one.ok for one in findings(**WELL))


def test_each_trouble_is_found_and_has_a_next_step():
    ill = {
        "trust": attrs.evolve(WELL["trust"], trusted=False, state="changed"),
        "audit": Failed("it cannot be read", "See it."),
        "providers": [],
        "breakers": [Breaker(name="a", state=BreakerState.OPEN, failures=3)],
        "index": sample(Graph, scan={"files": 0, "bytes": 0, "error": "no space"}),
        "tree": node("root", 0, node("root/quota", 2)),
    }
    found = findings(**ill)
    assert not any(one.ok for one in found)
    assert all(one.hint for one in found)
    assert "root/quota" in next(one.detail for one in found if one.what == "Parts of the daemon")


@pytest.mark.parametrize(
    ("status", "reason", "ok", "says"),
    [
        (
            Availability.STANDBY,
            "no login of it is seen: it is asked after those with one",
            True,
            "ready: Goose",
        ),
        (Availability.EXHAUSTED, "its usage limit is reached", False, "used up: Goose"),
        (Availability.ERROR, "not logged in", False, "none can work here yet"),
    ],
)
def test_an_agent_is_ready_where_hub_would_choose_it(status: Availability, reason: str, ok: bool, says: str):
    """One whose login cannot be seen is: "none is installed and logged in" stood where agents were at work."""
    goose = sample(ProviderStatus, displayName="Goose", status=status, reason=reason)
    found = [one for one in findings(**{**WELL, "providers": [goose]}) if one.what == "Agents"]
    assert [(one.ok, one.detail) for one in found] == [(ok, says)]
