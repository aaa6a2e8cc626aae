"""Why an agent that speaks ACP stopped: JSON-RPC errors, the words in them and its standard error -> failure class.

Owns: what the codes and stop reasons of the protocol mean, and the frame of a classification.
Must not: keep state, believe an exit code (such agents leave with 0), or know any words (`hub.providers.wording` reads
them; those of one agent's own making are in its `failures.py`).

Order of belief: the words first, for vendors answer a bad key and a full context both with 400; then the HTTP status in a
field of the error's data; then the JSON-RPC code, which in some agents is the HTTP status.
"""

from __future__ import annotations

import re

from hub.domain.failure import Failure, FailureClass
from hub.domain.quota.resets import parse_reset
from hub.providers import jsonline
from hub.providers.rpc import RpcError
from hub.providers.vendors import of_status
from hub.providers.wording import Wording

MINUTE_WINDOW = "minute"
DAY_WINDOW = "day"
AUTH_REQUIRED = -32000
"""ACP: the agent is not logged in."""
NO_ANSWER = "The turn ended without an answer: the model's safeguards blocked it, or it said nothing."
LONG_WAIT = 90.0
"""A wait longer than this is no per-minute limit's, whatever the words around it say."""
WORDING = Wording()

_DAILY = re.compile(r"daily|per ?day", re.IGNORECASE)
_MINUTELY = re.compile(r"per ?min(?:ute)?\b", re.IGNORECASE)
_EMPTY = frozenset({"", "internal error", "internal server error", "unknown error"})


def class_of(text: str, code: int = 0, wording: Wording = WORDING) -> FailureClass | None:
    """The class that the words tell, else the HTTP status or the code of ACP's; None when they tell none."""
    return wording.of_error(text) or (FailureClass.AUTH if code == AUTH_REQUIRED else of_status(code))


def status_of(error: RpcError) -> int:
    """The HTTP status in a field of an error's data, else its code, which in some agents is one."""
    data = jsonline.mapping(error.data)
    told = (jsonline.integer(data.get(name)) for name in ("status", "statusCode", "httpStatusCode", "code"))
    return next((status for status in told if status and of_status(status)), error.code)


def words_of(error: RpcError) -> str:
    """What an error says: its message and, where that says nothing, what its data adds."""
    data = jsonline.mapping(error.data)
    more = [jsonline.text(data.get(name)) for name in ("details", "message", "error", "reason")]
    told = next(filter(None, more), jsonline.text(error.data))
    if error.message.strip().lower() in _EMPTY:
        return told or error.message
    return error.message if not told or told in error.message else f"{error.message}: {told}"


def classify(
    text: str, code: int, now: float, *, hint: float | None = None, wording: Wording = WORDING
) -> Failure:
    """The failure.

    Args:
        text: The error's words, or the error body the vendor sent.
        code: The JSON-RPC error code, or the HTTP status.
        now: When it came, epoch seconds.
        hint: The reset that was told elsewhere, if any.
        wording: How the agent words its failures.
    """
    kind = class_of(text, code, wording) or FailureClass.UNKNOWN
    said = readable(text)
    if kind is not FailureClass.USAGE_LIMIT:
        return Failure(kind, said)
    reset = parse_reset(text, now, wording.zone)
    resets_at = reset if reset is not None else hint
    return Failure(kind, said, resets_at, window(text, None if resets_at is None else resets_at - now))


def window(text: str, wait: float | None) -> str:
    """The quota window that a limit's words and its wait tell; "" for none."""
    if _DAILY.search(text):
        return DAY_WINDOW
    if wait is not None and wait > LONG_WAIT:
        return ""
    return MINUTE_WINDOW if _MINUTELY.search(text) or wait is not None else ""


def readable(text: str) -> str:
    """The message inside an error body; the text itself where it is none."""
    body = jsonline.mapping((jsonline.read(text.encode("utf-8", "replace")) or {}).get("error"))
    return jsonline.text(body.get("message")) or text


def of_stop(stop: str, title: str) -> Failure:
    """The failure of a turn that ended with another stop reason than a finished one."""
    match stop:
        case "refusal":
            return Failure(FailureClass.REFUSAL, "The model refused to go on.")
        case "max_tokens":
            return Failure(FailureClass.CONTEXT_OVERFLOW, "The task no longer fits the model's context.")
        case "max_turn_requests":
            return Failure(FailureClass.UNKNOWN, f"{title} stopped: too many steps in one turn, or a loop.")
        case _:
            return Failure(FailureClass.UNKNOWN, f"{title} stopped: {stop or 'no reason'}")
