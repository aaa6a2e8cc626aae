"""A shell's command line cut into its commands and their words, the way a shell cuts it.

Owns: where a word, a redirection and a command end, and what braces make of a command.
Must not: know a program, or what a word means.
Tests: tests/hub/domain/permission/test_commandline.py

Where a line cannot be read (a quote that is not closed) its raw pieces are taken.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from itertools import product
from math import prod

from hub.domain.permission.quoting import HOLE, unquoted
from hub.domain.permission.shellword import PIPE, braced

_JOINTS = ";&|()\n`"
_ROUNDS = 64
"""Commands that a line with braces is taken for."""
_MOST = 2_000
"""Words that are looked at; a longer line is nothing anybody wrote."""
DUPLICATED = re.compile(r"(?:(?<![^\s;&|()])\d)?[<>]&(?:\d+|-)(?![^\s;&|()<>])")
"""`2>&1` begins no command; `>&2x` writes a file."""
_NUMBERED = re.compile(r"(?<![^\s;&|()])(?:\d+|\{\w+\})(?=[<>])")
"""Neither `2>file` nor `{fd}>file` has a word before the sign."""
_QUOTED = re.compile(r"\\.|\$'(?:\\.|[^'\\])*'|'[^']*'|\$?\"(?:\\.|[^\"\\])*\"", re.DOTALL)
"""With the `$` before a quote, which is a sign of the shell's there, and a letter within other quotes."""
_GOES_ON = re.compile(r"(\\[^\n])|\\\n")
"""A line's end that is none; it is one behind `\\\\`."""
_HELD = {ord(sign): chr(0xE100 + ord(sign)) for sign in ";&|(){}\n`<>"}
"""What stands for a sign that a word holds: `find -exec x \\;` goes on behind it, and so does `'('`."""
_PARTS = re.compile(r"[;&|\n`(){}]+")
_SURE_QUOTES = re.compile(r"'[^']*'|\"[^\"\\`$]*\"")
_SURE = re.compile(rf"(?>(?:[^'\"\\#`$<]|<(?!<)|{_SURE_QUOTES.pattern})*)")
"""Neither a comment, an escape nor a text of its own (`<<X`), in which a quote would be a letter."""
_FREED = {ord(held): chr(sign) for sign, held in _HELD.items()}
ASSIGNED = re.compile(r"[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=")
_BRACE = frozenset({"{"})
"""Behind it a command begins, whatever stands before: `function f { rm x; }`."""
_REDIRECTIONS = frozenset({"<", ">", ">>", "<<", "<<<", "<>", ">|", "&>", "&>>", ">&", "<&"})
_MOST_SIGNS = 3
_SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})
_KEYWORDS = frozenset(
    [
     "!", "{", "}", "if", "then", "elif", "else", "fi", "while", "until", "do", "done", "esac", "in", "function",
     "coproc", "and", "or", "not", "begin", "end", "noglob", "nocorrect", "-"
    ]
)  # fmt: skip


def cut(line: str) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """(words, redirections, assignments) of each command; what ends it is dropped. Of too many the rest is a hole."""
    for number, found in enumerate(_every(line)):
        if number == _MOST:
            yield [HOLE], [HOLE], []
            return
        yield found


def parts(line: str) -> list[str]:
    """Each piece of a line that a shell may take for a command of its own, without what only joins outputs.

    What stands in quotes is one word where every quote of the line is sure to be one, and none holds a value.
    """
    plain = DUPLICATED.sub("", line)
    if _SURE.fullmatch(plain):
        plain = _SURE_QUOTES.sub(lambda found: found[0].translate(_HELD), plain)
    return [part.strip().translate(_FREED) for part in _PARTS.split(plain) if part.strip()]


def written(line: str) -> list[str]:
    """The files that a redirection of the line writes, but for those in which nothing stays."""
    found, before = [], ""
    for token, joint in _tokens(line):
        if not joint and ">" in before and token not in _SINKS:
            found.append(token)
        before = token if joint else ""
    return found


def _every(line: str) -> Iterator[tuple[list[str], list[str], list[str]]]:
    words: list[str] = []
    files: list[str] = []
    target = False
    for token, joint in _tokens(line):
        if not joint and token not in _BRACE:
            (files if target else words).append(token)
            target = False
        elif token in _REDIRECTIONS:
            target = True
        else:
            if words and token.endswith("<("):
                words.append(PIPE)
            yield from _both(words, files)
            words, files, target = [], [], False
    yield from _both(words, files)


def _both(words: list[str], files: list[str]) -> Iterator[tuple[list[str], list[str], list[str]]]:
    """A command as it stands and, where it has braces, with what they stand for; nothing of an empty one."""
    if not words and not files:
        return
    bare = _bare(words)
    leading = words[: len(words) - len(bare)]
    yield bare, files, leading
    if any("{" in word for word in (*words, *files)):
        choices = [braced(word) for word in words]
        put = [each for word in files for each in braced(word)]
        yield _bare([each for word in choices for each in word]), put, leading
        if 1 < prod(map(len, choices)) <= _ROUNDS:  # a loop may give one of them at a time
            yield from ((_bare([*each]), put, leading) for each in product(*choices))


def _bare(words: list[str]) -> list[str]:
    """Without keywords and assignments before it; a line of assignments alone stays, for it may hold a substitution."""
    for place, word in enumerate(words):
        if word not in _KEYWORDS and not ASSIGNED.match(word):
            return words[place:]
    return words


def _tokens(line: str) -> Iterator[tuple[str, bool]]:
    """(text, whether it stands between words)."""
    held = _NUMBERED.sub(" ", DUPLICATED.sub(" ", _QUOTED.sub(_kept, line)))
    lexer = shlex.shlex(held, posix=True, punctuation_chars=_JOINTS + "<>")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    found = []
    try:
        while (token := lexer.get_token()) is not None:
            found.append(token)
            if len(found) == _MOST:
                found += ["\n", HOLE]  # what follows is not read
                break
    except ValueError:
        plain = re.sub(r"[\"'\\]", "", _GOES_ON.sub(r"\1", line))
        found = re.findall(rf"[{re.escape(_JOINTS)}<>]+|[^\s{re.escape(_JOINTS)}<>]+|\n", plain)
    for token in found:
        if token and all(letter in _JOINTS + "<>" for letter in token):
            joint, redirection = _joints(token)
            yield from ((sign, True) for sign in (joint, redirection) if sign)
        else:
            yield token.translate(_FREED), False


def _kept(quoted: re.Match[str]) -> str:
    """What is quoted, with signs that end nothing; a line goes on where it may: `'` keeps even that end."""
    text = quoted[0] if quoted[0].startswith(("'", "$'")) else _GOES_ON.sub(r"\1", quoted[0])
    return unquoted(text).removeprefix("$").translate(_HELD)


def _joints(signs: str) -> tuple[str, str]:
    """What ends a command, and the redirection right behind it: of `;<` or `&&>`."""
    begins = range(max(0, len(signs) - _MOST_SIGNS), len(signs))
    at = next((at for at in begins if signs[at:] in _REDIRECTIONS), len(signs))
    return signs[:at], signs[at:]
