"""What of a scan is new, and how it is said in the event log.

Owns: by which name an agent, a session and a prompt are known again, and the words and fields of an announcement.
Must not: scan, or append anything.

An agent is told of when it is first seen, and once more when it is first known what it was asked to do; one that begins
another session is asked something else, and that is told too. The log knows the agent by a name and the prompt by another,
so neither is told twice, however often the daemon is started meanwhile: whether the event with the agent's name told of the
prompt as well, the log's own record says (`again`). Transcripts that were there before the daemon are no news.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from hub.actors.common.clock import iso
from hub.domain.detection.detected import DetectedAgent
from hub.domain.detection.matching import Agent
from hub.domain.event import Record, Tag
from hub.domain.text.safe import headline
from hub.io.events.store import NewEvent
from hub.io.runner.proc import boot_id


@attrs.define
class DetectorNews:
    """What was told, or was there before."""

    to_json: Callable[[DetectedAgent], dict[str, Any]]
    """As an agent is served, redacted."""
    clock: Callable[[], float]
    concerns: Callable[[DetectedAgent], bool]
    """Whether it is this log's to tell: of this project, and not hub's own."""
    _known: set[str] | None = None
    """Names; None before the first look."""
    _heard: set[str] = attrs.field(factory=set)
    """Names of prompts that the log has under the name of their agent."""
    _looked: float | None = None
    """When the last look began of which all was told; None before it."""

    def unpublished(self, found: Iterable[DetectedAgent]) -> bool:
        """Whether something of this is to be told."""
        return any(self._fresh(one) for one in found)

    def events(self, found: Iterable[DetectedAgent]) -> list[NewEvent]:
        """What is to be told of a scan. What it holds is not known before `told`."""
        first = self._known is None
        fresh = [one for one in found if self._fresh(one)]
        return [
            self._event(one) for one in fresh if one.gap or (self.concerns(one) and (one.agent or not first))
        ]

    def again(self, event: NewEvent, logged: Record | None) -> NewEvent | None:
        """The event once more, under its prompt's own name, where what the log has in its place does not tell the prompt.

        Args:
            event: One of `events`, appended.
            logged: The log's, which may be of an earlier daemon.
        """
        meta = logged.meta if logged is not None else {}
        if meta.get("prompt"):
            self._heard.add(f"{event.dispatch_id}:{meta.get('nativeSession', '')}")
        name = f"{event.dispatch_id}:{event.meta.get('nativeSession', '')}"
        if not event.meta.get("prompt") or name in self._heard:
            return None
        return attrs.evolve(event, dispatch_id=name)

    def told(self, found: Iterable[DetectedAgent], looked: float) -> None:
        """All of it is in the log; the look at which it was found began then."""
        self._known = (self._known or set()).union(*map(_names, found))
        self._looked = looked

    def quiet(self, looked: float) -> None:
        """A look that began then found nothing new."""
        self._looked = looked

    def _fresh(self, found: DetectedAgent) -> bool:
        name = _bare(found)[0]
        return not {name, _asked(found, name)} <= (self._known or set()) | self._heard

    def _event(self, found: DetectedAgent) -> NewEvent:
        told, name = self.to_json(found), _bare(found)[0]
        if name in (self._known or ()):
            name = _asked(found, name)
        tag, msg, meta = _alarm(told) if found.gap is not None else self._said(found, told)
        return NewEvent(str(tag), msg, meta, int(self.clock() * 1000), name, 0)

    def _said(self, found: DetectedAgent, told: dict[str, Any]) -> tuple[Tag, str, dict[str, object]]:
        session = told["session"] or {}
        pids = " or ".join(str(agent.pids[0]) for agent in found.contenders) or told["pid"]
        where = f"{told['displayName']} {'runs' if pids else 'was'} in {told['workDir'] or '?'}"
        what = headline(session.get("initialPrompt", ""))
        meta = {
            "detected": told["id"],
            **{name: told[name] for name in _TOLD},
            "nativeSession": session.get("sessionId", ""),
            "prompt": what,
            "absentAt": "" if self._looked is None else iso(self._looked),
        }
        msg = f"{where} (pid {pids})" if pids else where
        return Tag.SYSTEM, f"{msg}: {what}" if what else msg, meta


_TOLD = ("provider", "pid", "workDir", "account", "running", "confidence")


def _alarm(told: dict[str, Any]) -> tuple[Tag, str, dict[str, object]]:
    msg = f"sessions of {told['displayName']} may be missing from what is detected: {told['alarm']}"
    return Tag.ERROR, msg, {"detected": told["id"]}


def _names(found: DetectedAgent) -> tuple[str, ...]:
    """All its names, and those that its sessions will have once nobody runs them; each also with its prompt."""
    bare = _bare(found)
    contenders = map(_process, found.contenders)
    return (*bare, *(_asked(found, name) for name in (*bare, *contenders)))


def _bare(found: DetectedAgent) -> tuple[str, ...]:
    """Its process, its session, the sessions that may be its own; whatever it was asked."""
    process = (_process(found.agent),) if found.agent is not None else ()
    sessions = (found.choice.session_id, *found.choice.candidates)
    kept = (f"detect:{found.provider}:{session}" for session in sessions if session)
    return tuple(dict.fromkeys((*process, *kept))) or (f"detect:{found.id}",)


def _process(agent: Agent) -> str:
    return f"detect:{boot_id()}:{agent.key[0]}:{agent.key[1]}"


def _asked(found: DetectedAgent, name: str) -> str:
    return f"{name}:{found.kept.session_id}" if found.kept is not None and found.prompt else name
