"""What a line of shell proves once it has ended well.

Owns: the splitting of a line into its commands, what of it is sure to have passed, and the files it writes by redirection.
Must not: run or interpret a line. A line that is not plainly a chain of commands proves nothing beyond itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from hub.domain.text.patterns import late

MAX_LINE = 4000
"""Characters of a line that are looked at."""
_MAX_PARTS = 6
_TOKEN = late(
    r"'[^']*'|\"(?:\\.|[^\"\\])*\"|\\.|&&|\|\||\d*>&\d*|&?>>?|[;&|()`$<\n]|[^\S\n]+|[^\s'\"\\&|;()`$<>]+|.",
    re.DOTALL,
)
_UNSURE = frozenset({"||", "&", "(", ")", "`"})
"""Where one of these stands, the line's exit status is not that of each of its commands."""
_NOISE = late(r"\s*\d?>&\d\s*")
_PATH = late(r"[\w.@%+-][\w./@%+-]*|/[\w./@%+-]+")
_MOVES = ("cd", "pushd", "popd")


@lru_cache(maxsize=512)  # each run that ends well is compared with every command that fails
def same(command: str) -> str:
    """Two commands that differ in white space and in where their messages go only are the same."""
    return " ".join(_NOISE().sub(" ", command[:MAX_LINE]).split())


@lru_cache(maxsize=4)  # the folds that run over the same events ask for the same line one after the other
def proven(line: str) -> frozenset[str]:
    """The commands that have passed when the line has ended with status 0, each as `same` has it.

    `a && b` proves both and the two together; `a; b` only `b`. A command after a `cd` is another one than the same
    words elsewhere, so it is told together with that `cd`.
    """
    tokens = _TOKEN().findall(line[:MAX_LINE])
    if len(line) > MAX_LINE or _UNSURE.intersection(tokens) or "<" in tokens:
        return frozenset({same(line)})
    parts = [same(part) for part in _chain(tokens)]
    start = parts[:1] if parts[0].split()[:1] == ["cd"] else []
    rest = parts[len(start) :]
    moved = next(
        (at for at, part in enumerate(rest) if part.split()[:1] in [[word] for word in _MOVES]), len(rest)
    )
    rest = rest[: min(moved, _MAX_PARTS)]
    runs = (rest[at:end] for at in range(len(rest)) for end in range(at + 1, len(rest) + 1))
    return frozenset({same(line), *(" && ".join((*start, *run)) for run in runs)})


def written(line: str) -> tuple[str, ...]:
    """The files that the line's output goes to, as it names them; of a line that first goes elsewhere none."""
    head = line[:MAX_LINE].partition("\n")[0] if "<<" in line else line[:MAX_LINE]
    words = [token for token in _TOKEN().findall(head) if not token.isspace() or "\n" in token]
    if any(word in _MOVES for word in words):
        return ()
    found = (_bare(after) for word, after in pairwise(words) if word.lstrip("&") in (">", ">>"))
    return tuple(
        dict.fromkeys(path for path in found if _PATH().fullmatch(path) and not path.startswith("/dev/"))
    )


def _chain(tokens: list[str]) -> Iterator[str]:
    """The commands of the last list of a line, between its `&&`."""
    last = max((at for at, token in enumerate(tokens) if token in (";", "\n")), default=-1)
    part = ""
    for token in tokens[last + 1 :]:
        if token == "&&":  # noqa: S105  # no password
            yield part
            part = ""
        else:
            part += token
    yield part


def _bare(word: str) -> str:
    return word[1:-1] if word[:1] in ("'", '"') else word
