"""What a rule for secrets of a form is: literals and bounded runs of letters, and the patterns that follow from them.

Owns: the parts of a form, how a match of it, a beginning of it and a cheap look for it are written.
Must not: know any provider's form (`rules` does), or search.

Rules for a rule: it is a sequence of literals and bounded runs of letters, a literal first, each run of a
class that the part behind it does not begin with. So matching never backtracks, and the pattern of its
*beginnings*, which a stream needs to know what to hold back, follows from the same sequence. So does what RE2 looks for
first (`likely`): no run of it that has no end may hold the literal, or each place would be read to the end of the text.

Tests: tests/hub/domain/redaction/test_rules.py, tests/hub/domain/redaction/test_prefix.py
"""

from __future__ import annotations

import re
from functools import cache
from typing import AnyStr

import attrs

from hub.domain.redaction.value import machine_made, stands_for_one, worded

ALNUM = "A-Za-z0-9"
UPPER = "A-Z0-9"
HEX, HEX_ANY = "a-f0-9", "A-Fa-f0-9"
URLSAFE, BASE64 = "A-Za-z0-9_-", "A-Za-z0-9+/="
_WORDS_LETTERS = (ALNUM, UPPER)
"""Classes without a sign that may end a word."""
_LETTER, _DIGIT = re.compile("[A-Za-z]"), re.compile("[0-9]")
_SAMPLE, _JUDGED = 32, 64
"""How many letters mostly tell whether a form was filled in, and how many do."""
_MASK = 2
"""How many different signs a mask has, at most: with more of them it may be somebody's password."""
_READ = 512
_HEAD_AND_RUN = 2
"""The parts of most forms."""
_KEY_LINE = 32
"""Letters drawn at random in a line of a key, at least."""
_ENOUGH = 8
"""Letters behind a head that are enough to look closer."""
_BLANKS = r"\t-\r\x1c-\x20?"
"""What `\\s` is in the ASCII view of a text, where a letter of another script is a question mark."""


class Runs:
    """Where runs of letters end in a text. Each is read once, however many heads stand in it."""

    def __init__(self, text: str) -> None:
        self._text, self.size = text, len(text)
        self._met: dict[str, tuple[int, int]] = {}

    def end(self, letters: str, place: int) -> int:
        """Behind the last letter of the run that holds `place`: `place` itself where there is none."""
        begin, end = self._met.get(letters, (0, -1))
        if not begin <= place <= end:
            end = matched_end(_run(letters), self._text, place)
            self._met[letters] = (place, end)
        return end


@cache
def _run(letters: str) -> re.Pattern[str]:
    return re.compile(f"[{letters}]*+")


def matched_end(pattern: re.Pattern[AnyStr], text: AnyStr, place: int = 0) -> int:
    """Where what it matches at `place` ends: `place` where it matches nothing."""
    found = pattern.match(text, place)
    return found.end() if found is not None else place


@attrs.frozen
class LetterRun:
    """From `least` to `most` letters of a class; `secret` marks the part that is hidden (default: all)."""

    letters: str
    least: int
    most: int
    secret: bool = False
    stop: str = ""
    """A literal at which the run ends although its letters are of the class."""

    def group(self) -> str:
        """The run's pattern, in the group `secret` where it is that."""
        whole = self.pattern(self.least)
        return f"(?P<secret>{whole})" if self.secret else whole

    def pattern(self, least: int) -> str:
        """The run as a pattern that gives nothing back."""
        return self._units(re.escape(self.stop), least)

    def beginning(self, rest: str) -> str:
        """The run up to the end of the text, or the run and `rest`; half a stop at the end may be one."""
        if not self.stop:
            return rf"(?:{self.pattern(0)}\Z|{self.pattern(self.least)}{rest})"
        half = _beginning((self.stop,))
        stop = f"{re.escape(self.stop)}|{half}"
        return rf"(?:{self._units(stop, 0)}(?:\Z|{half})|{self._units(stop, self.least)}{rest})"

    def likely(self) -> str:
        """What the run begins with, for RE2: which knows no stop, but that a stop of one letter is no body."""
        letters = self.in_view()
        body = letters.removesuffix(self.stop[:1]) if self.stop else letters
        if body != letters:
            return f"{re.escape(self.stop[0])}{{0,{len(self.stop) - 1}}}[{body}]"
        return f"[{letters}]{{{min(self.least, _ENOUGH)}{'' if self.is_enough else ','}}}"

    def in_view(self) -> str:
        """The class in the ASCII view of a text."""
        return self.letters.replace(r"\s", _BLANKS)

    @property
    def is_enough(self) -> bool:
        """Whether so much of a run is worth a closer look."""
        return self.least > 1

    def _units(self, stop: str, least: int) -> str:
        if not stop:
            return f"[{self.letters}]{{{least},{self.most}}}+"
        return f"(?>(?:(?!{stop})[{self.letters}]){{{least},{self.most}}})"


@attrs.frozen
class KeyLines:
    r"""Lines of a key, whatever stands around each: `k.pem:7:MII...`, `api-1  | MII...`, `"MII...\n" +`.

    The last part of a rule, and its secret. What stands between them and the stop, or the end of the text, is hidden as
    well: a line that is shorter. A marker ends them, or redacting twice were more than redacting once.
    """

    line: str
    """The pattern of one."""
    most: int
    stop: str
    is_enough = True

    def group(self) -> str:
        """The lines and what stands before each."""
        return f"(?P<secret>{self._lines}(?:{self._between}{self._last}(?={self._end}|\\Z))?)"

    def beginning(self, _rest: str) -> str:
        """The same up to the end of the text, where no line or a part of one may stand."""
        return rf"(?:{self._first}|{self._lines}{self._between}{self._last})\Z"

    def likely(self) -> str:
        """Whatever stands behind the literal, but the stop."""
        return f"[^{re.escape(self.stop[0])}]"

    def in_view(self) -> str:
        """The class of what may stand before a line."""
        return r"\x00-\x7f"

    def hold(self, secret: str) -> bool:
        """Whether any of them is a key's: no path, and no digest."""
        lines: list[str] = re.findall(self.line, secret)
        return any(machine_made(line, _KEY_LINE) and line.lower() != line != line.upper() for line in lines)

    @property
    def _end(self) -> str:
        return rf"{self.stop}|\[REDACTED:"

    @property
    def _lines(self) -> str:
        return f"{self._first}{self.line}(?>(?:{self._between}{self.line}){{0,{self.most}}})"

    @property
    def _first(self) -> str:
        """What stands before the first: headers of the key too."""
        return rf"(?>(?:(?!{self._end}|{self.line})[\s\S]){{0,400}})"

    @property
    def _between(self) -> str:
        """What stands between two: the end of a line, and what the next one begins with."""
        return rf"{self._within}\n{{0,2}}+{self._within}"

    @property
    def _last(self) -> str:
        """The end of a shorter last line, and what the stop's line begins with."""
        return rf"(?:\n{{1,2}}{self._within})?"

    @property
    def _within(self) -> str:
        return rf"(?>(?:(?!{self._end}|{self.line})[^\n]){{0,160}})"


Part = str | LetterRun | KeyLines


@attrs.frozen
class Rule:
    """A name and the parts of the form; with `boundary` no letter or digit may stand before it, with `exact` none behind."""

    name: str
    parts: tuple[Part, ...]
    boundary: bool = False
    exact: bool = False
    published: bool = False
    """Whether there are such keys that are no secret, so that a detection engine is to agree where there is one."""
    mixed: bool = False
    """Whether every such secret has both letters and digits."""
    before: str = ""
    """A pattern of fixed length, for what must stand before the literal although it is not hidden."""
    chosen: bool = False
    """Whether a person makes it up, so that a word may stand in its place."""

    @property
    def literal(self) -> str:
        """What every match begins with."""
        assert isinstance(self.parts[0], str)  # noqa: S101  # the table is this module's
        return self.parts[0]

    def full(self) -> str:
        """The pattern of a match; the group `secret` is what is hidden."""
        parts = [re.escape(part) if isinstance(part, str) else part.group() for part in self.parts]
        whole = "".join(parts)
        behind = rf"(?![{ALNUM}\[])" if self.exact else ""  # nor a marker: it may stand for letters
        return self._before() + (whole if "(?P<secret>" in whole else f"(?P<secret>{whole})") + behind

    def beginning(self) -> str:
        """The pattern of what reaches the end of the text and may become a match, or a longer one."""
        return self._before() + _beginning(self.parts)

    def likely(self) -> str:
        """The pattern, for RE2, of what every match begins with; more than matches begin with it."""
        return _likely(self.parts)

    def begun(self) -> str:
        """The pattern, for RE2, of a text's end that `likely` may still come of, once the literal is there."""
        return re.escape(self.literal) + _begun(self.parts[1:])

    @property
    def run(self) -> LetterRun:
        """The run behind the literal."""
        assert isinstance(self.parts[1], LetterRun)  # noqa: S101  # the table is this module's
        return self.parts[1]

    @property
    def overlaps(self) -> bool:
        """Whether within such a secret another may begin that goes on behind it: a later head then ends no earlier."""
        return len(self.parts) == _HEAD_AND_RUN and not self.run.stop and not (self.exact or self.boundary)

    def opens(self, runs: Runs, place: int) -> int:
        """Where the first head ends, at `place` or behind it, whose run is long enough, or not over, and not too long."""
        run = self.run
        if run.stop or not run.is_enough:
            return place
        end = runs.end(run.letters, place)
        if end - place > run.most and self._run_is_all:
            return end - run.most
        return place if end - place >= run.least or end == runs.size else end + 1

    def onward(self, runs: Runs, start: int, place: int) -> int:
        """Where the first head ends for which that is not decided that was found at `start`, its head ending at `place`."""
        run, later = self.run, place + 1
        if self.boundary:
            later = max(later, runs.end(ALNUM, start) + len(self.literal))
        if run.stop or not run.is_enough:
            return later
        end = runs.end(run.letters, place)
        if len(self.parts) > _HEAD_AND_RUN or (
            self.before and start and runs.end(run.letters, start - 1) > start
        ):
            # What follows is the same for all heads of a run, and so is where a secret ends; or too much stands before.
            return max(later, end + 1)
        if (
            self.mixed
        ):  # what is without a digit here has none behind a head whose run is over before the next
            later = max(later, min(end + 1, runs.end("^0-9", place) - run.most))
        return later

    @property
    def _is_drawn(self) -> bool:
        """Whether a generator makes all of it; the lines of a private key hold headers too."""
        return not any(isinstance(part, LetterRun) and part.stop for part in self.parts)

    @property
    def _run_is_all(self) -> bool:
        """Whether the whole run has to be the form's."""
        return len(self.parts) > _HEAD_AND_RUN or (self.exact and self.run.letters in _WORDS_LETTERS)

    def takes(self, secret: str) -> bool:
        """Whether this is a secret and no blank: `ghp_xxxxxxxx` stands for a key and is none."""
        drawn = secret.removeprefix(self.literal)
        if self.mixed and not (_LETTER.search(drawn) and _DIGIT.search(drawn)):
            return False
        if self.chosen and stands_for_one(secret):
            return False
        if isinstance(self.parts[-1], KeyLines) and not self.parts[-1].hold(secret):
            return False
        # Heads upon heads are one region, or each would be looked at.
        if not self.chosen and self._is_drawn and self.literal not in drawn and worded(drawn[:_READ]):
            return False
        return not all(map(_is_blank, (drawn[:_SAMPLE].lower(), drawn[:_JUDGED].lower())))

    def _before(self) -> str:
        if not self.boundary:
            return self.before
        # An escaped line end is a boundary too. A marker is none: else hiding one secret would uncover a form
        # that was none before, and redacting twice were more than redacting once.
        return rf"(?<!:[0-9a-f]{{8}}\])(?:(?<![{ALNUM}])|(?<=\\[nrt])|(?<=%[0-9A-Fa-f]{{2}}))"


def _is_blank(letters: str) -> bool:
    """Whether it is a form that is still to be filled in, or that others masked: `xxxx-xxxx`, `----`."""
    masked = len(set(letters)) <= _MASK and not any(map(str.isalnum, letters))
    return masked or 2 * letters.count("x") > len(letters)


def _likely(parts: tuple[Part, ...]) -> str:
    """The parts up to the first run that is long enough to tell; every rule has one."""
    head, rest = parts[0], parts[1:]
    if isinstance(head, str):
        return re.escape(head) + _likely(rest)
    return head.likely() if head.is_enough else head.likely() + _likely(rest)


def _begun(parts: tuple[Part, ...]) -> str:
    """The same parts, cut off by the end of the text anywhere."""
    if not parts:
        return r"\z"
    head, rest = parts[0], _begun(parts[1:])
    if not isinstance(head, str):
        return (
            rf"[{head.in_view()}]{{0,{_ENOUGH}}}\z"
            if head.is_enough
            else rf"[{head.in_view()}]*(?:\z|{rest})"
        )
    for letter in reversed(head):
        rest = rf"(?:\z|{re.escape(letter)}{rest})"
    return rest


def _beginning(parts: tuple[Part, ...]) -> str:
    if not parts:
        return "(?!)"
    head, rest = parts[0], _beginning(parts[1:])
    if not isinstance(head, str):
        return head.beginning(rest)
    for letter in reversed(head):
        rest = rf"{re.escape(letter)}(?:\Z|{rest})"
    return rest


def key(
    name: str, prefix: str, least: int, most: int = 512, letters: str = URLSAFE, *, mixed: bool = False
) -> Rule:
    """The form of a key that is known by what it begins with."""
    return Rule(name, (prefix, LetterRun(letters, least, most)), mixed=mixed)
