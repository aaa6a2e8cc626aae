"""The quota wallet: what each account has left, how fast it goes, when the wall comes, and who burned it.

Owns: which accounts come first, and how many spenders are named.
Must not: forecast or count; the wallet's own figures are drawn.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from markupsafe import Markup

from hub.api.base import Nothing
from hub.api.quota import Entry, MeteredWindow
from hub.api.sessions import Sessions
from hub.domain.event import Tag
from hub.domain.text.safe import clip
from hub.web.page.ask import Ask, together
from hub.web.page.board import told
from hub.web.page.burn import burn
from hub.web.page.picture import stacked
from hub.web.page.view import View
from hub.web.page.words import count

SHOWN = 6
"""Spenders of a window that are named; there is a colour for each."""
_LETTERS = 80


async def show(ask: Ask, _: Nothing) -> dict[str, object]:
    """What the template is filled with."""
    async with together() as each:
        wallet = each(lambda: ask(list[Entry], "/api/quota/wallet"))
        sessions = each(lambda: ask.part(Sessions, "/api/sessions"))
    listed = sessions.answer
    titles = {one.session_id: one.title for one in listed.sessions} if listed else {}
    entries, now = told(wallet.answer), time.time()
    return {
        "entries": [
            (entry, [(one, spenders(one, titles), *burn(one, now)) for one in entry.windows])
            for entry in entries
        ],
        "silent": [entry for entry in wallet.answer if entry not in entries],
        "shown": SHOWN,
        "titles": titles,
    }


def spenders(window: MeteredWindow, titles: Mapping[str, str]) -> Markup:
    """Who burned how much of it; those that are not named are one part, and all that was burned is in the picture."""
    names = [titles.get(one.session_id) or one.session_id or "not started by hub" for one in window.burned]
    parts = [
        (f"{clip(name, _LETTERS)}: {count(one.tokens)} tokens", one.tokens)
        for name, one in zip(names, window.burned, strict=True)
    ]
    rest = sum(tokens for _, tokens in parts[SHOWN:])
    named = [*parts[:SHOWN], (f"others: {count(rest)} tokens", rest)] if rest else parts
    return stacked(f"who used it: {'; '.join(words for words, _ in named)}", named)


VIEW = View(title="Quota", show=show, tags=frozenset({Tag.QUOTA, Tag.HANDOFF, Tag.ERROR}))
