"""The values that hub knows to be secret, found in every form in which they are likely to be written.

Owns: the forms of a value, and the search for them.
Must not: replace anything, or show a value (not in a `repr` either).

A form may be broken over lines anywhere. So a text is searched twice: as it is, and without its line ends and
the indentation after them, where a broken form is whole.
"""

from __future__ import annotations

import bisect
import functools
import json
import re
from collections.abc import Callable, Iterable, Iterator

from hub.domain.redaction.fragments import WORDS_SIZE, Fragments, Piece, tells
from hub.domain.redaction.literals import Literals
from hub.domain.redaction.span import Anchors, Span, trie
from hub.domain.redaction.spelt import Spelt, may_be_spelt
from hub.domain.text.patterns import late
from hub.domain.text.safe import MARK

MIN_LENGTH = 8
"""Shorter values are words, not secrets: hiding them would hide ordinary text."""
MAX_LENGTH = 65_536
_ANCHOR = 4
_GATE = 8
"""Letters of a form that are enough to look closer."""
_HEAD = 4
_TAIL = 64
_SPELT = 6 * 1024
"""Letters at the end of a text in which a value may have begun whose letters are written by their numbers."""
_A_WORD = re.compile("[A-Za-z]{5}")
_BREAKING = b"\\nr\r\n\t "
_BREAK = late(r"(?:\\[rn]|[\r\n])[ \t]*")


def forms(value: bytes) -> set[str]:
    """Every form in which `value` is looked for: raw, reversed, quoted, escaped, base64 (of UTF-16 too), base32 and hex."""
    from base64 import b32encode, b64encode
    from urllib.parse import quote, quote_plus  # only where something is known

    found = {value.hex(), value.hex().upper(), *_cores(value, b32encode, 5, 5)}
    wides = [text.encode("utf-16-le")] if (text := _text(value)) else []
    for core in (core for each in (value, *wides) for core in _cores(each, b64encode, 6, 3)):
        url_safe = core.translate(str.maketrans("+/", "-_"))
        found |= {core, url_safe, quote(core, safe=""), core.replace("/", "\\/")}
    if text is None:
        return found
    for raw in (text, text[::-1]):
        plain, ascii_only = json.dumps(raw, ensure_ascii=False)[1:-1], json.dumps(raw)[1:-1]
        found |= {raw, plain, ascii_only, json.dumps(plain)[1:-1], json.dumps(ascii_only)[1:-1]}
        found.add(raw.replace("/", "\\/"))
        for quoted in (quote(raw, safe=""), quote(raw), quote_plus(raw)):
            found |= {quoted, re.sub("%[0-9A-F]{2}", lambda code: code[0].lower(), quoted)}
    return found


def _text(value: bytes) -> str | None:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return None


def _cores(value: bytes, encode: Callable[[bytes], bytes], bits: int, shifts: int) -> Iterator[str]:
    """The letters of an encoding that depend on `value` alone, for each number of other bytes that may stand before it."""
    for shift in range(shifts):
        encoded = encode(bytes(shift) + value).decode()
        first, last = -(-shift * 8 // bits), (shift + len(value)) * 8 // bits
        yield encoded[first:last]


class KnownSecrets:
    """A set of known secret values, as a layer of the redactor.

    Args:
        values: The secrets; those shorter than 8 characters are left out.
        names: What to call each of them in its marker and in the counts; `known` where there is none.
    """

    rank = 0

    def __init__(self, values: Iterable[str | bytes] = (), names: Iterable[str] = ()) -> None:
        labels = iter(names)
        self._forms: dict[str, Piece] = {}
        for value in values:
            rule = re.sub("[^a-z0-9]+", "-", next(labels, "").lower()).strip("-")[:32] or "known"
            self._add(value.encode("utf-8", "replace").strip() if isinstance(value, str) else value, rule)
        self._sorted = sorted(self._forms)
        self._longest = max(map(len, self._sorted), default=0)
        self._head = re.compile(trie(sorted({form[:_HEAD] for form in self._sorted}), _HEAD)).search
        self._short = {form[:size] for form in self._sorted for size in range(1, _HEAD)}
        squeezed = {_squeeze(form) for form in self._sorted}
        # Where a form has next to nothing left, a look at what is left would tell nothing.
        gated = min(map(len, squeezed), default=_ANCHOR) >= _ANCHOR
        heads = {form[:_GATE] for form in squeezed}
        self._gate = Literals(((head.decode(), None) for head in heads), _ANCHOR) if gated else None
        names = {known.rule for known in self._forms.values()}
        self._fragments = Fragments(
            self._forms.items(), "\n".join(f"[REDACTED:{name}:" for name in sorted(names))
        )

    @functools.cached_property
    def _anchors(self) -> Anchors[Piece]:
        """Made when a text holds what may be a form: that is seldom, and this a sixth of all there is to make."""
        return Anchors(self._forms.items(), _ANCHOR)

    def _add(self, value: bytes, rule: str) -> None:
        if not MIN_LENGTH <= len(value) <= MAX_LENGTH:
            return
        for form in forms(value):
            for text in (form.strip(), _join(form).strip()):
                if len(text) >= MIN_LENGTH and text not in "[REDACTED:":
                    self._forms.setdefault(text, Piece(rule, value))

    def called(self, key: bytes) -> str:
        """A name for these values that tells nothing about them; others have another."""
        import hmac  # it loads OpenSSL

        values = sorted({known.secret for known in self._forms.values()})
        digests = b"".join(hmac.digest(key, value, "sha256") for value in values)
        return hmac.digest(key, digests, "sha256").hex()[:16]

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        """All known values in `text` that begin at `lo` or later, and where one may begin that is not whole.

        With `final` nothing more will come: a value cut off at the end is found by its first 8 letters, of words by 16.
        """
        if not self._forms:
            return [], len(text)
        whole = text.removesuffix(MARK) if final else text
        hold = self._held(whole, lo, final=final)
        spans = self._whole(whole, lo)
        if final and hold < len(whole):
            spans += self._cut_off(whole, hold)
        spans += self._fragments.find(text.encode("ascii", "replace"), lo, self.rank)
        return spans, hold if final else min(hold, self._fragments.begun(text, lo))

    def begun(self, text: str) -> int:
        """Where in `text` a value may begin that more text completes, as `scan` has it, at what the end alone costs."""
        if not self._forms:
            return len(text)
        return min(self._held(text, 0, final=False), self._fragments.begun(text, 0))

    def may_go_on(self, end: str, text: str) -> bool:
        """Whether a value that has begun with the letters `end` may go on with `text`: nearly always no form does."""
        pair = end[-1:] + text[:1]
        if pair.isalnum() and pair not in self._fragments.windows:
            return False
        near = end + text[: MIN_LENGTH - 1 - len(end)]
        return len(near) >= MIN_LENGTH or self.begun(near) < len(end)

    def stand_in(self, text: str) -> bool:
        """Whether a known value, or sixteen letters in a row of one, stands in `text`: no word that stands in any text."""
        if not self._forms:
            return False
        pieces = self._fragments.find(text.encode("ascii", "replace"), 0, self.rank)
        found = (*self._whole(text, 0), *(span for span in pieces if span.end - span.start >= WORDS_SIZE))
        return any(tells(text[span.start : span.end]) for span in found)

    def _whole(self, text: str, lo: int) -> list[Span]:
        """The values that are whole."""
        return [*self._plain(text, lo), *self._spelt(text, lo)]

    def _spelt(self, text: str, lo: int) -> Iterator[Span]:
        """Those whose letters are written by their numbers."""
        spelt = Spelt(text) if may_be_spelt(text) else None
        if (
            spelt is None
            or spelt.view == text
            or self._gate is None
            or not self._gate.stand_in(_squeeze(spelt.view))
        ):
            return
        for span in self._find(spelt.view, 0):
            start, end = spelt.place(span.start), spelt.place(span.end)
            if start >= lo and end - start > span.end - span.start:
                yield span._replace(start=start, end=end, at=start)

    def _plain(self, text: str, lo: int) -> list[Span]:
        """Those that are a form as they stand, or over lines."""
        if self._gate is not None and not self._gate.stand_in(_squeeze(text[lo:])):
            return []
        spans = list(self._find(text, lo))
        joined = _join(text)
        if joined != text:
            index = _Origin(text)
            spans += [
                span._replace(
                    start=index.text(span.start),
                    end=index.text(span.end - 1) + 1,
                    at=index.text(span.at),
                )
                for span in self._find(joined, index.view(lo) if lo else 0)
            ]
        return spans

    def _held(self, text: str, lo: int, *, final: bool) -> int:
        """Where a value begins that the end of the text cuts off."""
        hold = self._held_plain(text, lo, final=final)
        end = text[max(lo, len(text) - _SPELT) :]
        if final or not may_be_spelt(end):
            return hold
        spelt = Spelt(end)
        pending = self._pending(spelt.view, 0)
        begun = spelt.place(pending) if pending < len(spelt.view) else spelt.open
        return min(hold, len(text) - len(end) + begun)

    def _held_plain(self, text: str, lo: int, *, final: bool) -> int:
        if not self._may_have_begun(text, final=final):
            return len(text)
        hold, joined = self._pending(text, lo), _join(text)
        # Where nothing has begun at the end of all the lines, nothing has that begins at `lo` or later.
        pending = self._pending(joined, 0) if joined != text else len(joined)
        # What has begun in both views and is on one line is at the same place in both.
        same = len(joined) - pending == len(text) - hold and joined.endswith(text[hold:])
        if joined != text and pending < len(joined) and not same:
            index = _Origin(text)
            pending = self._pending(joined, index.view(lo) if lo else 0)
            if pending < len(joined):
                hold = min(hold, index.text(pending))
        return hold

    def _may_have_begun(self, text: str, *, final: bool) -> bool:
        """Whether a form may be cut off at the end of `text`: answered from its last letters, in both views."""
        tail = text[-_TAIL:]
        end, joined = tail.rstrip()[-_HEAD - 1 :], _join(tail)
        if "\\" in end or self._ends_begun(end[-_HEAD:], final=final):
            return True
        return joined != tail and self._ends_begun(joined.rstrip()[-_HEAD:], final=final)

    def _ends_begun(self, end: str, *, final: bool) -> bool:
        """Whether the last letters of a text may be those of a form's beginning."""
        # Letters that stand in no form end no text that one is cut off in.
        if len(end) < _HEAD or end[-3:] in self._fragments.windows:
            return True
        return not final and not self._short.isdisjoint([end[at:] for at in range(1, _HEAD)])

    def _find(self, text: str, lo: int) -> Iterator[Span]:
        for start, form, known in self._anchors.hits(text, lo):
            yield Span(start, self.rank, start + len(form), start, known.rule, known.secret)

    def _pending(self, text: str, lo: int) -> int:
        """Where the longest end of `text` begins that is a form's beginning; else the end of `text`.

        A backslash at the end may be half of a line end, and then counts for nothing: the end before it is
        looked at too, and a form that is whole by this backslash is not certain.
        """
        open_end = text.endswith("\\")
        best = self._begun(text, lo, certain=not open_end)
        return min(best, self._begun(text[:-1], lo, certain=True)) if open_end else best

    def _begun(self, text: str, lo: int, *, certain: bool) -> int:
        place = bisect.bisect_right if certain else bisect.bisect_left
        ends = len(text) < _HEAD or text[-3:] in self._fragments.windows
        at = self._head(text, max(lo, len(text) - self._longest)) if ends else None
        while at is not None:
            end = text[at.start() :]
            following = place(self._sorted, end)
            if following < len(self._sorted) and self._sorted[following].startswith(end):
                return at.start()
            at = self._head(text, at.start() + 1)
        for start in range(max(lo, len(text) - _HEAD + 1), len(text)):
            if text[start:] in self._short:
                return start
        return len(text) + (not certain)

    def _cut_off(self, text: str, hold: int) -> list[Span]:
        rest = text[hold:]
        for end in (rest, _join(rest), rest.removesuffix("\\"), _join(rest.removesuffix("\\"))):
            if len(end) < MIN_LENGTH or (_A_WORD.search(end) and not tells(end)):
                continue  # the first words of a value are words
            place = bisect.bisect_left(self._sorted, end)
            if place < len(self._sorted) and self._sorted[place].startswith(end):
                known = self._forms[self._sorted[place]]
                return [Span(hold, self.rank, len(text), hold, known.rule, known.secret)]
        return []


def _join(text: str) -> str:
    """`text` without `_BREAK`: what `_BREAK().sub` does, ten times as fast."""
    if "\n" not in text and "\r" not in text and "\\" not in text:
        return text
    plain = text.replace("\r", "\n")
    if "\\" in plain:
        plain = plain.replace("\\n", "\n").replace("\\r", "\n")
    first, *rest = plain.split("\n")
    return first + "".join([line.lstrip(" \t") for line in rest]) if rest else first


def _squeeze(text: str) -> bytes:
    """`text` without any letter a line end or its escape may have; if this holds no squeezed form, no view has a form.

    Much coarser than `_join`, so it can only tell that nothing is there; but it is one pass of `bytes.translate`.
    """
    return text.encode("ascii", "replace").translate(None, _BREAKING)


class _Origin:
    """Where the characters of a text without line ends come from; made up only when it is asked."""

    def __init__(self, text: str) -> None:
        self._text = text

    @functools.cached_property
    def _pieces(self) -> tuple[list[int], list[int]]:
        """Where each piece begins, in the joined lines and in the text."""
        views, texts, gone = [0], [0], 0
        for gap in _BREAK().finditer(self._text):
            gone += gap.end() - gap.start()
            views.append(gap.end() - gone)
            texts.append(gap.end())
        return views, texts

    def text(self, place: int) -> int:
        """The place in the text of a place in the joined lines."""
        views, texts = self._pieces
        piece = bisect.bisect_right(views, place) - 1
        return texts[piece] + place - views[piece]

    def view(self, place: int) -> int:
        """The place in the joined lines of the first character that stands at `place` or behind it."""
        views, texts = self._pieces
        piece = bisect.bisect_right(texts, place) - 1
        found = views[piece] + place - texts[piece]
        return found if piece + 1 == len(views) else min(found, views[piece + 1])
