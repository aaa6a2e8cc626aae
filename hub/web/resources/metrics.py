"""`GET /metrics`: figures for Prometheus, in its text format.

Owns: which figures there are, their names and their help.
Must not: keep a figure, or fail as a whole where one part of the daemon does not answer.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
import trio

import hub
from hub.api import observability as api
from hub.api.base import Nothing
from hub.api.observability import Breaker
from hub.api.providers import ProviderStatus
from hub.api.quota import Entry
from hub.api.status import Status
from hub.domain.jsonvalue import JsonObject
from hub.domain.session import SessionState
from hub.domain.wallclock import local
from hub.errors import HubError
from hub.messages.audit import GetAuditHead
from hub.messages.breakers import BreakerSnapshots
from hub.messages.quota import GetWallet
from hub.messages.session import GetProviders, GetStatus
from hub.web.context import Context, Handler, call
from hub.web.route import get
from supervisors import ActorDied, NodeInfo

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
_DYNAMIC = frozenset({"adapters", "running", "jobs"})
Labels = Mapping[str, str]
Sample = tuple[Labels, float]


@attrs.frozen
class Metric:
    """One figure, with a sample for each set of labels."""

    name: str
    kind: str
    help: str
    samples: Iterable[Sample]


def text(metrics: Iterable[Metric]) -> str:
    """The exposition format: `# HELP`, `# TYPE`, then a line for each sample."""
    lines: list[str] = []
    for metric in metrics:
        lines += [f"# HELP {metric.name} {metric.help}", f"# TYPE {metric.name} {metric.kind}"]
        lines += [f"{metric.name}{_labels(labels)} {value:.15g}" for labels, value in metric.samples]
    return "\n".join(lines) + "\n"


def _labels(labels: Labels) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


async def metrics(context: Context, given: Nothing) -> bytes:
    """Asked at once; a part that is just restarting keeps no other from being seen."""
    figures: JsonObject = dict.fromkeys(_PARTS)

    async def ask(name: str, source: Handler) -> None:
        with contextlib.suppress(HubError, ActorDied, trio.TooSlowError):
            figures[name] = await source(context, given)

    async with trio.open_nursery() as nursery:
        for name, (source, _) in _PARTS.items():
            nursery.start_soon(ask, name, source)
    samples = [({"part": name}, float(figures[name] is not None)) for name in _PARTS]
    answered = Metric("hub_part_up", "gauge", "Whether this part of the daemon answered.", samples)
    parts = [
        metric
        for name, (_, told) in _PARTS.items()
        if figures[name] is not None
        for metric in told(figures[name])
    ]
    return text([*_process(), answered, *parts]).encode()


def _process() -> Iterator[Metric]:
    import psutil  # noqa: PLC0415  # only who is scraped needs it

    process = psutil.Process(os.getpid())
    yield Metric("hub_build_info", "gauge", "The version that runs.", [({"version": hub.__version__}, 1)])
    with process.oneshot():
        resident, started, cpu = process.memory_info().rss, process.create_time(), process.cpu_times()
    yield Metric("process_resident_memory_bytes", "gauge", "Resident memory.", [({}, resident)])
    yield Metric(
        "process_start_time_seconds", "gauge", "When the daemon started, epoch seconds.", [({}, started)]
    )
    yield Metric("process_cpu_seconds_total", "counter", "CPU time used.", [({}, cpu.user + cpu.system)])
    yield Metric("process_open_fds", "gauge", "Open file descriptors.", [({}, process.num_fds())])


def _session(status: Status) -> Iterator[Metric]:
    samples = [({"state": str(name)}, float(name == status.session_state)) for name in SessionState]
    yield Metric("hub_session_state", "gauge", "1 for the state of the session.", samples)
    yield Metric("hub_session_tokens", "gauge", "Tokens the session used.", [({}, status.tokens_used)])
    yield Metric("hub_session_handoffs", "gauge", "Handoffs of the session.", [({}, status.handoffs_done)])
    yield Metric("hub_session_hfs", "gauge", "Fidelity of the last handoff, 0-100.", [({}, status.hfs_score)])
    yield Metric(
        "hub_session_needs_input", "gauge", "1 while the agent waits for you.", [({}, status.needs_input)]
    )


def _providers(providers: Iterable[ProviderStatus]) -> Iterator[Metric]:
    samples = [({"provider": p.name, "status": str(p.status)}, 1.0) for p in providers]
    yield Metric("hub_provider_status", "gauge", "1 for the status of the provider.", samples)


def _quota(wallet: Iterable[Entry]) -> Iterator[Metric]:
    windows = [
        ({"provider": entry.provider, "account": entry.account, "window": window.window}, window)
        for entry in wallet
        for window in entry.windows
    ]
    used = [(labels, w.fraction_used) for labels, w in windows if w.fraction_used is not None]
    yield Metric("hub_quota_used_ratio", "gauge", "Share of the quota window that is used.", used)
    resets = [(labels, local(w.resets_at).timestamp()) for labels, w in windows if w.resets_at is not None]
    yield Metric(
        "hub_quota_resets_at_seconds", "gauge", "When the window begins anew, epoch seconds.", resets
    )
    eta = [(labels, w.eta_minutes * 60.0) for labels, w in windows if w.eta_minutes is not None]
    yield Metric("hub_quota_eta_seconds", "gauge", "Seconds until the wall, as forecast.", eta)


def _breakers(breakers: Sequence[Breaker]) -> Iterator[Metric]:
    samples = [({"name": b.name, "state": str(b.state)}, 1.0) for b in breakers]
    yield Metric("hub_breaker_state", "gauge", "1 for the state of the breaker.", samples)
    failures = [({"name": b.name}, float(b.failures)) for b in breakers]
    yield Metric("hub_breaker_failures", "gauge", "Failures in a row.", failures)


def _audit(head: api.AuditHead) -> Iterator[Metric]:
    yield Metric("hub_audit_records_total", "counter", "Records of the audit log.", [({}, head.seq + 1)])
    yield Metric("hub_audit_bytes", "gauge", "Size of the audit log.", [({}, head.bytes)])


def _tree(tree: NodeInfo) -> Iterator[Metric]:
    nodes = list(_nodes(tree))
    restarts = [({"path": node.path}, float(node.restarts)) for node in nodes]
    yield Metric("hub_actor_restarts_total", "counter", "Restarts since the daemon started.", restarts)
    waiting = [({"path": node.path}, float(node.depth)) for node in nodes]
    yield Metric("hub_actor_mailbox_depth", "gauge", "Messages that wait for the actor.", waiting)


def _nodes(node: NodeInfo) -> Iterator[NodeInfo]:
    """The parts that last: a name for each dispatch would be a new series for each."""
    yield node
    if node.name not in _DYNAMIC:
        for child in node.children:
            yield from _nodes(child)


async def _look(context: Context, _: Nothing) -> NodeInfo:
    return context.snapshot()


_PARTS: Mapping[str, tuple[Handler, Callable[[Any], Iterator[Metric]]]] = {
    "session": (call(GetStatus), _session),
    "providers": (call(GetProviders), _providers),
    "quota": (call(GetWallet), _quota),
    "breakers": (call(BreakerSnapshots), _breakers),
    "audit": (call(GetAuditHead), _audit),
    "tree": (_look, _tree),
}

ROUTES = (get("/metrics", "Figures for Prometheus, as text.", metrics, answer=str, media=MEDIA),)
