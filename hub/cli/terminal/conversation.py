"""A session's log as a conversation: who speaks, what is said and done, and what stands at the moment.

Owns: what of the conversation is shown while a session is watched, in which order, and in whose words; and the state that a
record leaves behind (what is under way, the plan, tokens, quota, what waits for an answer).
Must not: draw, or ask the daemon.

A reader is given each thing once and whole: a tool call together with its result, a streamed text when it is complete,
a handoff in one sentence, an error that others repeat only the first time. The states of a handoff, quota readings and
an agent's own remarks are for `verbose`; every record stands in `hub logs`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import attrs

from hub.cli.terminal.clock import Clock
from hub.cli.terminal.items import FIDELITY, AskItem, Heading, Item, PlanItem, Said, ToldItem, ToolItem
from hub.cli.terminal.screen import for_people, window_name
from hub.domain.conversation import ConversationFold, ConversationItem, ItemKind, plan_of
from hub.domain.event import RecordJson
from hub.domain.handoff import State
from hub.domain.meta import EventMeta
from hub.domain.text.figures import agent_of
from hub.domain.text.safe import clean

_OUTPUT = 12
"""Lines of a failed command's output."""
_ANSWERED = frozenset({ItemKind.SAID, ItemKind.THOUGHT, ItemKind.TOOL})
"""What an agent does that waits for no answer."""


@attrs.define
class _Quota:
    """What is known of an account's nearest wall."""

    used: int | None = None
    window: str = ""
    resets_at: float | None = None


@attrs.define
class Conversation:
    """Takes the records of a log, one after the other.

    Args:
        verbose: Whether the states of a handoff, readings and remarks are shown as well.
        ends_told: Whether the end of a session is said here; else whoever watches says it.
        answers: Whether a request is shown whole by whoever asks for the answer, and is not told here.
        clock: How instants are said.
    """

    verbose: bool = False
    ends_told: bool = False
    answers: bool = False
    clock: Clock = attrs.field(factory=Clock)
    agent: str = ""
    """Whose heading stands last."""
    doing: str = ""
    """What is under way, in a few words."""
    paused: bool = False
    partial: str = ""
    """Text that is still being written."""
    working: str = ""
    """The agent that works."""
    since: str = ""
    """When the session began; ISO."""
    tokens: int = 0
    """All of the session so far, in and out."""
    tasks: tuple[tuple[str, bool], ...] = ()
    asks: list[AskItem] = attrs.field(factory=list)
    _fold: ConversationFold = attrs.field(factory=ConversationFold)
    _models: dict[str, str] = attrs.field(factory=dict)
    _calls: dict[str, ConversationItem] = attrs.field(factory=dict)
    """Tool calls without a result."""
    _quota: dict[str, _Quota] = attrs.field(factory=dict)
    _held: list[ToldItem] = attrs.field(factory=list)
    """Errors of hub's that the end of the session may repeat."""
    _troubles: list[str] = attrs.field(factory=list)
    _giver: str = ""
    """Whose work is being handed over; "" = nobody's."""
    _sentence: bool = True
    """Whether the handoff under way was told."""
    _explained: bool = False
    _retrying: bool = False
    """Whether it was told that the agent's program tries again."""

    @property
    def standing(self) -> str:
        """What it waits for, else what is under way, in a few words."""
        if any(ask.approval for ask in self.asks):
            return "waiting for your approval"
        if self.asks:
            return "waiting for your reply"
        return "paused" if self.paused else self.doing or ("working" if self.working else "starting")

    @property
    def quota(self) -> str:
        """`5-hour 72 %` of the account that works; "" = not told."""
        found = self._quota.get(self.working)
        if found is None or found.used is None:
            return ""
        return f"{window_name(found.window) or 'quota'} {found.used / 10:.0f} %"

    def take(self, record: RecordJson) -> list[Item]:
        """What the next record of the log adds to what is shown."""
        item, meta = self._fold.take(record), record.get("meta", {})
        if item is None or meta.get("amends"):
            return []
        if item.who:
            self._heard(item, meta)
        items = list(self._taken(item, meta))
        if not items or not self._held or item.kind is ItemKind.END:
            return items
        held, self._held = self._held, []
        return [*held, *items]

    def rest(self) -> list[Item]:
        """What is left over when nothing more comes: calls without a result."""
        calls, self._calls = self._calls, {}
        self.partial = ""
        return [
            shown
            for call in calls.values()
            for shown in self._under(call.who, ToolItem(_one_line(call.text)))
        ]

    def _heard(self, item: ConversationItem, meta: EventMeta) -> None:
        """An agent that says anything works, and has the answer that it waited for."""
        self.working = item.who
        if item.kind in _ANSWERED:
            self._retrying = False
            self._drop("")
        if meta.get("model"):
            self._models[item.who] = meta["model"]

    # --- by kind --------------------------------------------------------------------------------------

    def _taken(self, item: ConversationItem, meta: EventMeta) -> Iterator[Item]:
        match item.kind:
            case ItemKind.SAID | ItemKind.THOUGHT:
                yield from self._text(item)
            case ItemKind.TOOL:
                yield from self._tool(item, meta)
            case ItemKind.PLAN:
                yield from self._planned(meta, item.who)
            case ItemKind.READING:
                yield from self._reading(item, meta)
            case ItemKind.GIVEN | ItemKind.TAKEN | ItemKind.MOVED:
                yield from self._handoff(meta)
            case ItemKind.SCORE:
                words = f"fidelity {meta['hfs']:g} of 100"
                yield ToldItem(words if self._explained else f"{words}: {FIDELITY}", "handoff")
                self._explained = True
            case ItemKind.USER | ItemKind.QUESTION | ItemKind.REQUEST | ItemKind.SETTLED:
                yield from self._asked(item, meta)
            case ItemKind.ERROR:
                yield from self._error(item, meta)
            case ItemKind.RESULT | ItemKind.REMARK | ItemKind.RETRY:
                yield from self._aside(item)
            case _:
                yield from self._own(item, meta)

    def _text(self, item: ConversationItem) -> Iterator[Item]:
        thinking = item.kind is ItemKind.THOUGHT
        if not item.whole:
            if not thinking:
                self.partial, self.doing = item.text, "writing"
            return
        self.partial, self.doing = "", "thinking" if thinking else ""
        yield from self._under(item.who, Said(item.text, thinking=thinking))

    def _tool(self, item: ConversationItem, meta: EventMeta) -> Iterator[Item]:
        what = _one_line(item.text)
        if item.result is None:
            self._calls[item.key] = item
            self.doing, self.partial = what, ""
            return
        self._calls.pop(item.key, None)
        self.doing = _one_line(next(reversed(self._calls.values())).text) if self._calls else ""
        if "plan" in meta:  # who keeps its list by a tool has said all with the list
            yield from self._planned(meta, item.who)
            return
        lines = [line.strip() for line in item.result.splitlines() if line.strip()]
        exit_code = meta.get("exitCode")
        first = _telling(lines, last=item.failed or bool(meta.get("command")))
        if item.failed and exit_code:
            first = f"exit {exit_code}: {first}" if first else f"exit {exit_code}"
        yield from self._under(
            item.who, ToolItem(what, first, folded=max(0, len(lines) - 1), failed=item.failed)
        )

    def _reading(self, item: ConversationItem, meta: EventMeta) -> Iterator[Item]:
        if "tokensOut" in meta:
            self.tokens += meta.get("tokensIn", 0) + meta["tokensOut"]
        agent = agent_of(meta)
        if "used" in meta and agent:
            self._wall(agent, meta, meta["used"])
        if self.verbose:
            yield ToldItem(self._people(item.text), "dim")

    def _wall(self, agent: str, meta: EventMeta, used: int) -> None:
        known = self._quota.setdefault(agent, _Quota())
        if known.used is None or used >= known.used or known.window == meta.get("window"):
            known.used = used
            known.window = meta.get("window") or known.window
            known.resets_at = meta.get("resetsAt", known.resets_at)

    def _handoff(self, meta: EventMeta) -> Iterator[Item]:
        if self.verbose:
            yield ToldItem(f"{meta['from']} -> {meta['to']}", "dim")
        if meta["from"] == State.RUNNING:
            self._giver, self._sentence = agent_of(meta), False
            self.doing, self.partial = "handing over", ""
            yield from self.rest()
        taker = meta.get("receiver") or (agent_of(meta) if meta["to"] == State.RUNNING else "")
        if taker and not self._sentence and _full(taker) != _full(self._giver):
            self._sentence = True
            why = self._why(meta.get("reason", ""))
            yield ToldItem(f"handing over: {_full(self._giver)} -> {_full(taker)} ({why})", "handoff")
        if meta["to"] == State.RUNNING:
            self._giver, self.doing, self.working = "", "", agent_of(meta) or self.working

    def _why(self, reason: str) -> str:
        """The reason of a handoff, in the words of whoever pays for the quota."""
        known = self._quota.get(self._giver, _Quota())
        if not reason.startswith("the usage limit") and " at " not in reason:
            return self._people(reason) or "as asked for"
        name = window_name(known.window)
        limit = f"{name} limit" if name else "usage limit"
        if " at " in reason:
            limit += f" at {reason.rpartition(' at ')[2]}"
        return f"{limit}, resets {self.clock.at(known.resets_at)}" if known.resets_at else limit

    def _asked(self, item: ConversationItem, meta: EventMeta) -> Iterator[Item]:
        number, session = meta.get("approvalId", ""), meta.get("sessionId", "")
        match item.kind:
            case ItemKind.USER:
                self._drop("")
                yield ToldItem(f"you: {item.text}", "good")
            case ItemKind.QUESTION:
                self._drop("")
                self.asks.append(AskItem(item.text, session_id=session))
                yield from self._under(item.who, Said(item.text))
            case ItemKind.SETTLED:
                self._drop(number)
                yield ToldItem(_one_line(item.text), "good" if meta["approved"] else "warn")
            case _:
                self.asks.append(AskItem(meta.get("action", item.text), number, session))
                if not self.answers:
                    why = meta.get("reason", "")
                    yield ToldItem(
                        _one_line(item.text), "warn", (clean(why),) if why not in item.text else ()
                    )

    def _error(self, item: ConversationItem, meta: EventMeta) -> Iterator[Item]:
        self.partial = ""
        if item.who and meta.get("failure") == "usage_limit":
            self._wall(item.who, meta, 1000)
            self._troubles.append(_one_line(item.text))
            if self.verbose:
                yield ToldItem(_one_line(item.text), "dim")
            return
        if meta.get("type"):
            if self._once(item.text):
                yield from self._under(item.who, ToldItem(item.text, "bad"))
            return
        first, *below = item.text.rstrip().splitlines() or [""]
        hint = [f"next: {meta['hint']}"] if meta.get("hint") else []
        told = ToldItem(first, "bad", (*below[-_OUTPUT:], *hint))
        if meta.get("code"):  # the end of the session has the same, with its next step
            self._held.append(told)
        elif self._once(first):
            yield told

    def _aside(self, item: ConversationItem) -> Iterator[Item]:
        """What an agent's program says beside its work."""
        if item.kind is ItemKind.RESULT:
            self.doing = self.partial = ""
            if item.text.strip() and item.again is None and self._once(item.text):
                yield from self._under(item.who, Said(item.text))
            return
        again = item.kind is ItemKind.RETRY
        self.doing = _one_line(item.text) if again else self.doing or "thinking"
        if again and not self._retrying:  # the first of many: without a network they take minutes
            self._retrying = True
            yield from self._under(item.who, ToldItem(_one_line(item.text), "warn"))
        elif self.verbose and item.text.strip():
            yield ToldItem(_one_line(item.text), "dim")

    def _own(self, item: ConversationItem, meta: EventMeta) -> Iterator[Item]:
        text = _one_line(item.text)
        match item.kind:
            case ItemKind.START:
                self.since, self.doing = meta.get("at", ""), "starting"
            case ItemKind.END:
                yield from self.rest()
                self._held, self.doing, self.asks = [], "", []
                if self.ends_told:
                    yield ToldItem(text, "good" if meta["ended"] == "completed" else "bad")
            case ItemKind.CHECK:
                self.doing = "" if item.whole else text
                if item.whole and (not self._giver or self.verbose):
                    below = (item.result or "").rstrip().splitlines()[-_OUTPUT:] if item.failed else ()
                    yield ToldItem(text, "bad" if item.failed else "good", tuple(below))
            case ItemKind.WAIT:
                self.paused, self.doing = self.paused or text == "paused", "waiting"
                words, _, step = self._people(item.text).partition(" Next: ")
                yield ToldItem(words, "warn", (f"next: {step}",) if step else ())
            case ItemKind.LEFT_OUT if not meta.get("named"):
                if self.verbose:
                    yield ToldItem(text, "dim")
            case _:
                if text == "resumed":
                    self.paused, self.doing = False, ""
                yield ToldItem(self._people(text))

    def _planned(self, meta: EventMeta, agent: str) -> Iterator[Item]:
        tasks = plan_of(meta)
        if tasks == self.tasks or not tasks:
            return
        before = dict(self.tasks)
        fresh = tuple(task for task, done in tasks if done and not before.get(task))
        changed = [task for task, _ in tasks] != [task for task, _ in self.tasks]
        self.tasks = tasks
        yield from self._under(agent, PlanItem(tasks, fresh, changed))

    # --- what they share ------------------------------------------------------------------------------

    def _under(self, agent: str, item: Item) -> Iterator[Item]:
        """The item, below the heading of whose it is."""
        if agent and agent != self.agent:
            self.agent = agent
            yield Heading(agent, self._models.get(agent, ""))
        yield item

    def _once(self, text: str) -> bool:
        """Whether this trouble was not told yet, be it in other company."""
        words = _one_line(text)
        if any(known and known in words for known in self._troubles):
            return False
        self._troubles.append(words)
        return True

    def _people(self, text: str) -> str:
        """A text of hub's own, in people's words and the place's time."""
        return for_people(self.clock.said(text))

    def _drop(self, approval: str) -> None:
        self.asks = [ask for ask in self.asks if ask.approval != approval]


def _full(label: str) -> str:
    """With the account, also where it has no name of its own."""
    return label if "/" in label or not label else f"{label}/default"


def _one_line(text: str) -> str:
    """The text without line breaks and runs of blanks."""
    return " ".join(text.split())


def _telling(lines: Sequence[str], *, last: bool) -> str:
    """The line of a result that tells most: of a command or a failure the last with a word in it, else the first."""
    telling = [line for line in lines if any(char.isalnum() for char in line)] or list(lines)
    if not telling:
        return ""
    return telling[-1] if last else telling[0]
