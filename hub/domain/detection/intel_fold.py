"""The fold from a store's records to `SessionIntel`.

Owns: `IntelDraft`, which every reader of a format fills: what is said again is counted once, what is long is bounded, and
every record leaves a mark in the account.
Must not: know any one agent's format, or read anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable
from itertools import islice
from typing import TYPE_CHECKING

from hub.domain.detection.intel import (
    MAX_TURNS,
    Accounting,
    CallEnd,
    SessionIntel,
    StoredTurn,
    StoreHit,
    drift,
)

if TYPE_CHECKING:
    from hub.domain.contract import Sourced
    from hub.domain.intent.fold import IntentFold
    from hub.domain.meta import EventMeta

MAX_ITEMS = 2_000
"""Distinct files, skills or steps that are kept; more than a person could use, and bounded."""
_MAX_KINDS = 8
_MAX_KIND = 40
_MAX_ENDED = 2_000
"""Characters of what a tool told that are kept."""
DONE = frozenset({"completed", "complete", "done", "cancelled", "canceled", "deleted", "skipped"})
"""States of a task after which it does not remain."""


class IntelDraft:
    """Session intel in the making.

    Records come in the order of the file. Exactly one of `took`, `ignored`, `unknown`, `damaged` and `repeated` is
    called for each.

    Attributes:
        lifts: Whether the intent is told as well; set before the first record.
    """

    def __init__(self) -> None:
        self.session_id = ""
        self.cwd = ""
        self.model = ""
        self.part_of = ""
        self.at_work = False
        self.tokens_exact = True
        self.lifts = True
        self._prompt = ""
        self._turns: deque[tuple[str, StoredTurn]] = deque(maxlen=MAX_TURNS)
        self._messages = 0
        self._named: set[str] = set()
        self._files: dict[str, None] = {}
        self._skills: dict[str, None] = {}
        self._mcps: dict[str, None] = {}
        self._plan: dict[str, tuple[str, bool]] = {}
        self._intent: IntentFold | None = None
        self._writing: dict[str, tuple[str, ...]] = {}
        self._proposed: dict[str, tuple[tuple[str, str], ...]] = {}
        self._ends: deque[CallEnd] = deque(maxlen=MAX_ITEMS)
        self._ends_told = False
        self._passed: dict[str, None] = {}
        """Files of calls that the agent went on to speak after."""
        self._last_called: list[str] = []
        """Files of calls since the last words."""
        self._events = 0
        self._replanned = False
        self._told_plan: tuple[list[str], list[str]] = ([], [])
        self._requests: dict[str, tuple[int, int]] = {}
        """Tokens in and out of each request."""
        self._total: tuple[int, int] | None = None
        self._counts = {"parsed": 0, "ignored": 0, "unknown": 0, "damaged": 0, "repeated": 0}
        self._kinds: dict[str, None] = {}
        self._skipped = 0

    @property
    def prompt(self) -> str:
        """The user's first words; "" while there are none."""
        return self._prompt

    # What became of a record.

    def took(self, strange: str | None = None) -> None:
        """It told something; or, where there is something strange in it that nobody knows, it is unknown as that."""
        if strange:
            self.unknown(strange)
        else:
            self._counts["parsed"] += 1

    def ignored(self) -> None:
        """It is of a known kind that tells nothing."""
        self._counts["ignored"] += 1

    def repeated(self) -> None:
        """It says once more what another said."""
        self._counts["repeated"] += 1

    def damaged(self) -> None:
        """It cannot be read."""
        self._counts["damaged"] += 1

    def unknown(self, kind: str) -> None:
        """It is of a kind nobody here knows."""
        self._counts["unknown"] += 1
        if len(self._kinds) < _MAX_KINDS:
            self._kinds["".join(char for char in kind if char.isprintable())[:_MAX_KIND] or "?"] = None

    def skipped(self, count: int) -> None:
        """So many bytes were not read."""
        self._skipped += count

    # What it told.

    def said(self, role: str, text: str, *, key: str = "", join: bool = False) -> None:
        """Words of the user or the assistant. Blank ones are none.

        Args:
            role: `user` or `assistant`.
            text: The words.
            key: What names the message in the store; the same key again replaces the words.
            join: Instead of replacing, adds them in a new paragraph: the message comes in several records.
        """
        if not text.strip():
            return
        if role == "user" and not self._prompt:
            self._prompt = text
        self._feed("text", text, {"role": role})
        if role == "assistant":  # what its user broke in on may be over without effect
            for path in self._last_called:
                _keep(self._passed, path)
        self._last_called.clear()
        if key and key in self._named:
            self._again(role, text, key, join=join)
            return
        self._messages += 1
        if key:
            self._named.add(key)
        self._turns.append((key, StoredTurn(role, text)))

    def _again(self, role: str, text: str, key: str, *, join: bool) -> None:
        for at, (known, turn) in enumerate(self._turns):
            if known == key:
                whole = text
                if join:
                    whole = turn.text if text in turn.text else f"{turn.text}\n\n{text}"
                self._turns[at] = (key, StoredTurn(role, whole))

    def forget_turns(self, but: Container[str] = ()) -> None:
        """The history was rewound or compacted away: turns said so far, but those with these keys, are not recent."""
        self._turns = deque((one for one in self._turns if one[0] in but), MAX_TURNS)

    def touched(self, path: str) -> None:
        """The agent changed this file."""
        _keep(self._files, path)

    def touches(self, key: str, paths: Iterable[str]) -> None:
        """A call of a tool, by its key, would change these files: they count once the call has ended well."""
        if key in self._writing or len(self._writing) < MAX_ITEMS:
            new = (*paths,)
            self._writing[key] = self._writing.get(key, ()) + new
            self._last_called += new

    def skill(self, name: str) -> None:
        """A skill was offered to it or used by it."""
        _keep(self._skills, name)

    def mcp(self, name: str) -> None:
        """It has this tool server, or used it."""
        _keep(self._mcps, name)

    def planned(self, steps: Iterable[tuple[str, str]]) -> None:
        """The plan in force, in whole: pairs of a step and its state. Replaces the one before."""
        self._plan = {}
        for step, state in steps:
            self._step(step, step, state)
        self._replanned = True

    def plans(self, key: str, steps: Iterable[tuple[str, str]]) -> None:
        """A call of a tool, by its key, would make this the plan: it is in force once the call has ended well."""
        if len(self._proposed) < MAX_ITEMS:
            self._proposed[key] = tuple(steps)

    def task(self, key: str, step: str, state: str) -> None:
        """One step of the plan, by its key: new, or changed. An empty `step` keeps the words it has."""
        self._step(key, step, state)
        self._replanned = True

    def _step(self, key: str, step: str, state: str) -> None:
        words = step.strip() or self._plan.get(key, ("", False))[0]
        if state == "deleted":
            self._plan.pop(key, None)
        elif words and (key in self._plan or len(self._plan) < MAX_ITEMS):
            self._plan[key] = (words, _is_done(state))

    def began(self, key: str, tool: str, *, command: str = "", path: str = "") -> None:
        """A call of a tool, by its key: of a shell with its command, of a tool that writes with the file."""
        if ">" in command:
            from hub.domain.intent.shell import written  # few commands write a file so

            if paths := written(command):
                self.touches(key, paths)
        self._feed("tool_use", "", {"tool": tool, "toolId": key, "command": command, "path": path})

    def ended(self, key: str, text: str = "", *, exit_code: int | None = None, failed: bool = False) -> None:
        """How the call of this key ended; a key of no call tells nothing.

        Args:
            key: The call's.
            text: What the tool told.
            exit_code: The command's; None = not told.
            failed: Whether the tool says that it failed, whatever the status.
        """
        proposed = self._proposed.get(key)
        well = not (failed or exit_code)
        self.settled(key, well=well)
        plan = _stepped(proposed) if well and proposed is not None else None
        self._ends.append(CallEnd(key=key, text=text[:_MAX_ENDED], exit_code=exit_code, plan=plan))
        end: EventMeta = {"toolId": key, "isError": failed}
        if exit_code is not None:
            end["exitCode"] = exit_code
        self._feed("tool_result", text, end)

    def settled(self, key: str, *, well: bool) -> None:
        """Whether the call of this key did what it was to do: what it would have changed or planned counts then."""
        self._ends_told = True
        paths, plan = self._writing.pop(key, ()), self._proposed.pop(key, None)
        if well:
            for path in paths:
                self.touched(path)
            if plan is not None:
                self.planned(plan)

    def _feed(self, kind: str, text: str, meta: EventMeta) -> None:
        """What is told also goes to the fold of a session that hub runs: one reading of prose and calls for both."""
        if self.lifts:
            self._feed_plan()
            self._put(kind, text, meta)

    def _put(self, kind: str, text: str, meta: EventMeta) -> None:
        from hub.domain.event import Event, EventType  # a list of sessions has none

        self._events += 1
        self._fold().feed(self._events, Event(EventType(kind), text, meta))

    def _fold(self) -> IntentFold:
        if self._intent is None:
            from hub.domain.intent.fold import IntentFold  # a list of sessions does without

            self._intent = IntentFold()
        return self._intent

    def _feed_plan(self) -> None:
        """The plan, once its steps have been told: an agent may tell thousands, each in a record of its own."""
        if not self._replanned or not self.lifts:
            return
        from hub.domain.intent.plan import MAX_ITEMS as PLAN_ITEMS  # as above

        self._replanned = False
        told = list(islice(self._plan.values(), PLAN_ITEMS))
        plan = ([words for words, _ in told], [words for words, done in told if not done])
        if plan != self._told_plan:  # said once more it is no newer than what was said since
            self._told_plan = plan
            self._put("system", "", {"plan": plan[0], "tasksRemaining": plan[1]})

    def used(self, key: str, tokens_in: int, tokens_out: int) -> None:
        """What one request used. Of the same key the largest counts: stores repeat it, and some begin with a part."""
        known = self._requests.get(key) if key else None
        if known is None or known[1] < tokens_out:
            self._requests[key or f"\0{len(self._requests)}"] = (tokens_in, tokens_out)

    def total(self, tokens_in: int, tokens_out: int) -> None:
        """What the session used so far, as the store itself sums it up. The newest counts, and more than `used`."""
        self._total = (tokens_in, tokens_out)

    # The end.

    def finish(self, hit: StoreHit) -> SessionIntel:
        """All of it as a value, with the alarm where the format has drifted.

        A transcript that tells of no call's end has none to wait for: a plan counts, and a file once the agent spoke.
        """
        if not self._ends_told:
            for path in self._passed:
                self.touched(path)
            for plan in self._proposed.values():
                self.planned(plan)
        self._feed_plan()
        self._feed(
            "system", "", {"skills": list(self._skills), "mcps": list(self._mcps), "model": self.model}
        )
        account = Accounting(**self._counts, skipped_bytes=self._skipped, unknown_kinds=tuple(self._kinds))
        (tokens_in, tokens_out), intent = self._sum(), self._fold().intent() if self.lifts else None
        return SessionIntel(
            session_id=self.session_id or hit.session_id,
            model=self.model,
            initial_prompt=self._prompt,
            plan=self._steps(intent.plan if intent else ()),
            tasks_remaining=self._steps(intent.tasks_remaining if intent else (), rest=True),
            files_touched=self._below(self.cwd or hit.cwd),
            skills=tuple(self._skills),
            mcps=tuple(self._mcps),
            recent_turns=tuple(turn for _, turn in self._turns),
            tokens_in=tokens_in,
            tokens_out=tokens_out,
            message_count=self._messages,
            cwd=self.cwd or hit.cwd,
            part_of=self.part_of,
            at_work=self.at_work,
            ends=tuple(self._ends),
            intent=intent,
            tokens_exact=self.tokens_exact and (self._total is not None or not self._skipped),
            accounting=account,
            alarm=drift(account, said=bool(self._messages)),
        )

    def _steps(self, told: Iterable[Sourced], *, rest: bool = False) -> tuple[str, ...]:
        """The steps of the list that it keeps, all or the rest; where it keeps none, of the plan that it told."""
        if not self._plan:
            return tuple(step.text for step in told)
        return tuple(words for words, done in self._plan.values() if not (rest and done))

    def _below(self, cwd: str) -> tuple[str, ...]:
        """The files, those in the session's folder relative to it: formats name the same file both ways."""
        root = f"{cwd.rstrip('/')}/"
        named = (path.removeprefix(root) if cwd else path for path in self._files)
        return tuple(dict.fromkeys(path.removeprefix("./") for path in named))

    def _sum(self) -> tuple[int, int]:
        if self._total is not None:
            return self._total
        found = self._requests.values()
        return sum(given for given, _ in found), sum(told for _, told in found)


def _is_done(state: str) -> bool:
    return state.lower().replace("-", "_") in DONE


def _stepped(steps: Iterable[tuple[str, str]]) -> tuple[tuple[str, bool], ...]:
    """The steps of a list that is told in whole, each once, as the list's last word has it."""
    told = {words: _is_done(state) for step, state in steps if (words := step.strip())}
    return tuple(islice(told.items(), MAX_ITEMS))


def _keep(into: dict[str, None], name: str) -> None:
    if name and len(into) < MAX_ITEMS:
        into[name] = None


def mcp_of(tool: str) -> str:
    """The tool server that a tool's name tells of: `mcp__server__tool`; "" of any other name."""
    parts = tool.split("__")
    return parts[1] if len(parts) > 2 and parts[0] == "mcp" else ""  # noqa: PLR2004  # mcp, server, tool
