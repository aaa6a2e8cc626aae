"""Every agent once, and the session each works on.

Owns: how processes that were recognised are counted, how an agent is matched with a session, and how sure that is.
Must not: recognise a process (`hub.domain.detection.processes` does), or read a store.

Rules:
 1. A launcher and what it launches are one agent: the outermost process of an unbroken line counts. An agent that
    another agent has started through anything else is a subagent and does not count; nor do an agent's servers.
    A server that works on sessions for other processes is in no line but its own: it may outlive whoever started it.
 2. What cannot be told apart is said: several sessions that fit are candidates, and none of them is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum

import attrs

from hub.domain.detection.processes import Recognised, rank

_GENERATIONS = 64
"""A line of parents longer than this is not followed."""
SLACK = 3.0
"""Seconds by which a session may seem older than the process that began it: clocks and file systems are coarse."""


class Confidence(StrEnum):
    """How sure it is that a session belongs to the agent it is told with."""

    EXACT = "exact"
    """The agent's own registry, a file it holds open or its own store says so."""
    LIKELY = "likely"
    """It is the only one in that folder that was written since the process began."""
    AMBIGUOUS = "ambiguous"
    """Several fit: they are the candidates, and none is told as the agent's."""
    NONE = "none"
    """No session is known."""


@attrs.frozen(kw_only=True)
class Agent:
    """One agent that runs."""

    head: Recognised
    """Its outermost process."""
    best: Recognised
    """The one of its processes that tells most."""
    pids: tuple[int, ...]
    """All of its own, the outermost first."""
    serves: tuple[str, ...] = ()
    """Of a server, the sessions that it holds open for other processes; () = it is an agent."""
    hosted: bool = False
    """Whether a server has started it, which starts it again where anybody else ends it."""

    @property
    def key(self) -> tuple[int, int]:
        """Pid and start time: another process never has the same."""
        return self.head.process.pid, self.head.process.starttime


@attrs.frozen(kw_only=True)
class SessionCandidate:
    """A session of a store that may belong to a running agent."""

    session_id: str
    cwd: str
    home: str
    """A folder the store lies below."""
    updated: float
    """Epoch seconds."""


@attrs.frozen
class SessionMatch:
    """Which session an agent works on."""

    session_id: str
    confidence: Confidence
    candidates: tuple[str, ...] = ()
    """Those that fit, the one written last first; () where there is no doubt."""


def agents(found: Iterable[Recognised], parent_of: Callable[[int], int]) -> tuple[Agent, ...]:
    """Every agent once, in the order of their pids, without subagents and helpers.

    Args:
        found: Every process that was recognised.
        parent_of: The parent of any process; 0 where there is none, or it is gone.
    """
    known = {one.process.pid: one for one in found}
    lines: dict[int, list[Recognised]] = {}
    for one in sorted(known.values(), key=lambda one: one.process.pid):
        head = _head(one, known, parent_of)
        if head is not None and not any(member.helper for member in (one, head)):
            lines.setdefault(head.process.pid, []).append(one)
    every = (_agent(known[pid], line, known) for pid, line in sorted(lines.items()))
    return tuple(one for one in every if one.serves or not one.head.server)


def _head(
    one: Recognised, known: Mapping[int, Recognised], parent_of: Callable[[int], int]
) -> Recognised | None:
    """The outermost process of the line `one` is in; None when another agent has started that."""
    head, pid, unbroken = one, one.process.parent, True
    for _ in range(_GENERATIONS):
        if pid <= 1:
            break
        above = known.get(pid)
        if above is None:
            unbroken = False
        elif above.process.run_id != one.process.run_id:
            break  # hub stands between the two: the agent above has only started hub
        elif head.server != above.server:
            break
        elif not unbroken or above.provider != one.provider:
            return None
        else:
            head = above
        pid = parent_of(pid)
    return head


def _agent(head: Recognised, line: Sequence[Recognised], known: Mapping[int, Recognised]) -> Agent:
    pids = (head.process.pid, *(one.process.pid for one in line if one is not head))
    serves = dict.fromkeys(session for one in line if head.server for session in one.held)
    host = known.get(head.process.parent)
    return Agent(
        head=head,
        best=min((head, *line), key=lambda one: (rank(one), not one.session_id)),
        pids=pids,
        serves=tuple(serves),
        hosted=host is not None and host.server,
    )


def choose(
    running: Sequence[Agent], sessions: Mapping[str, Sequence[SessionCandidate]]
) -> dict[tuple[int, int], SessionMatch]:
    """Which session each running agent works on, by the agent's key.

    Args:
        running: The agents.
        sessions: What the stores have, by the provider's name.
    """
    chosen = {
        agent.key: SessionMatch(agent.best.session_id, Confidence.EXACT)
        for agent in running
        if agent.best.session_id
    }
    taken = {(agent.head.provider, chosen[agent.key].session_id) for agent in running if agent.key in chosen}
    fits = {agent.key: _fitting(agent, sessions, taken) for agent in running if agent.key not in chosen}
    wanted: dict[tuple[str, str], int] = {}
    for agent in running:
        for session_id in fits.get(agent.key, ()):
            name = (agent.head.provider, session_id)
            wanted[name] = wanted.get(name, 0) + 1
    for agent in running:
        if agent.key in fits:
            found = fits[agent.key]
            alone = len(found) == 1 and wanted[agent.head.provider, found[0]] == 1
            chosen[agent.key] = _choice(found, alone=alone)
    return chosen


def _choice(found: tuple[str, ...], *, alone: bool) -> SessionMatch:
    if alone:
        return SessionMatch(found[0], Confidence.LIKELY)
    return SessionMatch("", Confidence.AMBIGUOUS if found else Confidence.NONE, found)


def _fitting(
    agent: Agent, sessions: Mapping[str, Sequence[SessionCandidate]], taken: set[tuple[str, str]]
) -> tuple[str, ...]:
    """Sessions of its folder and its home that were written since it began, newest first."""
    provider, process = agent.head.provider, agent.head.process
    fitting = [
        session
        for session in sessions.get(provider, ())
        if session.cwd == process.cwd
        and below(session.home, agent.best.home)
        and session.updated + SLACK >= process.began
        and (provider, session.session_id) not in taken
    ]
    return tuple(dict.fromkeys(s.session_id for s in sorted(fitting, key=lambda s: -s.updated)))


def below(path: str, folder: str) -> bool:
    """Whether the path is the folder or in it; true where no folder is known."""
    return not folder or path == folder or path.startswith(folder.rstrip("/") + "/")
