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
_USED = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_ASSIGNED_OR_USED = re.compile(
    r"(?:^|(?<=[\s;&|(]))(?P<name>[A-Za-z_]\w*)=(?P<value>\"[^\"]*\"|'[^']*'|[^\s;&|()\"']*)|" + _USED.pattern
)
_WORD = re.compile(r"(?<![\w./-])[A-Za-z_]\w*(?![\w./=-])")
_CHOICE = re.compile(r"[?*+@!]\([^()]*\)")
_MOST = 64
"""Words that one with braces is taken for."""
_MOST_ALIASES = 6
"""Readings of a line: an alias may stand for another."""
_LONGEST = 1_000_000
"""Letters that are put into a line: each value may double the next."""
_LAST = 0x10FFFF


def readings(line: str) -> list[str]:
    """The line as it stands and, where that differs, as a shell reads it."""
    read = _BLANK.sub(" ", line)
    read = _HERE.sub(".", read)
    read = _ESCAPED.sub(lambda found: f"'{_ESCAPE.sub(_letter, found[1])}'", read)
    values: dict[str, str] = {}
    _filled(_ASSIGNED_OR_USED, read, values)
    read = _filled(_ASSIGNED_OR_USED, read, values)
    found = [line, read]
    while "alias" in read and len(found) < _MOST_ALIASES:
        found.append(_filled(_WORD, found[-1], values))
    return list(dict.fromkeys((line, *(_CHOICE.sub("*", one) for one in found))))


def _filled(pattern: re.Pattern[str], line: str, values: dict[str, str]) -> str:
    """The line with what each name stands for there; what it assigns goes into `values`.

    Who reads a line a second time with the values of the first finds those too that
    stand behind their use, as that of a function does.
    """
    room = _LONGEST

    def value(used: re.Match[str]) -> str:
        nonlocal room
        known = values.get(used[used.lastindex or 0], used[0])
        room -= len(known)
        return known if room > 0 else used[0]

    def put(found: re.Match[str]) -> str:
        if not (name := found.groupdict().get("name")):
            return value(found)
        told = _USED.sub(value, found["value"])
        values[name] = told.strip("\"'")
        return f"{name}={told}"

    return pattern.sub(put, line)


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
