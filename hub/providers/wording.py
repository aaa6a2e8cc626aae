"""What an error text says: a status beside a status word, an error type, or a vendor's phrase -> failure class.

Owns: the grammar, which is where in a text such words mean something.
Must not: know the words (`hub.providers.vendors` and each agent's `failures.py` do), or read what nobody gave as an error.

A text is a row of statements, and only the beginning of a statement is read; nothing is ever searched for. So "segfault at
0x40155f", "src/x.rs:503" and "we now retry when the rate limit is reached" say nothing. A statement begins with
 1. a JSON error body: its `message`, then its `type`, `code`, `status` or `reason`;
 2. a phrase, which is how a sentence of a vendor's begins;
 3. an error type: a whole identifier, alone or beside one of those four words (`rate_limit_error: ...`);
 4. a status: a status word and the number ("status: 429", "HTTP 503"), or the number and its reason ("429 Too Many ...").
A number may also stand before any of them, beside its status word or alone: "HTTP 403: <message>", "<status> <message>".
Words win over numbers, for one status stands for several things.

Two witnesses differ in where statements begin. What an agent told as its error (`of_error`) has one at its start, on each
line, after each sentence, and after what leads to a cause ("... Error: ", "Last error: "). Standard error (`of_stderr`) is
full of other programs' words: there a statement begins with a line, after time, level and the name of a vendor's error.
What any program may say of any server (`vendors.GENERAL`) is not believed there, nor any other JSON than `{"error": ...}`,
nor a class of another program than a model's client (`openai.RateLimitError`): many have an `AuthenticationError`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import tzinfo
from typing import TypeGuard

from hub.domain.failure import Failure, FailureClass
from hub.domain.quota.resets import parse_reset
from hub.domain.text.safe import clean
from hub.domain.text.typography import typed
from hub.providers import jsonline
from hub.providers.base import crash
from hub.providers.vendors import CAPACITY, END, GENERAL, PHRASES, REASONS, TYPES, USED_UP, Phrases, of_status

_MOST = 8_192
"""Characters that are read of a text: its end, for there the cause stands."""
_DEPTH = 3
"""How deep a message may hold another body."""
_FIELDS = ("type", "code", "status", "statusCode", "reason")
_NAME = "|".join(map(re.escape, TYPES))
_WHO = r"(?:(?:the )?(?:api|server|upstream|provider|endpoint|requested url) (?:returned|re(?:sponded|plied) with) )?"
_STATUS_WORD = (
    rf"{_WHO}(?:(?:unexpected|last|error,?|response|got|received) )*"
    r"(?:HTTP(?: (?:status|error|response))?(?: (?:client|server) error)?(?: code)?"
    r"|status(?:[ _-]?code)?(?: does not indicate success)?|API Error|error(?: code)?|code"
    r"|request (?:failed|rejected)(?: with)?(?: HTTP)?(?: status)?(?: code)?)"
)
_STATUS = re.compile(
    rf"[\"']?{_STATUS_WORD}[\"']?\s?[:=]?\s?\(?(?P<worded>[45]\d\d)(?!\d|[.:,-] ?\d)"
    rf"(?:{END}|(?=\s+{REASONS}{END}| for url\b))"
    rf"|{_WHO}(?P<reasoned>[45]\d\d)(?=\s+(?:{REASONS}{END}|status code\b))"
    rf"|(?:(?:client|server) error ')?(?P<asked>[45]\d\d) [^\n]{{1,60}} for url:? '?https?://\S*/v\d",
    re.IGNORECASE,
)
_NUMBER = re.compile(rf"(?:{_STATUS_WORD}\s?[:=]?\s?\(?)?[45]\d\d\)?(?::| -)? (?=\S)", re.IGNORECASE)
_FIRST = re.compile(r"\s*([45]\d\d) (?=\S)(?! ?[a-z]+(?:s|ed|ing)\b| ?(?i:[kmgt]i?b|m|min)\b)")
"""A number that begins an error and counts nothing."""
_FRAMED = re.compile(r"(?:\A|[\s(\[.])API Error: \(?([45]\d\d)(?![\w.:,-]*\d)(?!\w)")
"""One that an agent puts before whatever a server said, a page of HTML too."""
_CLIENTS = ("openai.", "anthropic.", "litellm.", "groq.", "mistralai.")
_PACKAGE = r"(?:openai|anthropic|litellm|google|groq|mistralai|botocore)\.(?:[a-z_]+\.)*"
_BESIDE = rf"[\"']?(?:got )?(?:{'|'.join(_FIELDS)}|error)[\"']?\s?[:=]\s?[\"']?"
_TYPE = re.compile(rf"(?:{_BESIDE}|{_PACKAGE})?(?P<name>{_NAME})(?![\w-]|\.\w){END}")
_CALL = r"when calling the (?:invoke|converse)\w* operation"
"""As the client of Amazon says that it asked a model."""
_LEAD = (
    r"(?:(?:(?!assertion)\w*(?:error|exception|timeout)|(?:request|attempt \d+) failed"
    r"|(?:authentication|login) (?:failed|required)|cause|reason|message|post \"?https?://\S{1,200}?): "
    rf"|curl: \(22\) |code = \w{{1,24}} desc = |an error occurred \((?=\w+\) {_CALL})|\w+\) {_CALL}(?: \(.{{1,40}}?\))?: )"
)
_HEAD = (
    r"\[?\d{4}-\d\d-\d\d[T ][\d:.,]+(?:Z|[+-]\d\d:?\d\d)?\]?\s+|\[?(?:ERROR|FATAL)\]?:?\s+"
    r"|\[?(?:(?:fatal|unexpected|stream|API) )?error:\s+|(?-i:[a-z_]+(?:::[a-z_]+)+):\s+|message: ['\"]"
    r"|Error when talking to \w+ API .{0,400}?(?=\b_?[A-Z]\w*Error: )"
    r"|attempt \d+ failed(?: with status \d{3})?(?:: |\. Retrying with backoff\.\.\. )"
    rf"|{_PACKAGE}\w{{1,60}}Error: "
    rf"|(?:{_PACKAGE})?(?:_?APIError|{'|'.join(name for name in TYPES if name.endswith('Error'))}): "
)
_OPENING = r"[\s\[(>*'\u2500-\u27bf-]*"
"""What may stand before a statement, the marks and frames of a screen too."""
_ELSEWHERE = re.compile(
    r"\s*(?:[\d-]{10} [\d:]{8} )?ERROR [45]\d\d: [A-Z]"
    r"|[A-Z][A-Za-z ]+(?: \([^)]*\))?: /\S*\Z"
    r"|HTTP [45]\d\d: [^(]*\(https?://(?![^)]*/v\d)[^)]*\)\Z"
)
"""A line of wget's, of a web server's about a path of its own, of GitHub's client: programs that an agent ran."""

_Said = tuple[int, FailureClass]
"""How much it counts, the least the most, and what it says."""
_Table = tuple[tuple[FailureClass, re.Pattern[str]], ...]
_CAPACITY = re.compile(CAPACITY, re.IGNORECASE)
_USED_UP = re.compile(USED_UP, re.IGNORECASE)
_SURE, _NAMED, _VAGUE, _COUNTED = range(4)
"""A phrase; an error type; an overload, which many things look like; a number."""


class Wording:
    """How one agent words its failures.

    Args:
        own: Phrases of the agent's own making. They come before the vendors', and count on standard error too.
        leads: What the agent writes before an error that it hands on, as a pattern.
        zone: Of the times that it tells without one; None where they are a server's.
    """

    def __init__(self, own: Phrases = (), leads: str = r"(?!)", zone: tzinfo | None = None) -> None:
        self.zone = zone
        self._told = _table((*own, *PHRASES))
        self._all = (*self._told, *_table(GENERAL))
        self._begin = re.compile(
            rf"(?:\A|\n|\. | \u00b7 | [-\u2013\u2014] |(?:\A|(?<=[\s(\[.]))(?:{_LEAD}|{leads})){_OPENING}",
            re.IGNORECASE,
        )
        self._lead = re.compile(leads, re.IGNORECASE)
        self._head = re.compile(rf"(?:{_HEAD}|{leads}){_OPENING}", re.IGNORECASE)

    def of_error(self, text: str) -> FailureClass | None:
        """The class that an error tells by its own words; None when they tell none."""
        return self._of_error(_plain(text), _DEPTH)

    def of_stderr(self, text: str) -> FailureClass | None:
        """The class that standard error tells; None when none of its lines does."""
        lines = _plain(text).splitlines()
        return _weighed(
            said
            for line in lines
            if not _ELSEWHERE.match(line)
            for at in self._heads(line)
            for said in self._at(line, at, self._told, 0)
        )

    def of_exit(self, stderr: str, now: float, how: str) -> Failure:
        """The failure of a run that ended without an answer: its standard error, else a crash.

        Args:
            stderr: The tail of standard error.
            now: When it ended, epoch seconds.
            how: How the process ended, in words.
        """
        words = stderr.strip()
        kind = self.of_stderr(words)
        return crash(how, words) if kind is None else failure(kind, words, now)

    def used_up(self, text: str) -> bool:
        """Whether an error says that all is used up, so that no short wait brings it back."""
        plain = _plain(text)
        return any(_USED_UP.match(plain, found.end()) for found in self._begin.finditer(plain))

    def _of_error(self, text: str, depth: int) -> FailureClass | None:
        begins = (found.end() for found in self._begin.finditer(text))
        framed = (int(found[1]) for found in _FRAMED.finditer(text))
        starts = (0, *(found.end() for found in self._lead.finditer(text)))
        firsts = (int(found[1]) for at in starts if (found := _FIRST.match(text, at)))
        said = _weighed(said for at in begins for said in self._at(text, at, self._all, depth))
        return said or next(filter(None, map(of_status, (*framed, *firsts))), None)

    def _heads(self, line: str) -> Iterator[int]:
        at = len(line) - len(line.lstrip())
        yield at
        while found := self._head.match(line, at):
            at = found.end()
            yield at

    def _at(self, text: str, at: int, table: _Table, depth: int) -> Iterator[_Said]:
        """What the statement says that begins at this place."""
        number = _NUMBER.match(text, at)
        for place in (at, number.end()) if number else (at,):
            if _CAPACITY.match(text, place):
                yield _SURE, FailureClass.OVERLOAD
            if kind := next((kind for kind, pattern in table if pattern.match(text, place)), None):
                yield _rank(kind, _SURE), kind
            if text.startswith("{", place) and (kind := self._of_body(text, place, depth)):
                yield _rank(kind, _NAMED), kind
            named = _TYPE.match(text, place)
            if named and (table is self._all or _of_client(named)):
                yield _rank(TYPES[named["name"]], _NAMED), TYPES[named["name"]]
        found = _STATUS.match(text, at)
        if found and (kind := of_status(int(found["worded"] or found["reasoned"] or found["asked"]))):
            yield _COUNTED, kind

    def _of_body(self, text: str, at: int, depth: int) -> FailureClass | None:
        whole = _mapping(text, at)
        inner = jsonline.mapping(whole.get("error"))
        if depth and (named := jsonline.text(whole.get("error"))):  # as OAuth says it
            inner = {"type": named, "message": jsonline.text(whole.get("error_description")) or named}
        error = inner or whole
        told = error.get("message", error.get("detail"))
        if not inner and (not depth or told is None):
            return None
        message = self._of_error(_plain(jsonline.text(told)), depth - 1) if depth >= 0 else None
        return message or _of_fields(error)


def failure(
    kind: FailureClass,
    text: str,
    now: float,
    *,
    reset: float | None = None,
    zone: tzinfo | None = None,
    window: str = "",
) -> Failure:
    """A failure of this class; that of a limit with its window, and the reset that is known, else told by the words.

    Args:
        kind: The class.
        text: What is told of it.
        now: When it came, epoch seconds.
        reset: Epoch seconds, where something tells them better than words.
        zone: Of the clock times in the text; None = they are no instants.
        window: The quota window.
    """
    if kind is not FailureClass.USAGE_LIMIT:
        return Failure(kind, text)
    return Failure(kind, text, parse_reset(text, now, zone) if reset is None else reset, window)


def _of_client(named: re.Match[str]) -> bool:
    """Whether a type is a model server's own (`rate_limit_error`), or its client says it: any program has classes."""
    name = named["name"]
    return name.islower() or name.isupper() or named[0].startswith(_CLIENTS)


def _mapping(text: str, at: int) -> Mapping[str, object]:
    """The object that begins here, in JSON or as Python prints one; empty where it is neither."""
    try:
        return jsonline.mapping(json.JSONDecoder().raw_decode(text, at)[0])
    except (ValueError, RecursionError):
        if not text.startswith("{'", at):
            return {}
    try:
        return jsonline.mapping(ast.literal_eval(text[at : text.rfind("}") + 1]))
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return {}


def _of_fields(error: Mapping[str, object]) -> FailureClass | None:
    bodies = [error, *map(jsonline.mapping, jsonline.items(error.get("details")))]
    values = [body.get(name) for body in bodies for name in _FIELDS]
    # Behind a colon stands of which plan it is.
    names = (value.partition(":")[0] for value in values if isinstance(value, str))
    named = next(filter(None, map(TYPES.get, names)), None)
    numbers = (int(value) for value in values if isinstance(value, int) or _is_status(value))
    return named or next(filter(None, map(of_status, numbers)), None)


def _is_status(value: object) -> TypeGuard[str]:
    """Whether it is a status that was written as a text."""
    return isinstance(value, str) and value.isdecimal() and len(value) == len("503")


def _rank(kind: FailureClass, rank: int) -> int:
    return _VAGUE if kind is FailureClass.OVERLOAD else rank


def _weighed(said: Iterable[_Said]) -> FailureClass | None:
    """What counts most, and of several such the first."""
    found = min(said, key=lambda told: told[0], default=None)
    return found[1] if found else None


def _table(phrases: Phrases) -> _Table:
    return tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in phrases)


def _plain(text: str) -> str:
    end = text[-_MOST:]
    whole = end if len(end) == len(text) else end.partition("\n")[2]  # half a line begins anywhere
    return typed(clean(whole or end))
