"""One look at the machine: its processes and the agents' own stores, made into one list.

Owns: what is remembered between two looks so that the next one is cheap.
Must not: run on the event loop (everything here blocks, for some milliseconds), be used from two threads at once, or
write anything anywhere.

A look is cheap where nothing changes: of the processes only new ones are read, of the stores only the stamps of a few
folders. Everything is walked anew twice a minute, whatever the stamps say.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache

import attrs

from hub.api import detect as api
from hub.api.detect import Intel
from hub.domain.accounts.account import Account
from hub.domain.config.reader import Config
from hub.domain.detection.detected import DetectedAgent, KeptSession, account_label, combine, hubs_own
from hub.domain.detection.intel import GLANCE, WHOLE, Gap, Place, SessionIntel, StoreHit
from hub.domain.detection.matching import SLACK, Agent
from hub.domain.detection.processes import COMMAND_LINE
from hub.io.files.changed import Repoll, database, watched
from hub.io.git.layout import same_repository
from hub.io.processes.control import Identity
from hub.io.processes.table import ProcessTable
from hub.io.runner.proc import boot_id
from hub.io.stores import StoreFiles
from hub.providers import stores
from hub.providers.provider import Provider
from hub.providers.registry import signatures

_WALK = 30.0
"""Seconds after which the stores are walked although no stamp has changed."""

Env = tuple[tuple[str, str], ...]


class Scanner:
    """What is known of the machine.

    Args:
        root: The project.
        providers: Agents that hub can run, by name.
        config: The settings.
        clock: Epoch seconds.
        env: The user's environment.
        home: His home directory.

    Attributes:
        newest: The last scan.
    """

    def __init__(
        self,
        root: str | os.PathLike[str],
        providers: Mapping[str, Provider],
        config: Config,
        *,
        clock: Callable[[], float] = time.time,
        env: Mapping[str, str] | None = None,
        home: str = "",
    ) -> None:
        self.root = os.fspath(root)
        self.providers = providers
        self.config = config
        self.clock = clock
        self.env = dict(os.environ) if env is None else env
        self.home = home or os.path.expanduser("~")  # noqa: PTH111  # where nobody knows it stays
        self.files = StoreFiles()
        self.newest: tuple[DetectedAgent, ...] = ()
        self._gaps: tuple[Gap, ...] = ()
        self._repoll = Repoll()
        self._intel: dict[tuple[str, str, str], tuple[int, SessionIntel]] = {}
        self._walked = float("-inf")

    @cached_property
    def process_table(self) -> ProcessTable:
        """Who runs. Made by the first look: it takes every agent's store, and no start waits for their import."""
        return ProcessTable(signatures(), clock=self.clock)

    def glance(self) -> bool:
        """Whether a scan would tell something new; the hot path of ambient mode."""
        moved = self.process_table.look()
        return self._repoll.changed() or moved or abs(self.clock() - self._walked) >= _WALK

    def scan(self, since: float) -> tuple[DetectedAgent, ...]:
        """Every agent that runs, and every session written since then (epoch seconds)."""
        self.process_table.look(deep=True)
        running = self.process_table.agents()
        hits, places = self._search(running, since)
        kept = [KeptSession(attrs.evolve(hit, root=_real(hit.root)), self._read(hit)) for hit in hits]
        alive = {(hit.provider, hit.path, hit.session_id) for hit in hits}
        self._intel = {name: known for name, known in self._intel.items() if name in alive}
        homes = self._homes()
        self._walked = self.clock()
        found = combine(
            running,
            kept,
            lambda provider, folder: account_label(homes.get(provider, ()), _real(folder)),
            self._gaps,
        )
        self._repoll.watch(watched(places, hits), self._awaited(found))
        # For the sake of an agent its store was searched further back than was asked for.
        self.newest = tuple(
            one for one in found if one.agent or one.contenders or one.gap or one.last_active >= since
        )
        return self.newest

    def whole(self, found: DetectedAgent) -> SessionIntel:
        """All that the session's store tells, every byte read."""
        return stores.read(found.kept.hit, self.files, WHOLE) if found.kept is not None else SessionIntel()

    def identities(self, found: DetectedAgent) -> tuple[Identity, ...]:
        """The processes of an agent, as they were when it was seen: none that only has one of their numbers."""
        known = (self.process_table.found.get(pid) for pid in found.pids)
        return tuple(
            Identity(one.process.pid, one.process.starttime, boot_id()) for one in known if one is not None
        )

    def inside(self, folder: str) -> bool:
        """Whether a folder is in this project: its tree, or another worktree of the same repository."""
        return bool(folder) and same_repository(folder, self.root)

    def concerns(self, found: DetectedAgent) -> bool:
        """Whether somebody works on this project with it, or did, and it is nothing that hub has started."""
        return not found.hubs and not hubs_own(found.work_dir) and self.inside(found.work_dir)

    def shown(self, found: DetectedAgent) -> api.Detected:
        """As it is served, but not redacted."""
        name = stores.DRIVEN.get(found.provider) or stores.DETECTED[found.provider]
        return shown(found, name, adoptable=self.inside(found.work_dir) and not found.hubs)

    # --- stores ---------------------------------------------------------------------------------------

    def _search(self, running: Sequence[Agent], since: float) -> tuple[list[StoreHit], list[Place]]:
        folders = tuple(dict.fromkeys((self.root, *(agent.head.process.cwd for agent in running))))
        found: dict[tuple[str, str, str], StoreHit] = {}
        places: dict[Place, None] = {}
        gaps: dict[tuple[str, str], Gap] = {}
        for env, only, after in self._wanted(running, since):
            variables = dict(env)
            home, since_ns = variables.get("HOME", self.home), int(after * 1e9)
            search = stores.search(self.files, home, variables, since_ns, folders=folders, only=only)
            for hit in search.hits:
                found.setdefault((hit.provider, hit.path, hit.session_id), hit)
            gaps |= {(one.provider, one.root): one for one in search.skipped}
            for name in only:
                places |= dict.fromkeys(stores.load(name).locations(home, variables, folders))
        hits = sorted(found.values(), key=lambda hit: -hit.mtime_ns)
        self._gaps = tuple(gaps.values())
        return hits, list(places)

    def _awaited(self, found: Iterable[DetectedAgent]) -> Iterator[str]:
        """What gets newer once an agent that runs has a session, or its session a prompt."""
        folders = (self.root,)
        for one in found:
            if one.prompt or not (one.agent or one.contenders):
                continue
            if one.kept is not None:
                yield one.kept.hit.path
            elif one.agent is not None and one.provider in stores.names():
                process = one.agent.head.process
                env = dict(self._env(process.env))
                home = env.get("HOME", self.home)
                for place in stores.load(one.provider).locations(home, env, (*folders, process.cwd)):
                    yield from database(f"{place.root}/{place.pattern[-1]}")
                    yield from self.files.folders(place)

    def _wanted(self, running: Sequence[Agent], since: float) -> Iterator[tuple[Env, tuple[str, ...], float]]:
        """Which environments are searched for whose sessions, and from when: the user's, each account's, each agent's."""
        known = tuple(stores.names())
        wanted: dict[tuple[Env, tuple[str, ...]], float] = {(self._env(self.env), known): since}
        for name in known:
            for account in self._accounts(name):
                if account.config_dir:
                    env = self._env({**self.env, **self._account_env(name, account)})
                    wanted.setdefault((env, (name,)), since)
        for agent in running:
            if agent.head.provider in known:
                key = (self._env(agent.head.process.env), (agent.head.provider,))
                wanted[key] = min(wanted.get(key, since), agent.head.process.began - SLACK)
        for (env, only), after in wanted.items():
            yield env, only, after

    def _env(self, env: Mapping[str, str]) -> Env:
        """Only what moves a store: two agents with the same of that have the same store."""
        names = {"HOME", *stores.variables()}
        return tuple(sorted((name, env[name]) for name in names if env.get(name)))

    def _read(self, hit: StoreHit) -> SessionIntel:
        name = (hit.provider, hit.path, hit.session_id)
        known = self._intel.get(name)
        if known is None or known[0] != hit.mtime_ns:
            known = (hit.mtime_ns, stores.read(hit, self.files, GLANCE))
            if not known[1].alarm:  # a busy disk is no property of the session: the next scan reads it again
                self._intel[name] = known
        return known[1]

    def _homes(self) -> dict[str, list[tuple[str, str]]]:
        """Home and label of every account, by the provider's name."""
        found: dict[str, list[tuple[str, str]]] = {}
        for name, signature in self.process_table.signatures.items():
            found[name] = []
            for account in self._accounts(name):
                own = self._account_env(name, account) if account.config_dir else self.env
                found[name].append((_real(signature.home_of({"HOME": self.home, **own})), account.label))
        return found

    def _accounts(self, name: str) -> Sequence[Account]:
        return self.config.accounts(name) if name in self.providers else ()

    def _account_env(self, name: str, account: Account) -> Mapping[str, str]:
        """What moves the agent to the account's directory. Imports the agent."""
        place = attrs.evolve(account, config_dir=os.path.expanduser(account.config_dir))  # noqa: PTH111  # as above
        return self.providers[name].account_env(place)


@lru_cache(maxsize=1024)
def _real(folder: str) -> str:
    return os.path.realpath(folder) if folder else ""


def shown(found: DetectedAgent, display_name: str, *, adoptable: bool) -> api.Detected:
    """One agent, or a session that one has left."""
    agent, kept = found.agent, found.kept
    return api.Detected(
        id=found.id,
        provider=found.provider,
        display_name=display_name,
        surface=agent.best.surface if agent is not None else COMMAND_LINE,
        pid=found.pids[0] if found.pids else 0,
        pids=list(found.pids),
        running=agent is not None,
        work_dir=found.work_dir,
        account=found.account,
        detected_via=[
            *(["process"] if agent is not None else []),
            *(["transcript"] if kept is not None else []),
        ],
        last_active=int(found.last_active),
        owner="hub" if found.hubs else "user",
        confidence=found.choice.confidence,
        candidates=list(found.choice.candidates),
        alarm=found.gap.why if found.gap is not None else "",
        adoptable=adoptable,
        session=told(kept.intel, kept.session_id) if kept is not None else told(SessionIntel()),
    )


def told(intel: SessionIntel, session_id: str = "") -> Intel:
    """What a store tells of a session."""
    return Intel(
        session_id=session_id or intel.session_id,
        model=intel.model,
        initial_prompt=intel.initial_prompt,
        plan=list(intel.plan),
        tasks_remaining=list(intel.tasks_remaining),
        files_touched=list(intel.files_touched),
        skills=list(intel.skills),
        mcps=list(intel.mcps),
        recent_turns=[
            api.Turn(role="user" if turn.role == "user" else "assistant", text=turn.text)
            for turn in intel.recent_turns
        ],
        tokens_in=intel.tokens_in,
        tokens_out=intel.tokens_out,
        tokens_exact=intel.tokens_exact,
        message_count=intel.message_count,
        alarm=intel.alarm,
    )
