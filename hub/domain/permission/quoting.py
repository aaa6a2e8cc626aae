"""Where quotes, substitutions, remarks and texts for a program's input begin and end in a shell's line.

Owns: the one scan from left to right that knows which sign is a letter.
Must not: know a value, a command or a rule, or run anything.

The scan takes each letter once. What two shells, or one at a second look, would take differently is left in the line and
marked with `HOLE`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

import attrs

HOLE = "\ue0fe"
"""Stands for what only a running shell knows: the value of a variable, what a command says."""
_SIGN = re.compile(
    r"\\.?|\$'(?:\\.|[^'\\])*'?|'[^']*'?|`(?:\\.|[^`\\])*`?|\$[({\[]|<<<|<<-?|[\"()}\]\n]"
    r"|(?<![^\s;&|()])(?:#[^\n]*|case(?=\s)|esac(?![^\s;&|()]))",
    re.DOTALL,
)
_WITHIN = re.compile(r"\\.?|`(?:\\.|[^`\\])*`?|\$?'|\$[({\[]|[\"}]", re.DOTALL)
"""The same in a text in which `'` is a letter."""
_CLOSES = {"$(": ")", "(": ")", "((": ")", "${": "}", '"${': "}", "$[": "]", '"': '"', "case": "esac"}
_LETTERS = frozenset({'"', '"${', "<<"})
"""Behind these `'` is a letter."""
_SUMS = frozenset({"((", "$["})
_IN_WORDS = re.compile(r"\$\{[!#]?\w+(?:\[[^\]]*\])?:?[-=+?]")
"""Behind it stand words, in which `'` is a letter within other quotes; elsewhere in braces it is a sign."""
_BEGINS = re.compile(
    r"(?:^|[;()\n]|(?<![<>])[&|])[ \t\n]*(?:(?:[!{]|do|then|else|if|elif|while|until|time)[ \t\n]+)?\Z"
)
"""Behind it a word may be one of the shell's own."""
_BEFORE = 64
"""Letters that are looked at for that."""
_TAG = re.compile(r"[ \t]*((?:\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|[^\s;&|()<>'\"\\`])+)", re.DOTALL)
_SURE_TAG = re.compile(r"'[^'\"\\]*'|\"[^'\"\\$`]*\"|\\?[\w.,:+@%/=!?-]+")
"""One that every shell takes for the same."""
_QUOTE = re.compile(r"[\"'\\]")
_MOST = 32
"""Texts for a program's input in one line that are looked for; of a line with more nobody says what it runs."""
_ESCAPED = re.compile(r"\$'((?:\\.|[^'\\])*)'", re.DOTALL)
_ESCAPE = re.compile(
    r"\\(?:x(?:\{([0-9a-fA-F]+)\}?|([0-9a-fA-F]{1,2}))|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))",
    re.DOTALL,
)
_NAMED = {"n": "\n", "t": "\t", "r": "\r", "a": "", "b": "", "e": "", "f": "\f", "v": "\v"}
_LAST = 0x10FFFF


@attrs.frozen
class Bare:
    """A line without what a shell does not run."""

    line: str
    """Without remarks and without the texts, each `<<X` as `<<< X`."""
    texts: tuple[tuple[str, str], ...]
    """(what stands before it, text) of each in which a shell looks for values."""


@attrs.frozen
class _Text:
    """A `<<X` whose text begins behind this line."""

    tag: str
    tabs: bool
    plain: bool
    depth: int
    within: bool
    before: str


def unquoted(quoted: str) -> str:
    """What `$'...'` stands for, in quotes that keep it; any other text as it is."""
    if not (found := _ESCAPED.fullmatch(quoted)):
        return quoted
    return "'" + _ESCAPE.sub(_letter, found[1]).replace("'", "'\\''") + "'"


def _letter(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1][-2:], 16))
    code = next((int(found[n], base) for n, base in ((2, 16), (3, 16), (4, 16), (5, 8)) if found[n]), None)
    if code is None:
        return _NAMED.get(found[6], found[6])
    return chr(code) if code <= _LAST else ""


def plain(line: str) -> str:
    """The line with each `$'...'` in quotes that every shell has; all else of it stands as it is."""
    return _Scan(line).line(keep=True) if "$'" in line else line


def bare(line: str) -> Bare:
    """The line without remarks, and without the texts that a program is given by `<<X`."""
    scan = _Scan(line)
    found = scan.line(keep=False)
    return Bare(f"{HOLE}\n{found}" if scan.doubtful else found, tuple(scan.texts))


def doubled(line: str) -> list[tuple[int, int]]:
    """(begin, end) of each piece that stands in double quotes and in nothing within those; a value may begin at its end.

    None of a line of which nobody can say what a shell runs.
    """
    scan, found, done, within = _Scan(line), list[tuple[int, int]](), 0, False
    for begin, end, _ in scan.pieces():
        if within:
            found.append((done, begin))
        done, within = end, scan.in_double
    return [] if scan.doubtful else found


def closed(line: str, at: int, *, letters: bool = False) -> int:
    """Behind the sign that closes what opens at `at` (`$(`, `${` or `(`); the end of the line where none does.

    Args:
        line: The line.
        at: Where it opens.
        letters: Whether it stands in double quotes, or in a text.
    """
    scan = _Scan(line, at, letters=letters)
    return next((end for _, end, _ in scan.pieces() if scan.depth == 1), len(line))


class _Scan:
    def __init__(self, line: str, at: int = 0, *, letters: bool = False) -> None:
        self._line = line
        self._at = at
        self._open = ["<<" if letters else ""]
        self._waiting: list[_Text] = []
        self._lines: dict[tuple[bool, str], list[int]] = {}
        self._begun: list[int] = [0]
        self._found = 0
        self._escaped = self._pattern = -1
        self._lost = False
        self.texts: list[tuple[str, str]] = []

    @property
    def doubtful(self) -> bool:
        """Whether, at its end, nobody can say what of the line a shell runs."""
        return self._lost or "case" in self._open

    @property
    def depth(self) -> int:
        """How much is open here; 1 = nothing."""
        return len(self._open)

    @property
    def in_double(self) -> bool:
        """Whether what follows stands in double quotes."""
        return self._open[-1] == '"'

    def line(self, *, keep: bool) -> str:
        """The whole line, `$'...'` in other quotes; see `bare` and `plain`."""
        told, done = [], 0
        for begin, end, instead in self.pieces():
            if instead is not None and not (keep and self._line[begin] != "$"):
                told += [self._line[done:begin], instead]
                done = end
        told.append(self._line[done:])
        return "".join(told)

    def pieces(self) -> Iterator[tuple[int, int, str | None]]:
        """(begin, end, what stands there instead; None = the same) of each sign; what is behind it is looked at next."""
        while found := (_WITHIN if self._open[-1] in _LETTERS else _SIGN).search(self._line, self._at):
            self._at = found.end()
            instead = self._took(found[0], found.start())
            yield found.start(), self._at, instead

    def _took(self, sign: str, begin: int) -> str | None:
        top = self._open[-1]
        if sign[0] == "\\":
            self._escaped = self._at
        elif sign == _CLOSES.get(top):
            if sign != "esac" or self._begins(begin):
                self._close()
        elif sign in ('"', "$(", "${", "$["):
            within = sign == "${" and top in _LETTERS and _IN_WORDS.match(self._line, begin)
            self._push('"${' if within else sign)
        elif sign.startswith(("'", "$'")):
            self._lost = self._lost or top == '"${'  # each shell has its own mind
            return unquoted(sign)
        elif top == "${":
            self._at = begin + 1 if sign[0] == "#" else self._at
        else:
            return self._took_in_command(sign, begin)
        return None

    def _took_in_command(self, sign: str, begin: int) -> str | None:
        if sign[0] == "#":
            self._lost = self._lost or not _SUMS.isdisjoint(self._open)
            return ""
        if sign in ("<<", "<<-"):
            return self._named(begin, sign)
        if sign == "\n" and self._waiting:
            return self._skip()
        if sign == "(":
            doubled = self._open[-1] == "((" or self._line[begin - 1 : begin] == "("
            self._push("((" if doubled else "(")
        elif sign == "case" and self._begins(begin):
            self._push(sign)
        elif sign == ")" and self._open[-1] == "case":
            self._pattern = self._at
        return None

    def _push(self, sign: str) -> None:
        self._open.append(sign)
        self._begun.append(self._at)

    def _close(self) -> None:
        gone = self._open.pop()
        self._begun.pop()
        if gone == "(" and self._open[-1] == "case":
            self._pattern = self._at
        if gone not in ("(", "case"):  # `$(cat <<X)` has none
            self._waiting = [one for one in self._waiting if one.depth <= self.depth]

    def _named(self, begin: int, sign: str) -> str | None:
        """What stands in the place of `<<X`."""
        if not (tag := _TAG.match(self._line, self._at)):
            return None
        self._found += 1
        if self._found > _MOST:
            self._lost, self._at = True, len(self._line)
            return None
        self._at = tag.end()
        start = self._line.rfind("\n", 0, begin) + 1
        index = self._line.rfind("[", start, begin) > self._line.rfind("]", start, begin)
        before = (self._line[a:b] for a, b in zip(self._begun, [*self._begun[1:], begin], strict=True))
        text = _Text(
            tag=_QUOTE.sub("", tag[1]),
            tabs="-" in sign,
            plain=not _QUOTE.search(tag[1]),
            depth=self.depth,
            within="$(" in self._open,
            before=";".join(before),
        )
        if index or not _SUMS.isdisjoint(self._open):  # `1<<X` is a sum, and `((cat <<X` none
            self._lost = self._lost or self._end(text, self._at) is not None
            return None
        self._lost = self._lost or not _SURE_TAG.fullmatch(tag[1])
        self._waiting.append(text)
        return f"<<< {tag[1]}"

    def _skip(self) -> str:
        """Goes behind the texts that begin here."""
        waiting, self._waiting = self._waiting, []
        for text in waiting:
            if (end := self._end(text, self._at)) is None:
                break
            if text.plain:
                self.texts.append((text.before, self._line[self._at : end[0]]))
            self._at = end[1]
        return "\n"

    def _end(self, text: _Text, at: int) -> tuple[int, int] | None:
        """(begin, end) of the line that ends a text which begins at `at`."""
        if not self._lines:
            self._read()
        exact = self._lines.get((text.tabs, text.tag), [])
        glued = self._lines.get((text.tabs, f"{text.tag})"), []) if text.within else []
        begins = [each[place] for each in (exact, glued) if (place := bisect_left(each, at)) < len(each)]
        if not begins:
            return None
        self._lost = self._lost or begins[0] > begins[-1]  # not to every shell is `X)` its end
        begin = end = min(begins)
        while text.tabs and self._line.startswith("\t", end):
            end += 1
        end += len(text.tag)
        return begin, end + self._line.startswith("\n", end)

    def _read(self) -> None:
        """Where each line begins, by its text; by what stands before a `)` in it, and that, too."""
        begin = 0
        for each in self._line.split("\n"):
            name, closing, _ = each.partition(")")
            for one in dict.fromkeys((each, name + closing)):
                self._lines.setdefault((False, one), []).append(begin)
                self._lines.setdefault((True, one.lstrip("\t")), []).append(begin)
            begin += len(each) + 1

    def _begins(self, at: int) -> bool:
        """Whether a command may begin here."""
        if not (found := _BEGINS.search(self._line, max(0, at - _BEFORE), at)):
            self._lost = self._lost or (at >= _BEFORE and self._line[at - _BEFORE : at].isspace())
            return False
        behind = found.start() + 1
        if self._line[behind - 1] == ")":
            named = self._line[behind - 2] == "(" and self._line[behind - 3] not in "$<>="  # `f() case`
            return named or behind == self._pattern
        return behind != self._escaped
