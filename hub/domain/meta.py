"""What an event tells beside its words: every key that hub writes, its type and its meaning.

Owns: `EventMeta`, the `Meta` of the specification's `{Type, Content, Meta}`, in the names of the wire.
Must not: read or check one. At run time it is the JSON object that the log has and every client gets.

Rules:
 1. Every key may be left out.
 2. A key that is not here is not written: the type checker refuses it. `/openapi.json` is made of this.
 3. A log outlives the hub that wrote it: other keys may stand beside these, and are passed on as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, TypedDict, cast


class PassedAccount(TypedDict):
    """An account that was not chosen to go on with the work."""

    provider: str
    account: str
    reason: str
    hint: Annotated[str, "What would bring it in; empty where nothing is known to."]


EventMeta = TypedDict(
    "EventMeta",
    {
        # Whose it is.
        "at": Annotated[
            str, "When it happened: ISO 8601, UTC, milliseconds. Every record of the log has it."
        ],
        "type": Annotated[str, "The type of an agent's event. What hub itself says has none."],
        "sessionId": str,
        "dispatchId": Annotated[str, "The run of the agent that said it."],
        "provider": str,
        "account": Annotated[str, "The label of the provider's account."],
        "role": Annotated[
            str,
            "`user`: the user's own words. Where a session starts: its role, in a pipeline's run its node.",
        ],
        # The agent, as it starts.
        "nativeSession": Annotated[str, "The session's id in the agent's own store."],
        "resumed": Annotated[bool, "Whether it goes on in a session of before."],
        "model": str,
        "mode": Annotated[str, "The agent's own name for the way it works in."],
        "version": Annotated[str, "Of the agent's program."],
        "tools": list[str],
        "skills": list[str],
        "mcps": Annotated[list[str], "Names of MCP servers."],
        # Its words.
        "delta": Annotated[bool, "A piece of a text that is told again as a whole."],
        "more": Annotated[bool, "The text goes on in the next event of the type."],
        "partial": Annotated[bool, "The text was cut off."],
        "item": Annotated[
            object, "Codex's item: its id where a piece of one comes, or all of one that hub does not know."
        ],
        "parent": Annotated[str, "The call by which the subagent was started that says this."],
        "subagent": Annotated[bool, "A subagent does this."],
        "subtype": Annotated[str, "The kind of a notice, by the agent's own name."],
        "unknown": Annotated[bool, "Nobody could read this line, or knows what it means."],
        "bytes": Annotated[int, "The length of a line that nobody could read."],
        "truncated": Annotated[int, "The bytes by which a line was too long."],
        "plan": Annotated[list[str], "All steps of the agent's list."],
        "tasksRemaining": Annotated[list[str], "The steps that are not done."],
        "amends": Annotated[int, "The id of the event of which this tells more: nothing has happened since."],
        "adopted": Annotated[bool, "Taken from the transcript of a session that hub did not start."],
        # A tool's call and its end.
        "tool": str,
        "toolId": Annotated[str, "The call, by the agent's own id."],
        "input": Annotated[
            object, "What the tool is given: an excerpt; of a request all of it, but for `cut`."
        ],
        "path": Annotated[str, "A file that the tool touches, as the agent wrote it."],
        "change": Annotated[str, "What is done to that file, in the agent's own word."],
        "command": Annotated[str, "The command that runs."],
        "exitCode": int,
        "isError": bool,
        "commit": Annotated[str, "A commit that the agent made."],
        # Requests: of the agent, and what became of them.
        "approvalId": Annotated[
            str, "The request for permission: in hub's own words by hub's id, else by the agent's."
        ],
        "callId": Annotated[
            str, "Of hub's own words: the `dispatchId` and `toolId` of the request's call, `:` between."
        ],
        "needsInput": Annotated[bool, "The agent waits for an answer in words."],
        "needsApproval": Annotated[bool, "The request waits for a person."],
        "paths": Annotated[list[str], "The files that the tool is given."],
        "texts": Annotated[list[str], "What else the tool is given, but for content."],
        "within": Annotated[list[str], "The folders that the tool searches."],
        "cwd": Annotated[str, "The folder that the command is to run in."],
        "named": Annotated[
            list[str] | bool, "The names of what the tool is given. Beside `leftOut`: the user named it."
        ],
        "cut": Annotated[bool, "Not all of what the tool is given is shown."],
        "unseen": Annotated[bool, "Not all of what the tool is given was looked at: no rule allows it."],
        "withdrawn": Annotated[bool, "The agent took its request back."],
        "allowed": Annotated[bool, "Allowed without asking, as the order says."],
        "declined": Annotated[str, "The method of a request that hub does not serve."],
        "notTaken": Annotated[str, "What the agent was told and did not take."],
        "action": Annotated[str, "What the request is about, in a line."],
        "severity": str,
        "reason": Annotated[str, "Why: of a handoff, of a request, or of an agent's end."],
        "approved": bool,
        "state": Annotated[str, "What became of the request."],
        "by": Annotated[str, "Who settled the request; of a handoff the trigger of this move."],
        "note": Annotated[str, "The words that the answer came with."],
        # Figures.
        "tokensIn": Annotated[int, "The cached ones among them. Of one step."],
        "tokensOut": int,
        "cachedIn": int,
        "cacheWriteIn": int,
        "costUsdMicros": Annotated[int, "In millionths of a dollar."],
        "request": Annotated[bool, "The figures are those of one request."],
        "lowerBound": Annotated[bool, "The figures grow: the end of the turn tells the rest."],
        "approximate": Annotated[bool, "The figures are rounded."],
        # Limits, failures and waits.
        "used": Annotated[int, "Of a quota window, per mille."],
        "window": Annotated[str, "The name of the quota window."],
        "resetsAt": Annotated[int, "When the limit ends, or the next attempt begins: epoch seconds."],
        "nextAt": Annotated[int, "When the next attempt begins: epoch seconds."],
        "delayMs": int,
        "attempt": Annotated[int, "The attempts so far."],
        "maxAttempts": int,
        "failure": Annotated[str, "The class of a failure."],
        "status": Annotated[
            int | str, "Of an attempt: the HTTP status. Of a quota window: its state, in the agent's word."
        ],
        "interrupted": Annotated[bool, "Somebody ended the turn."],
        "forecast": Annotated[str, "What the quota's use leads to."],
        "etaMinutes": Annotated[int | None, "Minutes until the quota ends; null = nobody can tell."],
        "breaker": Annotated[str, "The state of the account's circuit breaker."],
        "until": Annotated[str, "When the wait ends: ISO 8601, UTC."],
        "code": Annotated[str, "The code of an error, of the closed list."],
        "hint": Annotated[str, "The next step."],
        # A session's start and end, and its commands.
        "taskId": str,
        "task": Annotated[str, "The user's task; at the end its first line."],
        "ended": Annotated[str, "The state in which the session ended."],
        "verified": Annotated[bool, "Whether the acceptance commands passed."],
        "profile": str,
        "why": Annotated[str, "Why the session ended as it did."],
        "leftOut": Annotated[str, "An agent that takes no part in the session."],
        "repair": Annotated[int, "The number of this attempt to repair what was refused."],
        "of": Annotated[int, "The most attempts there may be."],
        "setup": Annotated[str, "The command that sets the worktree up."],
        "output": Annotated[
            str | bool, "The end of what a command wrote. Beside `setup`, true: this event is of it."
        ],
        "durationMs": int,
        "changed": Annotated[
            list[str], "Files the command depends on that have changed since the session's start."
        ],
        "secrets": Annotated[dict[str, int], "How many that look like secrets the work holds, by kind."],
        # A handoff.
        "handoffId": str,
        "from": Annotated[str, "The state that was left."],
        "to": Annotated[str, "The state that was entered."],
        "trigger": Annotated[str, "What began the handoff."],
        "snapshot": Annotated[str, "The commit of the snapshot."],
        "contract": Annotated[str, "The contract's id."],
        "dispatch": Annotated[str, "The run of the agent."],
        "receiver": Annotated[str, "Who takes over: `provider/account`."],
        "passedBy": Annotated[list[PassedAccount], "Who was passed by in the choice of the receiver."],
        "fidelity": Annotated[str, "`pending`: the handoff's score comes in a record of its own."],
        "hfs": Annotated[int, "The fidelity score, of 100."],
        "recallPermille": Annotated[dict[str, int], "What the contract kept, by facet."],
        "missing": Annotated[list[str], "Facts that the contract lacks."],
        "unsupported": Annotated[list[str], "What the contract says and nothing proves."],
        # Pipelines, jobs and agents that hub did not start.
        "runId": Annotated[
            str, "The run of the pipeline. Where a session starts: the one that it belongs to."
        ],
        "pipeline": Annotated[str, "The pipeline's name."],
        "nodes": Annotated[list[str], "The ids of the pipeline's nodes."],
        "node": str,
        "nodeState": str,
        "how": Annotated[str, "How the node came to its state."],
        "runEnded": Annotated[str, "The state in which the pipeline's run ended."],
        "jobId": str,
        "detected": Annotated[
            str, "The id of an agent that runs on this machine, or of a session that one left."
        ],
        "pid": Annotated[int, "Of its outermost process; 0 = it does not run."],
        "workDir": str,
        "running": bool,
        "confidence": Annotated[str, "How sure it is that the session is the agent's."],
        "prompt": Annotated[str, "What it was first asked, in a line."],
        "part": Annotated[str, "The part of hub that the trouble is in."],
        "absentAt": Annotated[str, "When hub last looked and it was not there; empty for the first look."],
    },
    total=False,
)
EventMeta.__doc__ = """What an event tells beside its words. What does not apply is left out.

Other keys may stand beside these: the log may be older than this hub.
"""


def only(meta: EventMeta, names: Iterable[str]) -> EventMeta:
    """What it has of these keys, in their order; without what is empty."""
    return cast("EventMeta", {name: found for name in names if (found := meta.get(name))})
