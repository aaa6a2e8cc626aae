"""What `?` shows: every key of the page in sight, and those of all pages.

Owns: the words of the general keys, and how keys are listed.
Must not: know a page; its own keys are read from its bindings.
Tests: tests/hub/tui/test_app.py
"""

from __future__ import annotations

from collections.abc import Iterator

from textual.actions import parse
from textual.binding import Binding

from hub.tui.orders import ORDERS
from hub.tui.page import PAGES, Page
from hub.tui.rows import Row, row

GENERAL: tuple[tuple[str, str], ...] = (
    ("1 to 9", "the pages: " + ", ".join(heading for _, _, heading, _ in PAGES)),
    ("up, down, j, k", "move; page up and down, home, end too"),
    ("J, K", "to the next file or entry, however far"),
    ("enter", "open, unfold, choose"),
    ("escape", "back"),
    ("r", "ask the daemon again"),
    ("ctrl+p", "every order by its name, light, dark"),
    ("?", "this"),
    ("q, ctrl+c", "leave; the sessions go on"),
)
_SENTENCES = {f"order('{name}')": sentence for _, name, _, sentence in ORDERS}
_WIDE = 16


def rows_of(page: Page) -> Iterator[Row]:
    """The keys of a page, then those of every page."""
    own = orders_of(page)
    if own:
        yield row(("On this page", "head"))
        for binding, words in own.items():
            yield row((f"{binding.key_display or binding.key:<{_WIDE}}", "mine"), words)
        yield row("")
    yield row(("Everywhere", "head"))
    for keys, words in GENERAL:
        yield row((f"{keys:<{_WIDE}}", "mine"), words)


def orders_of(page: Page) -> dict[Binding, str]:
    """What can be done on a page now, each with its sentence."""
    return {
        binding: _SENTENCES.get(binding.action, binding.tooltip or binding.description)
        for _, binding in page._bindings  # noqa: SLF001  # Textual has no other way
        if _is_ours(binding) and page.check_action(*parse(binding.action)[1:]) is not False
    }


def _is_ours(binding: Binding) -> bool:
    """Whether it is not Textual's own, and not among the general ones."""
    return bool(binding.description) and not binding.action.startswith(("app.", "screen.", "reload"))
