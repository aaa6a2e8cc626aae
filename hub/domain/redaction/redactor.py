"""Secrets out of everything an agent says, whole or in pieces.

Owns: the marker that stands for a secret, the stream redactor, and the counts.
Must not: find secrets itself: that is the layers' work (known values, forms, assignments, manifests, an engine).

Laws, each a property test:
 1. The pieces that a stream gives out are together what the whole text gives at once, however it was cut.
 2. Redacting twice is redacting once.
 3. Nothing of a found secret remains: overlapping finds are one region, hidden as one.
 4. No more is held back than what could still begin a secret.

Theory of operation. A layer tells, for a text, every secret in it and the place from which on something may
begin that more text would complete (`scan`). All before that place is final and goes out. A region that
reaches behind it is marked at once and its remainder, already hidden, is only skipped: so what is held stays
bounded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from hub.domain.redaction.assigned import Assignments
from hub.domain.redaction.engine import Engine, EngineLayer
from hub.domain.redaction.escapes import cut_off, unescaped
from hub.domain.redaction.known import KnownSecrets as KnownSecrets  # noqa: PLC0414  # part of the API
from hub.domain.redaction.manifest import Manifests
from hub.domain.redaction.prefix import PrefixRules
from hub.domain.redaction.span import Span

T = TypeVar("T")
_CONTEXT = 192
"""Characters before the held text that a layer may look back at."""
_DEPTH = 64
_BORDER = 4096
"""Letters of a text that tell whether it goes on with a value."""
_TAIL = 2048
"""Letters at the end of a text in which a known value may begin."""
SHORTEST = 8
"""No layer finds anything in a shorter text."""
_NAME, _NAMES = 48, 1024
_PREFIX_RULES, _ASSIGNMENTS, _MANIFESTS = PrefixRules(), Assignments(), Manifests()


class Layer(Protocol):
    """A way to find secrets. A maintained engine for unknown secrets is one more of these."""

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        """Every secret that begins at `lo` or later, and the place from which on more text may complete one.

        What is found before that place may not depend on text behind it, nor on text before `lo - 192`. With
        `final` there is no more text, and the place is not looked at.
        """


class Redactor:
    """Finds and marks secrets in whole texts, and counts them.

    Args:
        known: The values known to be secret.
        key: The installation's own key: equal secrets get equal markers, which tell nothing about them.
        engine: A detection engine, where there is one.
    """

    def __init__(self, known: KnownSecrets, key: bytes, engine: Engine | None = None) -> None:
        prefixes = _PREFIX_RULES if engine is None else _PREFIX_RULES.confirmed_by(engine)
        asked = () if engine is None else (EngineLayer(engine),)
        self._known = known
        self._layers: tuple[Layer, ...] = (prefixes, _ASSIGNMENTS, _MANIFESTS, *asked)
        self._key = key
        self._marks: dict[tuple[str, bytes | str], str] = {}
        self._counts: Counter[str] = Counter()
        self._clean: set[str] = set()
        """Short texts without a secret: the names in `meta` come with every event."""

    def text(self, text: str) -> str:
        """`text` with a marker for every secret; the same object where there is none."""
        if len(text) < SHORTEST or text in self._clean:
            return text
        spans, _ = self.scan(text, 0, final=True)
        if spans:
            return self.marked(text, spans, 0, len(text))[0]
        if len(text) <= _NAME and len(self._clean) < _NAMES:
            self._clean.add(text)
        return text

    def stream(self, begun: str = "") -> StreamRedactor:
        """A redactor for one logical stream of text that comes in pieces; `begun` went out before it."""
        return StreamRedactor(self, begun)

    def begins(self, text: str) -> str:
        """The end of a text with which a known value may begin that the next text goes on with, and blanks behind it."""
        text = text[-_TAIL:]
        return text[self._known.begun(text.rstrip()) :]

    def begun(self, ends: Iterable[str], text: str) -> str:
        """What one of the texts before began (`begins`) that `text` goes on with in a known value; "" for none."""
        return max((self._over(end.rstrip(), text) for end in ends), default=(0, ""))[1]

    def _over(self, end: str, text: str) -> tuple[int, str]:
        """How far `text` goes on with a known value that the letters `end` began, and those."""
        if not end or not self._known.may_go_on(end, text):
            return 0, ""
        both, border = end + text[:_BORDER], len(end)
        spans, hold = self._known.scan(both, 0, final=False)
        over = max((span.end - border for span in spans if span.start < border), default=0)
        over = len(both) - border if hold < border else over
        return (over, end) if over > 0 else (0, "")

    def value(self, value: T) -> T:
        """A JSON value with every string in it redacted, keys too."""
        redacted: T = self._value(value, 0)
        return redacted

    def take_counts(self) -> dict[str, int]:
        """How many secrets were hidden since the last call, by kind."""
        counts, self._counts = self._counts, Counter()
        return dict(counts)

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        """The finds of all layers in order, and the place before which they are final."""
        spans, pending = self._known.scan(text, lo, final=final)
        hold = len(text) if final else pending
        for view in self._views(text, lo, final=final):
            for layer in self._layers:
                found, pending = layer.scan(view, lo, final=final)
                spans += found
                hold = hold if final or pending == len(view) else min(hold, pending)
        spans.sort()
        for span in reversed(spans):
            if span.start >= hold > span.at:
                hold = span.at
        return spans, hold

    def _views(self, text: str, lo: int, *, final: bool) -> tuple[str, ...]:
        """What the layers look at: the text, and the one that its reader sees, where a sign is escaped.

        Each alone is not enough: a sign around a value shows it in the second, and one within it in the first.
        """
        plain = unescaped(text)
        if not final and (end := max(lo, cut_off(plain))) < len(plain):
            return text, plain[:end]
        return (text,) if plain is text else (text, plain)

    def marked(self, text: str, spans: Sequence[Span], done: int, hold: int) -> tuple[str, int]:
        """`text[done:hold]` with a marker for each region that begins there, and the end of the last region."""
        out: list[str] = []
        for span in spans:
            if span.start >= hold:
                break
            if span.start >= done:
                out += (text[done : span.start], self.mark(span))
            done = max(done, span.end)
        out.append(text[done:hold])
        return "".join(out), done

    def mark(self, span: Span) -> str:
        """The marker of a secret, counted."""
        self._counts[span.rule] += 1
        found = self._marks.get((span.rule, span.secret))
        if found is None:
            secret = span.secret if isinstance(span.secret, bytes) else span.secret.encode("utf-8", "replace")
            import hmac  # it loads OpenSSL, and most texts have no secret

            digest = hmac.digest(self._key, secret, "sha256").hex()[:8]
            found = f"[REDACTED:{span.rule}:{digest}]"
            if len(self._marks) < 1024:  # noqa: PLR2004  # a bound, so that hostile text cannot fill memory
                self._marks[span.rule, span.secret] = found
        return found

    def _value(self, value: object, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if depth > _DEPTH:
            return self.text(str(value))
        if isinstance(value, Mapping):
            return {self._value(key, depth): self._value(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return self._items(value, depth + 1)
        return value

    def _items(self, items: Sequence[Any], depth: int) -> list[object]:
        """The items of a list; what they say (`text`, of the same `role` or of any) a known value goes on in."""
        safe = [self._value(item, depth) for item in items]
        ends: dict[object, str] = {}
        for place, item in enumerate(items):
            text = item.get("text") if isinstance(item, Mapping) else None
            if isinstance(text, str) and text:
                speakers = (str(item.get("role")), None)
                begun = self.begun({ends.get(speaker, "") for speaker in speakers}, text)
                if begun and isinstance(safe[place], dict):
                    safe[place]["text"] = self.stream(begun).feed(text, final=True)
                ends.update((speaker, self.begins(ends.get(speaker, "") + text)) for speaker in speakers)
        return safe


class StreamRedactor:
    """One logical stream: feed it pieces, get out what is final; flush it at its end.

    Args:
        redactor: What finds and marks.
        begun: Text that went out already, and may be the beginning of a secret that this stream goes on with.
    """

    def __init__(self, redactor: Redactor, begun: str = "") -> None:
        self._redactor = redactor
        self._context = ""
        self._held = begun
        self._covered = len(begun)
        """How much of `_held` went out already, as it is or behind a marker."""
        self._joins = bool(begun)
        """Whether what goes on from there has no marker yet."""

    def feed(self, piece: str, *, final: bool = False) -> str:
        """Take a piece; give out all that no later piece can change."""
        text = self._context + self._held + piece
        lo = len(self._context)
        spans, hold = self._redactor.scan(text, lo, final=final)
        edge = lo + self._covered
        out, done = self._redactor.marked(text, spans, edge, hold)
        if self._joins:
            over = [span for span in spans if span.start < min(edge, hold) and span.end > edge]
            out = self._redactor.mark(over[0]) + out if over else out
            self._joins = hold < edge and not over
        self._held = text[hold:]
        self._context = text[max(0, hold - _CONTEXT) : hold]
        self._covered = max(0, done - hold)
        return out

    def flush(self) -> str:
        """The end of the stream: give out the rest."""
        return self.feed("", final=True)


def summary(counts: Mapping[str, int] | Iterable[tuple[str, int]]) -> str:
    """`<kind>:<count>` pairs, comma-separated, by kind; what `GET /api/redactions` serves."""
    return ", ".join(f"{kind}:{count}" for kind, count in sorted(dict(counts).items()))
