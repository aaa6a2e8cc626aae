"""Text that is safe to show and to store.

Owns: the removal of what a terminal or a reader would act on, clipping, decoding, and what a label may be.
Must not: redact (`hub.domain.redaction.redactor` does), or change what a person can see.
"""

from __future__ import annotations

import json
import re
import unicodedata

from hub.domain.text.patterns import late

MAX_LABEL = 64
_WORD = 256
"""A longer run without a blank is data."""
MARK = "\u2026"
"""What `clip` puts where it cut."""

NOT_IN_PATHS = r"\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""What no path in a request may hold, as the inside of a pattern's brackets: control characters, and those that turn the
direction of a text."""

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e"
    "\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_BREAKS = late("\r\n?|\u2028|\u2029|\u0085")
_SEQUENCE = late(
    # OSC, DCS, SOS, PM, APC: up to their terminator; one that is not closed ends with its line.
    "(?:\x1b[\\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)?"
    # CSI: parameters, intermediates, one final byte.
    "|(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]?"
    # Two-byte and longer escapes.
    "|\x1b[ -/]*[0-~]?"
)
_CONTROL = late(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{_INVISIBLE}]")
_SUSPECT = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u2028\u2029{_INVISIBLE}]")
_UNSEEN = bytes(code for code in range(128) if _SUSPECT.match(chr(code)))


def clean(text: str) -> str:
    r"""`text` without anything a terminal acts on or a reader cannot see.

    Removed: escape sequences (7-bit and 8-bit), C0 but newline and tab, DEL, C1, bidirectional and zero-width
    controls, lone surrogates. Line ends become newlines. Idempotent; a text without any of these is returned
    as it is.
    """
    if not _is_suspect(text):
        return text
    text = _BREAKS().sub("\n", text)
    text = _SEQUENCE().sub("", text)
    return _CONTROL().sub("", text)


def marked(text: str) -> str:
    """`text` with the name of each character that `clean` would take away: where a person agrees, nothing is left out."""
    if not _is_suspect(text):
        return text
    return "".join(char if clean(char) == char else f"[U+{ord(char):04X}]" for char in text)


def visible(text: str) -> str:
    """The same in one line."""
    return marked(text).replace("\n", "[U+000A]")


def one_json(value: object) -> str:
    """The value as one line of JSON; what `clean` would take away is escaped, so it is the same value."""
    text = json.dumps(value, ensure_ascii=False)
    return _SUSPECT.sub(lambda found: json.dumps(found[0])[1:-1], text) if _is_suspect(text) else text


def _is_suspect(text: str) -> bool:
    """Whether there may be such a thing; of ASCII, which most texts are, this is told in a tenth of the time."""
    if text.isascii():
        return len(text.encode().translate(None, _UNSEEN)) != len(text)
    return _SUSPECT.search(text) is not None


def clip(text: str, limit: int) -> str:
    """`text` cut to at most `limit` characters, the mark of the cut included."""
    if len(text) <= limit:
        return text
    return text[: max(0, limit - len(MARK))] + MARK[:limit]


def cap(text: str, most: int) -> str:
    """`text`, or its two ends where it is longer: errors tend to stand at the end. No word near the cut is cut through."""
    if len(text) <= most:
        return text
    half = most // 2
    head = whole_words(text[:half])
    tail = whole_words(text[len(text) - half :][::-1])[::-1]
    return f"{head}\n[{len(text) - len(head) - len(tail)} characters left out]\n{tail}"


def whole_words(text: str) -> str:
    """The beginning of a longer text without the word at its end that may go on, if that is no longer than words are."""
    gap = max(text.rfind(" ", -_WORD), text.rfind("\n", -_WORD))
    return text[: gap + 1] if gap > 0 else text


def decode(data: bytes) -> str:
    """Bytes as text; what is not UTF-8 becomes U+FFFD."""
    return data.decode("utf-8", "replace")


def is_label(text: str) -> bool:
    """Whether `text` may name something: 1 to 64 characters that all print, without a space at an end."""
    return (
        0 < len(text) <= MAX_LABEL
        and text == text.strip()
        and clean(text) == text
        and not any(unicodedata.category(char) in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"} for char in text)
    )


def headline(text: str, limit: int = 80) -> str:
    """The first line, short enough for a title."""
    return clip(text.strip().partition("\n")[0].rstrip(), limit)
