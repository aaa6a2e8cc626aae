"""A unified diff as the protocol shows changes: per file and place, the old words and the new.

Owns: the reading of the diff that the API answers.
Must not: read a file. What the diff does not hold (binary files, what was cut) is not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

import attrs

from hub.domain.jsonvalue import JsonObject

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_HEAD = re.compile(r'diff --git (?:"?a/.*"? )?"?b/(.*?)"?$')
_NOTHING = "/dev/null"
_MARKS = ("+", "-", " ")


@attrs.define
class FileEdit:
    """One place of one file."""

    path: str
    line: int
    """Where it stands now."""
    old: list[str] = attrs.field(factory=list)
    new: list[str] = attrs.field(factory=list)
    fresh: bool = False
    """Whether the file was not there before."""

    def add(self, mark: str, line: str) -> None:
        """One line of it: of the old words, of the new ones, or of both."""
        if mark != "+":
            self.old.append(line)
        if mark != "-":
            self.new.append(line)

    def unended(self, mark: str) -> None:
        """The line that was added last ends the file without an end of its own."""
        for side, skipped in ((self.old, "+"), (self.new, "-")):
            if side and mark != skipped:
                side[-1] = side[-1].removesuffix("\n")

    def block(self, tree: PurePath) -> JsonObject:
        """As the content of a tool call; paths of the protocol are absolute."""
        return {
            "type": "diff",
            "path": str(tree / self.path),
            "oldText": None if self.fresh else "".join(self.old),  # Toad shows no diff that is without it
            "newText": "".join(self.new),
        }


def changes_of(diff: str) -> list[FileEdit]:
    """Every change of a diff, in its order."""
    return list(_changes(diff))


def _changes(diff: str) -> Iterator[FileEdit]:
    path, fresh, mark, change = "", False, "", None
    for line in diff.split("\n"):
        if change is not None and line[:1] in _MARKS and line:
            mark = line[0]
            change.add(mark, line[1:] + "\n")
            continue
        if change is not None and line.startswith("\\"):  # "\ No newline at end of file"
            change.unended(mark)
            continue
        if change is not None:
            yield change
            change = None
        if found := _HEAD.match(line):
            path, fresh = found[1], False
        elif line.startswith("--- "):
            fresh = line[4:].strip() == _NOTHING
        elif found := _HUNK.match(line):
            change = FileEdit(path, int(found[1]), fresh=fresh)
    if change is not None:
        yield change
