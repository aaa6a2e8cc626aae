"""A conversation drawn on a terminal: what was said stays, and below it a few lines follow what happens.

Owns: the look of each item, and the lines that are drawn again and again: streamed text, the plan, a question of hub's,
and the bottom line (how long, what is under way, tokens, quota).
Must not: be imported where there is no terminal (it brings Rich, 40 ms), read a key, or know the log.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

from markdown_it import MarkdownIt
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.markdown import CodeBlock, Markdown
from rich.markdown import Heading as MarkdownHeading
from rich.padding import Padding
from rich.segment import Segment
from rich.syntax import Syntax
from rich.text import Text
from rich.theme import Theme

from hub.cli.terminal.clock import span
from hub.cli.terminal.conversation import Conversation
from hub.cli.terminal.items import Heading, Item, PlanItem, Said, ToldItem, ToolItem
from hub.cli.terminal.plain import tool as tool_words
from hub.cli.terminal.side_by_side import SideBySide
from hub.domain.text.safe import clip
from hub.domain.wallclock import local

_THEME = Theme(
    {
        "markdown.code": "cyan",
        "markdown.h1": "bold",
        "markdown.h2": "bold",
        "markdown.h3": "bold",
        "markdown.item.bullet": "dim",
        "markdown.link": "underline",
    }
)
_LOOKS = {"note": "", "good": "green", "warn": "yellow", "bad": "red", "handoff": "bold yellow", "dim": "dim"}
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAME = 0.1
_PARTIAL, _PLAN = 12, 8
"""Lines at most of streamed text, and of the plan."""
_THOUGHT = 400
_LEAST = 12
"""Columns that what is under way keeps, however narrow the terminal is."""


class _Heading(MarkdownHeading):
    """To the left like the rest; Rich centres the first one."""

    LEVEL_ALIGN = dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "left")


class _Code(CodeBlock):
    """With one empty line around it like the rest; Rich has two."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        code = str(self.text).rstrip()
        yield Syntax(code, self.lexer_name, theme=self.theme, word_wrap=True, padding=(0, 1))


class _Markdown(Markdown):
    """Shows everything that was written: Rich leaves out what looks like HTML, `list<int>` for one."""

    elements: ClassVar = {
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
    }

    def __init__(self, text: str) -> None:
        super().__init__(text, code_theme="ansi_dark", hyperlinks=False)
        parser = MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"])
        self.parsed = parser.parse(text)


class _Bare:
    """A part without the blanks that Rich fills its lines up with: they are copied, and a narrower window wraps them."""

    def __init__(self, part: RenderableType) -> None:
        self.part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self.part, options, pad=False):
            while line and not line[-1].text.strip():
                line.pop()
            yield from line[:-1]
            yield from (Segment(last.text.rstrip(), last.style) for last in line[-1:])
            yield Segment.line()


class Drawn:
    """The view of one conversation, on the terminal behind standard error.

    Args:
        conversation: Whose state the bottom lines show.
        console: Where it is drawn.
    """

    def __init__(self, conversation: Conversation | SideBySide, console: Console | None = None) -> None:
        self.conversation = conversation
        self.console = console or Console(
            file=sys.stderr, theme=_THEME, highlight=False, markup=False, emoji=False
        )
        self.prompt: Callable[[], tuple[str, str]] = lambda: ("", "")
        """What is asked of the user just now, and what was typed so far."""
        self.keys = False
        """Whether keys are read."""
        self.note = ""
        """A word for the bottom line: `the daemon is gone`."""
        self._live = Live(
            console=self.console,
            auto_refresh=False,
            transient=True,
            redirect_stdout=False,
            vertical_overflow="crop",
            get_renderable=self._below,
        )

    def start(self) -> None:
        """Draw the bottom lines from here on."""
        self._live.start(refresh=True)

    def stop(self) -> None:
        """Take the bottom lines away; what was said stays."""
        self._live.stop()

    def tick(self) -> None:
        """Draw the bottom lines anew."""
        if self._live.is_started:
            self._live.refresh()

    def show(self, items: Iterable[Item]) -> None:
        """Add to what was said."""
        for item in items:
            for part in drawn(item, self.console.width):
                self.console.print(_Bare(part))

    # --- the bottom lines -----------------------------------------------------------------------------

    def _below(self) -> RenderableType:
        known, width, height = self.conversation, self.console.width, self.console.height
        parts: list[RenderableType] = []
        if known.partial.strip():
            room = max(1, min(_PARTIAL, height // 2))
            written = Text(known.partial.strip()).wrap(self.console, max(1, width - 2))[-room:]
            parts.append(Padding(Text("\n").join(written), (0, 0, 0, 2)))
        if known.tasks and not all(done for _, done in known.tasks):
            parts.append(_plan(known.tasks, max(1, min(_PLAN, height // 3))))
        asked, typed = self.prompt()
        if asked:
            parts.append(
                Text(asked, "bold yellow").append(typed, "default").append("▏" if typed else "", "dim")
            )
        parts.append(bottom(known, width, note=self.note, keys=self.keys))
        return Group(*parts)


def drawn(item: Item, width: int) -> list[RenderableType]:
    """What is printed for one item."""
    match item:
        case Heading():
            model = Text(f"  {item.model}", "dim") if item.model else Text()
            return [Text(), Text(item.agent, "bold cyan").append_text(model)]
        case Said():
            if item.thinking:
                words = clip(" ".join(item.text.split()), _THOUGHT)
                return [Padding(Text(words, "dim italic"), (0, 0, 0, 2))]
            return [Padding(_Markdown(item.text.strip()), (0, 0, 0, 2))]
        case ToolItem():
            return [_tool(item, width)]
        case PlanItem():
            # The whole list stands below, where it fills; what was said keeps what was done.
            return [_plan([(task, True) for task in item.fresh], len(item.fresh))] if item.fresh else []
        case ToldItem():
            look = _LOOKS[item.look]
            return [Text(item.text, look), *(Text(f"  {line}", "dim") for line in item.below)]


def _tool(item: ToolItem, width: int) -> Text:
    """One line, however narrow: the call gets two thirds of it at most, its result what is left."""
    room = max(_LEAST, width - 4)
    what, beside, result = tool_words(item).partition("  ->  ")
    if beside and len(what) + 2 + len(result) > room:
        what = clip(what, max(_LEAST, room * 2 // 3, room - 2 - len(result)))
        result = clip(result, max(0, room - 2 - len(what)))
    else:
        what = clip(what, room)
    line = Text("  ").append("✗ " if item.failed else "● ", "red" if item.failed else "green").append(what)
    line.append(f"  {result}", "red" if item.failed else "dim")
    line.no_wrap, line.overflow = True, "ellipsis"
    return line


def _plan(tasks: Any, most: int) -> Text:
    """The list with its marks; of a long one the part around the first that is left."""
    first = next((place for place, (_, done) in enumerate(tasks) if not done), len(tasks))
    start = max(0, min(first - 1, len(tasks) - most))
    text = Text(no_wrap=True, overflow="ellipsis")
    for place, (task, done) in enumerate(tasks[start : start + most]):
        text.append("\n" if place else "").append("  ✓ " if done else "  ☐ ", "green" if done else "dim")
        text.append(task, "dim" if done else "")
    return text


def bottom(known: Conversation | SideBySide, width: int, *, note: str = "", keys: bool = False) -> Text:
    """One line: the spinner, how long, what is under way, tokens, quota; what matters least gives way first."""
    now = known.clock.now
    frame = _SPINNER[int(now / _FRAME) % len(_SPINNER)]
    before = [span(now - local(known.since).timestamp())] if known.since else []
    doing = note or known.standing
    tokens = [f"{known.tokens:,} tokens"] if known.tokens else []
    quota, help_ = [known.quota] if known.quota else [], ["? keys"] if keys else []
    for more in ([*tokens, *quota, *help_], [*tokens, *quota], quota, []):
        room = width - 3 - sum(len(part) + 3 for part in [*before, *more])
        if room >= min(len(doing), _LEAST):
            break
    text = Text(f"{frame} ", "cyan", no_wrap=True, overflow="ellipsis")
    return text.append(" · ".join([*before, clip(doing, max(_LEAST, room)), *more]), "dim")
