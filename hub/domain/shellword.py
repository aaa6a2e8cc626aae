"""What a shell makes of a text before it runs it: blanks in disguise, escapes, braces, values that the line itself assigns.

Owns: the other readings of a line, and what a word with braces stands for.
Must not: run anything, cut a line into commands, or know a rule.

A reading that is in doubt is one too many: who asks compares them all.
"""

from __future__ import annotations

import re

_BLANK = re.compile(r"\$\{?IFS\}?")
_HERE = re.compile(r"\$\{?PWD\}?|(?<!\S)~\+(?=/|\s|$)")
_ESCAPED = re.compile(r"\$'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "", "b": "", "e": "", "f": "\f", "v": "\v"}
_ASSIGNED = re.compile(r"(?:^|[\s;&|(])([A-Za-z_]\w*)=(\"[^\"]*\"|'[^']*'|[^\s;&|()\"']*)")
_VALUE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_WORD = re.compile(r"(?<![\w./-])[A-Za-z_]\w*(?![\w./=-])")
_CHOICE = re.compile(r"[?*+@!]\([^()]*\)")
_MOST = 64
"""Words that one with braces is taken for."""
_LAST = 0x10FFFF


def readings(line: str) -> list[str]:
    """The line as it stands and, where that differs, as a shell reads it."""
    read = _BLANK.sub(" ", line)
    read = _HERE.sub(".", read)
    read = _ESCAPED.sub(lambda found: f"'{_ESCAPE.sub(_letter, found[1])}'", read)
    values = {found[1]: found[2].strip("\"'") for found in _ASSIGNED.finditer(read)}
    if values:
        read = _VALUE.sub(lambda found: values.get(found[1] or found[2], found[0]), read)
    if "alias" in read:
        read = _WORD.sub(lambda found: values.get(found[0], found[0]), read)
    read = _CHOICE.sub("*", read)
    return [line] if read == line else [line, read]


def _letter(found: re.Match[str]) -> str:
    code = next((int(found[n], base) for n, base in ((1, 16), (2, 16), (3, 16), (4, 8)) if found[n]), None)
    if code is None:
        return _LETTERS.get(found[5], found[5])
    return chr(code) if code <= _LAST else ""


def braced(word: str) -> list[str]:
    """The words that stand for one with braces: `{rm,x}`, `s{e,o}cret`; the word alone where there are none."""
    waiting = [word]
    found: list[str] = []
    while waiting and len(waiting) + len(found) < _MOST:
        one = waiting.pop(0)
        if (cut := _choices(one)) is None:
            found.append(one)
        else:
            before, choices, after = cut
            waiting[:0] = [f"{before}{choice}{after}" for choice in choices]
    return [one for one in (*found, *waiting[:_MOST]) if one]


def _choices(word: str) -> tuple[str, list[str], str] | None:
    """What stands before, in and behind the first pair of braces that offers a choice."""
    end = word.find("}")
    while end >= 0:
        begin = word.rfind("{", 0, end)
        if begin >= 0 and "," in (inner := word[begin + 1 : end]):
            return word[:begin], inner.split(","), word[end + 1 :]
        end = word.find("}", end + 1)
    return None
