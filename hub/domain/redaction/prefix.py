"""The rules for secrets of a form, as a layer of the redactor.

Owns: the search for the rules' heads in a text, and which of them need not be looked at.
Must not: know any provider's form (`rules` does), or what a form is made of (`rule` does).

A text may be full of heads: `sk-ant-sk-ant-sk-ant-`. Each begins a secret, and all of them are one region. So whoever
looked at a head knows before which place that rule has nothing to add (`_Looks.at`); and where the search comes upon such
a place, it goes on rule by rule for a while, from one head that matters to the next, and passes the others over unseen.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from functools import cache

from hub.domain.redaction.engine import Engine
from hub.domain.redaction.literals import Heads, Literals, pattern
from hub.domain.redaction.rule import Rule, Runs
from hub.domain.redaction.rules import RULES
from hub.domain.redaction.span import Span

_ANCHOR = 3
_STRETCH = 8192
"""How far the search goes on rule by rule."""
_Match = Callable[[], Callable[[str, int], re.Match[str] | None]]


def _matcher(form: Callable[[], str]) -> _Match:
    """The pattern's `match`, compiled when its literal is first met: most are never met, and every start would pay."""
    return cache(lambda: re.compile(form()).match)


class _Form:
    """A rule, ready to be looked for."""

    def __init__(self, rank: int, rule: Rule) -> None:
        self.rank = rank
        self.rule = rule
        self.match = _matcher(rule.full)
        self.begins = _matcher(rule.beginning)


class PrefixRules:
    """The rules as a layer of the redactor."""

    rank = 1

    _engine: Engine | None = None

    def __init__(self) -> None:
        self._forms = [_Form(rank, rule) for rank, rule in enumerate(RULES, self.rank)]
        literals = [(form.rule.literal, form) for form in self._forms]
        self._literals = Literals(literals, _ANCHOR, sorted({rule.likely() for rule in RULES}))
        self._begun_late = cache(lambda: pattern("|".join(sorted({rule.begun() for rule in RULES}))))
        self._heads = Heads(literal for literal, _ in literals)

    def confirmed_by(self, engine: Engine) -> PrefixRules:
        """The same rules, but keys of a kind that is also published are left to the engine's judgement."""
        rules = copy.copy(self)
        rules._engine = engine  # noqa: SLF001 - its own copy
        return rules

    def scan(self, text: str, lo: int, *, final: bool) -> tuple[list[Span], int]:
        """All matches in `text` that begin at `lo` or later, and where one that is not whole may begin.

        Of matches that overlap and are of one rule only those are told that make up the whole region.
        """
        view = text.encode("ascii", "replace")
        following = self._literals.following(view, lo)
        start, hold = following(lo), len(text)
        spans: list[Span] = []
        if start is not None:
            looks = _Looks(text, view, self._literals, self._engine, final=final)
            # Behind what may go on all is looked at again when there is more text.
            while start is not None and start < looks.hold:
                start = following(self._read(looks, view, start))
            spans, hold = looks.spans, looks.hold
        return spans, hold if final else min(
            self._heads.begun(text, lo), self._just_begun(text, view, lo, hold)
        )

    def _read(self, looks: _Looks, view: bytes, start: int) -> int:
        """Look at the heads at a place, or at all in a stretch where one of them adds nothing; where to go on."""
        if all(looks.at(form, start) for _, form in self._literals.at(view, start)):
            return start + 1
        for form in self._forms:
            looks.along(form, start, start + _STRETCH)
        return start + _STRETCH

    def _just_begun(self, text: str, view: bytes, lo: int, hold: int) -> int:
        """Where the first literal stands behind which too little follows for the search, up to the end of the text."""
        search = self._begun_late()
        if search is None:
            return hold
        place = lo
        while (at := search(view, place)) is not None and at.start() < hold:
            start: int = at.start()
            if any(form.begins()(text, start) for _, form in self._literals.at(view, start)):
                return start
            place = start + 1
        return hold


class _Looks:
    """What is known of one text while it is read."""

    def __init__(
        self, text: str, view: bytes, literals: Literals[_Form], engine: Engine | None, *, final: bool
    ) -> None:
        self._text, self._view, self._final = text, view, final
        self._literals, self._engine = literals, engine
        self._runs = Runs(text)
        self._passed: dict[_Form, int] = {}
        """Before which place a rule has nothing to add."""
        self.spans: list[Span] = []
        self.hold = len(text)

    def at(self, form: _Form, start: int) -> bool:
        """Look at a head; false where it is known that there is nothing to add."""
        if start < self._passed.get(form, 0):
            return False
        self._passed[form] = self._looked(form, start)
        return True

    def along(self, form: _Form, lo: int, hi: int) -> None:
        """Look at those heads of a rule that begin between two places and matter."""
        place = max(lo, self._passed.get(form, 0))
        while place < hi:
            found = self._literals.next_of(form.rule.literal, form.rule.likely, self._view, place)
            place = self._passed[form] = found if found is not None else len(self._text)
            if not place < min(hi, self.hold):
                return
            place = self._passed[form] = self._looked(form, place)

    def _looked(self, form: _Form, start: int) -> int:
        """Look at a head; the place from which on the next one matters."""
        rule = form.rule
        end = start + len(rule.literal)
        place = rule.opens(self._runs, end)
        if place > end:
            return max(start + 1, place - len(rule.literal))
        found = form.match()(self._text, start)
        taken = found is not None and self._is_secret(rule, found["secret"])
        if found is not None and taken:
            self.spans.append(
                Span(found.start("secret"), form.rank, found.end(), start, rule.name, found["secret"])
            )
        # One match is one way through the parts: what ended before the text does can go on nowhere.
        may_go_on = start < self.hold and not self._final
        if (
            may_go_on
            and (found is None or found.end() == len(self._text))
            and form.begins()(self._text, start)
        ):
            self.hold = start
        if found is not None and taken and rule.overlaps:
            return self._last(form, start, found.end())
        return max(start + 1, rule.onward(self._runs, start, end) - len(rule.literal))

    def _last(self, form: _Form, start: int, end: int) -> int:
        """The last head within a secret that is one too: with it all between them are hidden, and what they end in."""
        run, head = form.rule.run, form.rule.literal.encode()
        if not self._final and end < len(self._text) == self._runs.end(run.letters, end):
            end = min(end, len(self._text) - run.most - 1)  # a later one may go on
        place = self._view.rfind(
            head, start + 1, end - 1
        )  # a secret that only touches has a marker of its own
        while place > start:
            found = form.match()(self._text, place)
            if found is not None and form.rule.takes(found["secret"]):
                return place
            place = self._view.rfind(head, start + 1, place + len(head) - 1)
        return start + 1

    def _is_secret(self, rule: Rule, secret: str) -> bool:
        if not rule.takes(secret):
            return False
        return not rule.published or self._engine is None or bool(self._engine.find(secret))
