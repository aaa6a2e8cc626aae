"""What is told of an agent that hub did not start, or of a session that one has left.

Owns: `DetectedAgent`, its id, and how running agents and kept sessions become one list.
Must not: show or redact it, or look at the machine.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

import attrs

from hub.domain.detection.intel import Gap, SessionIntel, StoreHit
from hub.domain.detection.matching import Agent, Confidence, SessionCandidate, SessionMatch, below, choose
from hub.domain.text.figures import first_of
from hub.errors import Code, HubError

UNKNOWN = SessionMatch("", Confidence.NONE)
_OWN_WORKTREES = "/.hub/worktrees/"
_FEW = 3
"""Ids that a refusal names."""


@attrs.frozen
class KeptSession:
    """A session as its store has it."""

    hit: StoreHit
    intel: SessionIntel

    @property
    def session_id(self) -> str:
        """The agent's own id of it."""
        return self.intel.session_id or self.hit.session_id

    @property
    def cwd(self) -> str:
        """The folder the agent worked in."""
        return self.intel.cwd or self.hit.cwd

    @property
    def updated(self) -> float:
        """When it was last written, epoch seconds."""
        return self.hit.mtime_ns / 1e9


@attrs.frozen(kw_only=True)
class DetectedAgent:
    """One agent or session. `agent` is None for a session nobody works on, `kept` for an agent without one."""

    provider: str
    account: str
    agent: Agent | None = None
    kept: KeptSession | None = None
    choice: SessionMatch = UNKNOWN
    contenders: tuple[Agent, ...] = ()
    """Agents that may be working on this session: nobody can tell."""
    server: Agent | None = None
    """Who works on the session for the agent, and would go on without it; the agent itself where nobody else is there."""
    parts: tuple[KeptSession, ...] = ()
    """What its subagents keep: no work of their own, but spent all the same."""
    also: tuple[str, ...] = ()
    """Other sessions that the server works on, or holds for an agent that waits: they would end with it."""
    gap: Gap | None = None
    """Set where this stands for a store that was not searched to its end, and for no agent and no session."""

    @property
    def id(self) -> str:
        """The key by which it is adopted; never a path."""
        if self.gap is not None:
            return f"{self.provider}:skipped:{hashlib.sha256(self.gap.root.encode()).hexdigest()[:12]}"
        session = self.kept.session_id if self.kept is not None else self.choice.session_id
        if session or self.agent is None:
            return f"{self.provider}:{session}"
        return f"{self.provider}:pid:{self.agent.head.process.pid}"

    @property
    def work_dir(self) -> str:
        """The folder it works in."""
        if self.agent is not None and not self.agent.serves and self.agent.head.process.cwd:
            return self.agent.head.process.cwd
        return self.kept.cwd if self.kept is not None else ""

    @property
    def prompt(self) -> str:
        """What it was first asked to do; "" while that is not known."""
        return self.kept.intel.initial_prompt if self.kept is not None else ""

    @property
    def hubs(self) -> bool:
        """Whether hub itself has started it."""
        if self.agent is not None:
            return bool(self.agent.head.process.run_id)
        return hubs_own(self.work_dir)

    @property
    def pids(self) -> tuple[int, ...]:
        """Its processes, the outermost first."""
        both = (one.pids for one in (self.agent, self.server) if one is not None)
        return tuple(dict.fromkeys(itertools.chain.from_iterable(both)))

    @property
    def last_active(self) -> float:
        """Epoch seconds."""
        began = self.agent.head.process.began if self.agent is not None else 0.0
        return max(began, self.kept.updated if self.kept is not None else 0.0)


def hubs_own(folder: str) -> bool:
    """Whether it is in a worktree that hub has made."""
    return _OWN_WORKTREES in f"{folder}/"


def meant_by(given: str, found: Iterable[DetectedAgent]) -> DetectedAgent:
    """The one that is meant by an id, or by the beginning of one, with its agent's name or without.

    Raises:
        HubError: `not_found`, `which_session`.
    """
    known = {one.id: one for one in found if one.gap is None}
    if given in known:
        return known[given]
    fits = [
        name
        for name in known
        if given and (name.startswith(given) or name.partition(":")[2].startswith(given))
    ]
    if not fits:
        raise HubError(Code.NOT_FOUND, f"No agent {given!r} was detected.", hint="See: hub detect")
    if len(fits) > 1:
        hint = "Say more of the id: hub detect"
        raise HubError(Code.WHICH_SESSION, f"Several are meant: {first_of(fits, _FEW)}.", hint=hint)
    return known[fits[0]]


def combine(
    running: Sequence[Agent],
    kept: Iterable[KeptSession],
    account_of: Callable[[str, str], str],
    gaps: Iterable[Gap] = (),
) -> tuple[DetectedAgent, ...]:
    """Every agent and every session once; what runs first, then the session written last, gaps at the end.

    Args:
        running: The agents.
        kept: The sessions.
        account_of: The account's label of a provider's folder.
        gaps: Stores that may have more.
    """
    oldest_first = sorted(kept, key=lambda one: one.hit.mtime_ns)
    every = {(one.hit.provider, one.session_id): one for one in oldest_first if one.session_id}
    parts: dict[tuple[str, str], list[KeptSession]] = {}
    for (provider, _), one in every.items():
        if one.intel.part_of:
            parts.setdefault((provider, one.intel.part_of), []).append(one)
    by_id = {name: _busy(one, parts.get(name, ())) for name, one in every.items() if not one.intel.part_of}
    alone = [_of_whole(agent, every) for agent in running if not agent.serves]
    chosen = choose(alone, _sessions(by_id.values()))
    rivals = _rivals(alone, chosen)
    told = [_running(agent, chosen[agent.key], by_id, account_of) for agent in alone]
    for server in (agent for agent in running if agent.serves):
        told = _served(server, told, by_id, account_of)
    taken = {(one.provider, one.kept.session_id) for one in told if one.kept is not None}
    left = [_left(one, rivals.get(name, ()), account_of) for name, one in by_id.items() if name not in taken]
    missing = [
        DetectedAgent(provider=gap.provider, account=account_of(gap.provider, gap.root), gap=gap)
        for gap in dict.fromkeys(gaps)
    ]
    whole = (
        attrs.evolve(one, parts=tuple(parts.get((one.provider, one.choice.session_id), ())))
        for one in (*told, *left)
    )
    return tuple(sorted((*whole, *missing), key=lambda one: (one.agent is None, -one.last_active, one.id)))


def _busy(kept: KeptSession, parts: Iterable[KeptSession]) -> KeptSession:
    """It is at work while one of its subagents is."""
    at_work = kept.intel.at_work or any(one.intel.at_work for one in parts)
    return attrs.evolve(kept, intel=attrs.evolve(kept.intel, at_work=at_work))


def _of_whole(agent: Agent, every: Mapping[tuple[str, str], KeptSession]) -> Agent:
    """With the session that it works on, where it was recognised by that of a subagent in its own process."""
    part = every.get((agent.head.provider, agent.best.session_id))
    if part is None or not part.intel.part_of:
        return agent
    return attrs.evolve(agent, best=attrs.evolve(agent.best, session_id=part.intel.part_of))


def _sessions(kept: Iterable[KeptSession]) -> Mapping[str, Sequence[SessionCandidate]]:
    found: dict[str, list[SessionCandidate]] = {}
    for one in kept:
        session = SessionCandidate(
            session_id=one.session_id, cwd=one.cwd, home=one.hit.root, updated=one.updated
        )
        found.setdefault(one.hit.provider, []).append(session)
    return found


def _rivals(
    running: Sequence[Agent], chosen: Mapping[tuple[int, int], SessionMatch]
) -> dict[tuple[str, str], tuple[Agent, ...]]:
    found: dict[tuple[str, str], tuple[Agent, ...]] = {}
    for agent in running:
        for session_id in chosen[agent.key].candidates:
            name = (agent.head.provider, session_id)
            found[name] = (*found.get(name, ()), agent)
    return found


def _running(
    agent: Agent,
    choice: SessionMatch,
    by_id: Mapping[tuple[str, str], KeptSession],
    account_of: Callable[[str, str], str],
) -> DetectedAgent:
    provider = agent.head.provider
    kept = by_id.get((provider, choice.session_id))
    home = agent.best.home or (kept.hit.root if kept is not None else "")
    return DetectedAgent(
        provider=provider, account=account_of(provider, home), agent=agent, kept=kept, choice=choice
    )


def _served(
    server: Agent,
    told: Sequence[DetectedAgent],
    by_id: Mapping[tuple[str, str], KeptSession],
    account_of: Callable[[str, str], str],
) -> list[DetectedAgent]:
    """The agents with what the server works on: for one of them, or for nobody who is there still.

    What it only holds open is over where nobody is there: it does so long after whoever asked has left.
    """
    provider = server.head.provider
    works = {
        name: kept
        for name in server.serves
        if (kept := by_id.get((provider, name))) is not None and kept.intel.at_work
    }
    asked = {one.kept.session_id for one in told if one.kept is not None and one.provider == provider}
    lost = [name for name in server.serves if name in works or name in asked]
    unasked = (
        _running(server, SessionMatch(name, Confidence.EXACT), by_id, account_of)
        for name in works
        if name not in asked
    )

    def served(one: DetectedAgent) -> DetectedAgent:
        name = one.kept.session_id if one.kept is not None and one.provider == provider else ""
        if name not in works:
            return one
        return attrs.evolve(one, server=server, also=tuple(other for other in lost if other != name))

    return [served(one) for one in (*told, *unasked)]


def _left(
    kept: KeptSession, rivals: tuple[Agent, ...], account_of: Callable[[str, str], str]
) -> DetectedAgent:
    confidence = Confidence.AMBIGUOUS if rivals else Confidence.EXACT
    return DetectedAgent(
        provider=kept.hit.provider,
        account=account_of(kept.hit.provider, kept.hit.root),
        kept=kept,
        choice=SessionMatch(kept.session_id, confidence),
        contenders=rivals,
    )


def account_label(homes: Iterable[tuple[str, str]], folder: str) -> str:
    """The label of the account whose home the folder lies in, the longest that fits; else the folder itself.

    Args:
        homes: Home and label of each account.
        folder: A home, or a folder in one.
    """
    fits = [(len(home), label) for home, label in homes if home and below(folder, home)]
    return max(fits)[1] if fits else folder
