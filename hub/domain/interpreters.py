"""Programs that run a script, or else code that stands in a word of their command line.

Owns: their names, and the options by which each is given code, a module, or a value that is neither.
Must not: run anything, look at a file, or judge what code does.

One-letter options may stand together. A letter that takes a value ends such a word: the rest of it is the value, else the
next word is. So `-Bc` is followed by code of Python, and `-Wc` is about its warnings.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

import attrs


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.DOTALL)


_NONE = r"(?!)"


@attrs.frozen
class Interpreter:
    """A family of programs that are told in one way what to run; each attribute is a pattern of a whole word.

    Attributes:
        name: The programs, without their folders.
        code: The option of code, with the code or before it.
        module: The same of a module, whose name is the first group where it stands in the word.
        valued: An option whose value is the next word, and is none of these.
    """

    name: re.Pattern[str] = attrs.field(converter=_pattern)
    code: re.Pattern[str] = attrs.field(converter=_pattern)
    module: re.Pattern[str] = attrs.field(converter=_pattern, default=_NONE)
    valued: re.Pattern[str] = attrs.field(converter=_pattern, default=_NONE)

    def script(self, words: Sequence[str]) -> Sequence[str]:
        """The script or module that such a program runs, and what that is given; none where it is given code.

        Args:
            words: What stands behind the program's name.
        """
        at = 0
        while at < len(words) and not self.code.fullmatch(words[at]) and words[at] != "-":
            if found := self.module.fullmatch(words[at]):
                return [*filter(None, found.groups()), *words[at + 1 :]]
            if not words[at].startswith("-"):
                return words[at:]
            at += 2 if self.valued.fullmatch(words[at]) else 1
        return ()


_FLAGS = r"-[^\WWXQcm_]*"
PYTHON = Interpreter(
    r"(?:i|bi|micro)?python[\d.]*t?|pypy[\d.]*",
    code=rf"{_FLAGS}c.*",
    module=rf"{_FLAGS}m(.*)",
    valued=rf"{_FLAGS}[WXQ]|--check-hash-based-pycs",
)
NODE = Interpreter(
    r"node(?:js)?|bun|deno|tsx|ts-node|qjs",
    code=r"-[a-z]*[ep]|--(?:eval|print)(?:=.*)?|eval",
    valued=(
        r"-[rC]|--(?:require|import|preload|(?:experimental-)?loader|conditions|env-file(?:-if-exists)?|input-type|title"
        r"|cwd|config)"
    ),
)
SHELL = Interpreter(
    r"sh|bash|zsh|dash|ksh|ash|fish|csh|tcsh|mksh|yash|rbash",
    code=r"-(?!(?:norc|rcfile|restricted|protected)$)[A-Za-z]*c[A-Za-z]*",  # Bash takes long options behind one dash too
    valued=r"[-+][A-Za-z]*[oO]|--?(?:rcfile|init-file)",
)


def line_of(words: Sequence[str]) -> str | None:
    """The line that a shell is given, and no more than that (`bash -lc 'make'`); None where the words are anything else."""
    if len(words) != len(("bash", "-lc", "make")):
        return None
    shell, option, line = words
    return line if SHELL.name.fullmatch(posixpath.basename(shell)) and SHELL.code.fullmatch(option) else None
