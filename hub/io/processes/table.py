"""The machine's processes, looked at again and again for next to nothing.

Owns: which processes were seen before, and what is read of one that is new.
Must not: judge which agent a process belongs to (`hub.domain.detection.processes` does), run a program, or signal anybody.

Theory of operation. A look lists `/proc` and reads only what was not there at the last look: with nothing new that is
0.1 ms. Three things could deceive it, and each is met: a process that was seen between its fork and its exec (a young
one is looked at again for some seconds), a number that was given to another process (the start time of every agent is
compared at every look; everything is looked at anew twice a minute), and an agent whose executable tells nothing (the
agents' own registries are read when their folder has changed). Other users' processes are passed over.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from hub.domain.detection.matching import Agent, agents
from hub.domain.detection.processes import Recognised, RegistryEntry, Signature, named, recognise
from hub.io.processes import facts
from hub.io.runner import proc
from hub.io.stores.registries import Registries

_YOUNG = 5.0
"""Seconds within which a process may still become another program, or open its store."""
_ALL = 30.0
"""Seconds after which every process is looked at anew."""


class ProcessTable:
    """What is known of the machine's processes.

    Attributes:
        found: Every process of an agent, by its pid.
    """

    def __init__(
        self,
        signatures: Mapping[str, Signature],
        registries: Registries | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.signatures = signatures
        self.registries = registries or Registries(signatures)
        self.clock = clock
        self.found: dict[int, Recognised] = {}
        self._seen: set[str] = set()
        self._young: dict[str, float] = {}
        self._looked = float("-inf")

    def look(self, *, deep: bool = False) -> bool:
        """Look once; whether an agent's process has come, gone, or tells something else.

        Args:
            deep: Whether what is known of the agents is read once more.
        """
        now, before = self.clock(), dict(self.found)
        if abs(now - self._looked) >= _ALL:
            self._seen, self._looked = set(), now
        present = facts.pids()
        for pid in [pid for pid, one in self.found.items() if proc.starttime(pid) != one.process.starttime]:
            del self.found[pid]
            self._seen.discard(str(pid))  # whoever has the number now is new
        old, fresh = self._seen, present - self._seen
        again = {name for name, until in self._young.items() if until >= now and name in present}
        known = {str(pid) for pid in self.found} if deep else set()
        learned = self._take_all(fresh | again | known, present, deep=deep)
        if learned:  # a registry that nobody knew of tells of the agent that brought it
            self._take_all(learned, present, deep=False)
        self._young = {name: self._young[name] for name in again}
        if old:
            self._young |= dict.fromkeys(fresh, now + _YOUNG)
        self._seen = present
        return self.found != before

    def agents(self) -> tuple[Agent, ...]:
        """Every agent that ran at the last look, once."""
        return agents(self.found.values(), _parent)

    def _take_all(self, names: set[str], present: set[str], *, deep: bool) -> set[str]:
        """Read these processes and those that a registry names; those of them that brought a registry of their own."""
        entries = self.registries.entries(deep=deep)
        unknown = {str(pid) for pid in entries.keys() - self.found.keys()}
        return {
            name for name in (names | unknown) & present if self._take(int(name), entries.get(int(name), {}))
        }

    def _take(self, pid: int, entries: Mapping[str, RegistryEntry]) -> bool:
        process = facts.read(pid, _anything if entries else self._wanted)
        found = recognise(process, self.signatures, entries) if process is not None else None
        if found is None:
            self.found.pop(pid, None)
            return False
        self.found[pid] = found
        return self.registries.add(found.provider, found.home)

    def _wanted(self, executable: str, script: str) -> bool:
        return any(named(executable, script, signature) for signature in self.signatures.values())


def _parent(pid: int) -> int:
    return proc.parent(pid) or 0


def _anything(_executable: str, _script: str) -> bool:
    return True
