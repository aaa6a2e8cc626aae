"""The records of a store as a table: which kind tells what.

Owns: `Grammar`, by which a format is declared, and the fold that follows it.
Must not: open a file, or know any one agent.

A format's module says what kind a record is of, what takes the kinds that tell something, and which kinds tell nothing.
All others are unknown and counted as that, and so is a record with something in it that nobody knows. A record whose
id was seen says nothing new.

Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import attrs

from hub.domain.detection.intel_fold import IntelDraft
from hub.providers.jsonline import text
from hub.providers.lines import RecordFold

Take = Callable[[IntelDraft, Mapping[str, object]], str | None]
"""Takes a record; returns the name of what in it nobody knows, else nothing."""


def by_type(value: Mapping[str, object]) -> str:
    """The kind of a record that says it itself."""
    return text(value.get("type"))


@attrs.frozen(kw_only=True)
class Grammar:
    """The kinds of records a store has.

    Attributes:
        takes: What takes the records of each kind that tells something.
        silent: Kinds that tell nothing hub needs.
        families: What a kind's name begins with, up to a dot, of which all else tells nothing hub needs.
        kind: The kind of a record; "" of one that has none.
        inner: What of a record is taken; None = all of it.
        key: The field with the record's id; "" = records have none.
    """

    takes: Mapping[str, Take]
    silent: Collection[str] = ()
    families: Collection[str] = ()
    kind: Callable[[Mapping[str, object]], str] = by_type
    inner: Callable[[Mapping[str, object]], Mapping[str, object]] | None = None
    key: str = "id"

    def fold(self, draft: IntelDraft) -> GrammarFold:
        """A fresh fold of one session."""
        return GrammarFold(draft, self)


class GrammarFold(RecordFold):
    """The records of one session."""

    def __init__(self, draft: IntelDraft, grammar: Grammar) -> None:
        super().__init__(draft)
        self._grammar = grammar
        self._seen: set[str] = set()

    def record(self, value: Mapping[str, object]) -> None:
        """One record. Where it names the folder that the agent works in, whatever its kind, that is the session's."""
        grammar, draft = self._grammar, self.draft
        kind, name = grammar.kind(value), text(value.get(grammar.key))
        take = grammar.takes.get(kind)
        draft.cwd = text(value.get("cwd")) or draft.cwd
        if name and name in self._seen:
            draft.repeated()
        elif take is not None:
            draft.took(take(draft, value if grammar.inner is None else grammar.inner(value)))
        elif kind in grammar.silent or kind.partition(".")[0] in grammar.families:
            draft.ignored()
        else:
            draft.unknown(kind or ",".join(sorted(value)))
        if name:
            self._seen.add(name)
