"""Figures as a person reads them, the same in a terminal, on a page and in a table.

Owns: the words for a span of time, a number of things, money, whose work something is, and what a score lacks.
Must not: read a clock, or know where something is shown.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import islice

from hub.domain.accounts.account import DEFAULT_ACCOUNT
from hub.domain.meta import EventMeta

MINUTE, HOUR, DAY = 60, 3600, 86_400
_FEW = 5


def span(seconds: float) -> str:
    """How long something takes or lies behind: `40 s`, `12 min`, `3 h 20 min`, `25 h`, `2 d`; nothing is below zero."""
    whole = max(0, int(seconds))
    if whole < 2 * MINUTE:
        return f"{whole} s"
    if whole < 2 * HOUR:
        return f"{whole // MINUTE} min"
    if whole >= 2 * DAY:
        return f"{whole // DAY} d"
    minutes = whole % HOUR // MINUTE if whole < DAY // 2 else 0
    return f"{whole // HOUR} h" + (f" {minutes} min" if minutes else "")


def counted(number: int, what: str) -> str:
    """`1 file`, `2 files`, `1,000 files`."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def first_of(names: Collection[str], most: int = 10) -> str:
    """The first of them, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(islice(names, most)) + more


def money(usd: float) -> str:
    """`$12.30`, below a dollar `$0.0123`."""
    return "$0" if not usd else f"${usd:,.2f}" if usd >= 1 else f"${usd:.4f}"


def cost(usd: float | None, *, whole: bool) -> str:
    """What is known of a cost, and whether there is more that has no price."""
    return "not known" if usd is None else money(usd) if whole else f"more than {money(usd)}"


def lowered(missing: Iterable[str], unsupported: Iterable[str]) -> list[str]:
    """Why a handoff's score is not 100, a line each; the first few of a kind.

    Args:
        missing: What the next agent was not told.
        unsupported: What it was told and nothing shows, an agent's own word that something is done for one.
    """
    return [
        *(f"not handed over: {fact}" for fact in islice(missing, _FEW)),
        *(f"said, but nothing shows it: {claim}" for claim in islice(unsupported, _FEW)),
    ]


def agent_name(provider: str, account: str) -> str:
    """An agent with its account, where that has a name of its own: `claude/work`, `claude`."""
    return f"{provider}/{account}" if account not in ("", DEFAULT_ACCOUNT) and provider else provider


def agent_of(meta: EventMeta) -> str:
    """The same of whom a record of the log is about."""
    return agent_name(meta.get("provider", ""), meta.get("account", ""))
