"""Whether more than an agent's word says that something is done.

Owns: what counts as evidence for such a claim.
Must not: look for the evidence (the caller brings it), or understand a sentence: a claim names what it is about, or not.

Rules: a claim has evidence where
 1. every acceptance command passed on the very tree that is handed on; then all of them have;
 2. it names files, and each of them is in that tree, or was deleted by the work where the claim says so;
 3. it names that tree, or its commit.
A plan's ticked step is a claim like any other.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from hub.domain.text.patterns import late

_FILE = late(r"(?<![\w./-])[\w.@+-]*(?:/[\w.@+-]+)*\.[a-z]\w{0,9}\b(?![\w/-])")
_FOLDED = late(
    r"(?<![\w./-])(?:[\w.@+-]+/)+[\w.@+-]+|(?<![\w./-])(?:makefile|dockerfile|justfile|gemfile|rakefile)\b"
)
_NO_FILE = late(r"(?:e\.g|i\.e|etc|vs)\.?|(?:node|next|vue|three|d3)\.js|\d[\d.]*\w?")
"""What looks like a file's name and is none."""
_HASH = late(r"\b[0-9a-f]{7,64}\b")
_GONE = late(r"\b(?:remov|delet|drop)(?:e|ed|ing)?\b")
_MOST = 20
"""Names that are looked at in one claim."""


def names(claim: str) -> tuple[str, ...]:
    """The files that a claim names, in lower case, each once."""
    text = claim.casefold()
    found = dict.fromkeys(
        name.removeprefix("./").rstrip(".")
        for pattern in (_FILE, _FOLDED)
        for name in pattern().findall(text)
        if not _NO_FILE().fullmatch(name)
    )
    return tuple(found)[:_MOST]


def wanted(claims: Iterable[str]) -> frozenset[str]:
    """All files that claims name: what has to be looked for."""
    return frozenset(name for claim in claims for name in names(claim))


def present(wanted: Collection[str], paths: Iterable[str]) -> frozenset[str]:
    """Those of the wanted names that a path has, or ends with."""
    found: set[str] = set()
    ends = {name.rpartition("/")[2] for name in wanted}
    for path in paths:
        folded = path.casefold()
        if folded.rpartition("/")[2] in ends:
            found.update(name for name in wanted if folded == name or folded.endswith("/" + name))
    return frozenset(found)


@attrs.frozen(kw_only=True)
class Proofs:
    """The evidence there is.

    Attributes:
        verified: Every acceptance command passed, and there is one.
        files: Names as `present` gave them, of the tree that is handed on.
        deleted: The same, of files that the work deleted.
        ids: The ids of that tree and of its commit.
    """

    verified: bool = False
    files: frozenset[str] = frozenset()
    deleted: frozenset[str] = frozenset()
    ids: tuple[str, ...] = ()

    def shows(self, claim: str) -> bool:
        """Whether something is evidence for the claim."""
        text = claim.casefold()
        if self.verified or any(
            one.startswith(word) for word in _HASH().findall(text) for one in self.ids if one
        ):
            return True
        named = names(claim)
        there = self.deleted | self.files if _GONE().search(text) and self.deleted else self.files
        return bool(named) and all(name in there for name in named)
