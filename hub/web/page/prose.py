"""What agents and git wrote, as HTML: prose and diffs.

Owns: the two ways in which text of others becomes markup, and how much of it.
Must not: let any of it be markup of its own: no tag of a text is a tag of the page, no link runs or loads anything.
"""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

import attrs
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.utils import OptionsDict
from markupsafe import Markup
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers.diff import DiffLexer

from hub.domain.text.safe import cap

MOST = 4000
"""Characters of one text; both ends of a longer one are shown."""
MOST_DIFF = 200_000
_LEXER = DiffLexer(stripnl=False)
_HEAD = ("diff --git ", "index ", "--- ", "+++ ")
"""Lines above a file's first hunk that say what its heading says."""
_SIDES = re.compile(r'.* "?b/')
_KINDS = {
    "new file mode 120000": "new link",
    "new file mode 100755": "new program",
    "new file ": "new",
    "deleted file ": "deleted",
    "rename from ": "was {}",
    "copy from ": "copy of {}",
    "new mode 100755": "may be run now",
    "new mode 100644": "may no longer be run",
    "Binary files ": "binary",
    "GIT binary patch": "binary",
}
"""By the beginning of a line above the hunks."""
_BELOW = 3
"""Levels of the page's own headings."""
_FORMATTER = HtmlFormatter(nowrap=True)


@cache
def _prose() -> MarkdownIt:
    """CommonMark without HTML, pictures (they would load something) or other schemes than the web's in a link."""
    made = _Prose("commonmark", {"html": False, "linkify": False}).enable("table").disable("image")
    made.add_render_rule("link_open", _link)
    made.add_render_rule("heading_open", _heading)
    made.add_render_rule("heading_close", _heading)
    return made


class _Prose(MarkdownIt):
    def validateLink(self, url: str) -> bool:  # noqa: N802  # the library's name
        """Whether it may be a link."""
        return url.strip().lower().startswith(("https://", "http://"))


def _link(self: RendererHTML, tokens: Any, index: int, options: OptionsDict, env: object) -> str:
    del env
    tokens[index].attrSet("rel", "noopener noreferrer nofollow")
    return self.renderToken(tokens, index, options, {})


def _heading(self: RendererHTML, tokens: Any, index: int, options: OptionsDict, env: object) -> str:
    """Below the page's own, which a title of an agent's is none of."""
    del env
    tokens[index].tag = f"h{min(6, int(tokens[index].tag[1:]) + _BELOW)}"
    return self.renderToken(tokens, index, options, {})


@lru_cache(maxsize=1024)
def prose(text: str) -> Markup:
    """An agent's words; those of a stream that is looked at again are made once."""
    return Markup(_prose().render(cap(text, MOST)))  # noqa: S704  # made by a renderer that escapes


def shortened(text: str, most: int = MOST) -> str:
    """A text for its place: both ends of one that is too long."""
    return cap(str(text), most)


@attrs.frozen
class DiffPiece:
    """One file's part of a diff."""

    path: str
    added: int
    removed: int
    kind: str
    """What its lines do not tell: new, deleted, binary, from where it was moved, what may run; "" = nothing of this."""
    html: Markup


@attrs.frozen
class Pieces:
    """A diff in pieces."""

    files: list[DiffPiece]
    cut: bool
    """Whether there is more than is shown."""


def pieces(diff: str) -> Pieces:
    """A diff, file by file."""
    shown = diff[:MOST_DIFF]
    parts: list[list[str]] = []
    for line in shown.split("\n"):
        if line.startswith("diff --git ") or not parts:
            parts.append([])
        parts[-1].append(line)
    return Pieces([_piece(part) for part in parts if any(part)], len(shown) < len(diff))


def _piece(lines: list[str]) -> DiffPiece:
    hunk = _hunk(lines)
    name = next((line[6:] for line in lines[:hunk] if line.startswith("+++ b/")), "")
    name = name or _SIDES.sub("", lines[0].removeprefix("diff --git ")).removesuffix('"')
    added, removed = (sum(line.startswith(sign) for line in lines[hunk:]) for sign in "+-")
    text = "\n".join(cap(line, MOST) for line in _below(lines))
    kind = ", ".join(filter(None, map(_kind, lines[:hunk])))
    return DiffPiece(name, added, removed, kind, Markup(highlight(text, _LEXER, _FORMATTER)))  # noqa: S704  # escaped by Pygments


def _kind(line: str) -> str:
    """What a line above the hunks says of the file, in a few words."""
    for start, words in _KINDS.items():
        if line.startswith(start):
            return words.format(line.removeprefix(start))
    return ""


def _hunk(lines: list[str]) -> int:
    """Where the first one begins."""
    return next((at for at, line in enumerate(lines) if line.startswith("@@ ")), len(lines))


def _below(lines: list[str]) -> list[str]:
    hunk = _hunk(lines)
    return [line for line in lines[:hunk] if not line.startswith(_HEAD)] + lines[hunk:]


FILTERS = {"prose": prose, "shortened": shortened}
