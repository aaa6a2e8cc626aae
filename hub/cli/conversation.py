"""A session's log as a conversation: who speaks, what is said and done, and what stands at the moment.

Owns: what of the log is shown while a session is watched, in which order, and in whose words; and the state that a
record leaves behind (what is under way, the plan, tokens, quota, what waits for an answer).
Must not: draw, or ask the daemon.

A reader is given each thing once and whole: a tool call together with its result, a streamed text when it is complete,
a handoff in one sentence, an error that others repeat only the first time. The states of a handoff, quota readings and
an agent's own remarks are for `verbose`; every record stands in `hub logs`.
"""

from __future__ import annotations

from collections.abc import Iterator

import attrs

from hub.cli.clock import Clock
from hub.cli.items import FIDELITY, AskItem, Heading, Item, PlanItem, Said, ToldItem, ToolItem
from hub.cli.screen import for_people, window_name
from hub.cli.words import call_id, full, one_line, told_line, why_waits
from hub.domain.event import RecordJson
from hub.domain.meta import EventMeta
from hub.domain.text.figures import agent_of
from hub.domain.text.result import bare, from_worktree
from hub.domain.text.safe import clean

_OUTPUT = 12
"""Lines of a failed command's output."""


@attrs.define
class _Quota:
    """What is known of an account's nearest wall."""

    used: int | None = None
    window: str = ""
    resets_at: float | None = None


@attrs.define
class _Call:
    """A tool call without its result yet."""

    agent: str
    model: str
    what: str


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
    _models: dict[str, str] = attrs.field(factory=dict)
    _calls: dict[str, _Call] = attrs.field(factory=dict)
    _quota: dict[str, _Quota] = attrs.field(factory=dict)
    _said: str = ""
    _pieces: list[str] = attrs.field(factory=list)
    _held: list[ToldItem] = attrs.field(factory=list)
    """Errors of hub's that the end of the session may repeat."""
    _troubles: list[str] = attrs.field(factory=list)
    _giver: str = ""
    """Whose work is being handed over; "" = nobody's."""
    _sentence: bool = True
    """Whether the handoff under way was told."""
    _explained: bool = False

    @property
    def standing(self) -> str:
        """What it waits for, else what is under way, in a few words."""
        if any(ask.approval for ask in self.asks):
            return "waiting for your approval"
        if self.asks:
            return "waiting for your reply"
        return "paused" if self.paused else self.doing or "working"

    @property
    def quota(self) -> str:
        """`5-hour 72 %` of the account that works; "" = not told."""
        found = self._quota.get(self.working)
        if found is None or found.used is None:
            return ""
        return f"{window_name(found.window) or 'quota'} {found.used / 10:.0f} %"

    def take(self, record: RecordJson) -> list[Item]:
        """What the next record of the log adds to what is shown."""
        meta = record.get("meta", {})
        if "detected" in meta or meta.get("amends"):
            return []
        items = list(self._taken(record, meta, clean(record["msg"])))
        if not items or not self._held or meta.get("ended"):
            return items
        held, self._held = self._held, []
        return [*held, *items]

    def rest(self) -> list[Item]:
        """What is left over when nothing more comes: calls without a result."""
        calls, self._calls = self._calls, {}
        self.partial = ""
        return [item for call in calls.values() for item in self._under(call.agent, ToolItem(call.what))]

    # --- by kind --------------------------------------------------------------------------------------

    def _taken(self, record: RecordJson, meta: EventMeta, text: str) -> Iterator[Item]:
        kind = meta.get("type")
        agent = agent_of(meta)
        if kind and agent:
            self.working = agent
        match record["tag"]:
            case "text" if meta.get("role") == "user":
                self._drop("")
                yield ToldItem(f"you: {text}", "good")
            case "text":
                yield from self._text(meta, agent, text)
            case "tool_use":
                what = from_worktree(one_line(text))
                self._calls[call_id(meta)] = _Call(agent, self._models.get(agent, ""), what)
                self.doing, self.partial = what, ""
            case "tool_result":
                yield from self._result(meta, agent, text)
            case "quota":
                yield from self._reading(meta, agent, text)
            case "handoff":
                yield from self._handoff(meta, text)
            case "waiting":
                yield from self._waiting(meta, agent, text)
            case "error":
                yield from self._error(meta, agent, text)
            case _:
                yield from self._system(meta, agent, text)

    def _text(self, meta: EventMeta, agent: str, text: str) -> Iterator[Item]:
        self._answered(meta)
        if meta.get("delta"):
            if meta.get("type") != "thinking":
                self.partial += text
                self.doing = "writing"
            return
        if meta.get("more"):
            self._pieces.append(text)
            return
        whole = "".join([*self._pieces, text])
        self._pieces, self.partial = [], ""
        if not whole.strip():
            return
        if meta.get("type") == "thinking":
            self.doing = "thinking"
            yield from self._under(agent, Said(whole, thinking=True))
            return
        self._said, self.doing = one_line(whole), ""
        yield from self._under(agent, Said(whole))

    def _result(self, meta: EventMeta, agent: str, text: str) -> Iterator[Item]:
        self._answered(meta)
        call = self._calls.pop(call_id(meta), None)
        what = (
            call.what
            if call
            else one_line(meta.get("command") or meta.get("path") or meta.get("tool") or "a tool")
        )
        lines = [line.strip() for line in from_worktree(bare(text)).splitlines() if line.strip()]
        exit_code = meta.get("exitCode")
        failed = bool(meta.get("isError")) or exit_code not in (None, 0)
        first = told_line(lines, last=failed or bool(meta.get("command")))
        if failed and exit_code:
            first = f"exit {exit_code}: {first}" if first else f"exit {exit_code}"
        self.doing = next(reversed(self._calls.values())).what if self._calls else ""
        if "plan" in meta:  # who keeps its list by a tool has said all with the list
            yield from self._planned(meta, agent)
            return
        yield from self._under(
            agent, ToolItem(clean(what), first, folded=max(0, len(lines) - 1), failed=failed)
        )

    def _reading(self, meta: EventMeta, agent: str, text: str) -> Iterator[Item]:
        if "tokensOut" in meta:
            self.tokens += meta.get("tokensIn", 0) + meta["tokensOut"]
        if "used" in meta and agent:
            self._wall(agent, meta, meta["used"])
        if self.verbose:
            yield ToldItem(for_people(self.clock.said(text)), "dim")

    def _wall(self, agent: str, meta: EventMeta, used: int) -> None:
        known = self._quota.setdefault(agent, _Quota())
        if known.used is None or used >= known.used or known.window == meta.get("window"):
            known.used = used
            known.window = meta.get("window") or known.window
            known.resets_at = meta.get("resetsAt", known.resets_at)

    def _handoff(self, meta: EventMeta, text: str) -> Iterator[Item]:
        if self.verbose and "to" in meta:
            yield ToldItem(f"{meta['from']} -> {meta['to']}", "dim")
        if "hfs" in meta:
            words = f"fidelity {meta['hfs']:g} of 100"
            yield ToldItem(words if self._explained else f"{words}: {FIDELITY}", "handoff")
            self._explained = True
            return
        if "to" not in meta:
            yield ToldItem(for_people(self.clock.said(text)), "handoff")
            return
        if meta["from"] == "RUNNING":
            self._giver, self._sentence = agent_of(meta), False
            self.doing, self.partial = "handing over", ""
            yield from self.rest()
        taker = meta.get("receiver") or (agent_of(meta) if meta["to"] == "RUNNING" else "")
        if taker and not self._sentence and full(taker) != full(self._giver):
            self._sentence = True
            why = self._why(meta.get("reason", ""))
            yield ToldItem(f"handing over: {full(self._giver)} -> {full(taker)} ({why})", "handoff")
        if meta["to"] == "RUNNING":
            self._giver, self.doing, self.working = "", "", agent_of(meta) or self.working

    def _why(self, reason: str) -> str:
        """The reason of a handoff, in the words of whoever pays for the quota."""
        known = self._quota.get(self._giver, _Quota())
        if not reason.startswith("the usage limit") and " at " not in reason:
            return for_people(self.clock.said(reason)) or "as asked for"
        name = window_name(known.window)
        limit = f"{name} limit" if name else "usage limit"
        if " at " in reason:
            limit += f" at {reason.rpartition(' at ')[2]}"
        return f"{limit}, resets {self.clock.at(known.resets_at)}" if known.resets_at else limit

    def _waiting(self, meta: EventMeta, agent: str, text: str) -> Iterator[Item]:
        number = meta.get("approvalId", "")
        if meta.get("type") == "retry":
            self.doing = one_line(text)
            if self.verbose:
                yield ToldItem(one_line(text), "dim")
        elif meta.get("needsInput"):
            self._drop("")
            self.asks.append(AskItem(text, session_id=meta.get("sessionId", "")))
            self.working = agent or self.working
            yield from self._under(agent, Said(text))
        elif meta.get("needsApproval"):
            self.asks.append(AskItem(meta.get("action", text), number, meta.get("sessionId", "")))
            if not self.answers:
                why = meta.get("reason", "")
                yield ToldItem(one_line(text), "warn", (clean(why),) if why not in text else ())
        elif number and "approved" in meta:
            self._drop(number)
            yield ToldItem(one_line(text), "good" if meta["approved"] else "warn")
        elif not number:
            if text == "paused":
                self.paused = True
            else:
                self.doing = "waiting"
            until = f"waiting until {self.clock.at(meta['until'])}: " if meta.get("until") else ""
            words, _, step = (why_waits(text) if until else for_people(self.clock.said(text))).partition(
                " Next: "
            )
            yield ToldItem(f"{until}{words}", "warn", (f"next: {step}",) if step else ())

    def _error(self, meta: EventMeta, agent: str, text: str) -> Iterator[Item]:
        self.partial = ""
        if meta.get("type"):
            if meta.get("failure") == "usage_limit":
                self._wall(agent, meta, 1000)
                self._troubles.append(one_line(text))
                if self.verbose:
                    yield ToldItem(one_line(text), "dim")
                return
            if self._once(text):
                yield from self._under(agent, ToldItem(text, "bad"))
            return
        if "exitCode" in meta or "command" in meta:  # one that took too long has no exit code
            self.doing = ""
            if not self._giver or self.verbose:
                below = str(meta.get("output") or "").rstrip().splitlines()[-_OUTPUT:]
                yield ToldItem(one_line(text), "bad", tuple(clean(line) for line in below))
            return
        first, *below = text.rstrip().splitlines() or [""]
        hint = [f"next: {meta['hint']}"] if meta.get("hint") else []
        if meta.get("code"):  # the end of the session has the same, with its next step
            self._held.append(ToldItem(first, "bad", (*below[-_OUTPUT:], *hint)))
        elif self._once(first):
            yield ToldItem(first, "bad", (*below[-_OUTPUT:], *hint))

    def _system(self, meta: EventMeta, agent: str, text: str) -> Iterator[Item]:
        kind = meta.get("type")
        if kind == "result":
            self.doing = self.partial = ""
            if text.strip() and one_line(text) != self._said and self._once(text):
                yield from self._under(agent, Said(text))
            return
        if "plan" in meta:
            yield from self._planned(meta, agent)
            return
        if kind:
            if meta.get("model"):
                self._models[agent] = meta["model"]
            self.doing = self.doing or "thinking"
            if self.verbose and text.strip() and meta.get("role") != "user":
                yield ToldItem(one_line(text), "dim")
            return
        yield from self._own(meta, text)

    def _own(self, meta: EventMeta, text: str) -> Iterator[Item]:
        if meta.get("ended"):
            yield from self.rest()
            self._held, self.doing, self.asks = [], "", []
            if self.ends_told:
                yield ToldItem(one_line(text), "good" if meta["ended"] == "completed" else "bad")
        elif "taskId" in meta:
            self.since, self.doing = meta.get("at", ""), "starting"
        elif "command" in meta and "exitCode" not in meta:
            self.doing = one_line(text)
        elif "command" in meta:
            self.doing = ""
            if not self._giver or self.verbose:
                yield ToldItem(one_line(text), "good")
        elif meta.get("leftOut") and not meta.get("named"):
            if self.verbose:
                yield ToldItem(one_line(text), "dim")
        else:
            if text == "resumed":
                self.paused, self.doing = False, ""
            yield ToldItem(for_people(self.clock.said(one_line(text))))

    def _planned(self, meta: EventMeta, agent: str) -> Iterator[Item]:
        left = [clean(task) for task in meta.get("tasksRemaining", ())]
        tasks = tuple((clean(task), clean(task) not in left) for task in meta["plan"])
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
        words = one_line(text)
        if any(known and known in words for known in self._troubles):
            return False
        self._troubles.append(words)
        return True

    def _answered(self, meta: EventMeta) -> None:
        """An agent that goes on has its answer."""
        if meta.get("type"):
            self._drop("")

    def _drop(self, approval: str) -> None:
        self.asks = [ask for ask in self.asks if ask.approval != approval]
