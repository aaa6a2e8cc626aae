"""What agents spend that hub did not start: each of their answers once, however often it is read.

Owns: what is read of such a session (`Growth`), how far its file was counted, and which answers were.
Must not: open a file, know an agent's format, or hold the account's sum (`hub.domain.quota.spending` does).

Theory of operation. The place up to which a session's file was counted and the count itself are one value, kept in one
file. A growth says between which two places it was read; one that does not begin where the count stands changes
nothing. So it may be told twice, lost, or read again after a crash: every byte counts once. Two things are left, that
one answer stands in several records (on both sides of such a place, too) and that a forked session begins with a copy
of the other's; for these the newest answers are remembered by name.
"""

from __future__ import annotations

import attrs

from hub.domain.quota.spending import DAY

UNSEEN = -1
"""Where the count of a session stands that was never seen."""
MAX_SESSIONS = 1024
MAX_ANSWERS = 1024


@attrs.frozen
class Used:
    """One answer.

    Attributes:
        name: What names it wherever it stands.
        at: When it was written, epoch seconds.
        tokens: In and out, cached ones included.
    """

    name: str
    at: float
    tokens: int


@attrs.frozen
class Growth:
    """What a session's file has more than when it was last read.

    Attributes:
        provider: Whose session it is.
        account: The account's label.
        session: What names its file.
        since: The byte, or in a database the moment, from which on it was read; `UNSEEN` where it was never seen.
        until: The one up to which.
        used: The answers in between.
    """

    provider: str
    account: str
    session: str
    since: int
    until: int
    used: tuple[Used, ...] = ()


@attrs.define
class Elsewhere:
    """How far everything was counted.

    Attributes:
        places: The byte or the moment up to which each file was counted, the one counted last at the end.
        answers: Tokens of the newest answers, by name.
    """

    places: dict[str, int] = attrs.field(factory=dict)
    answers: dict[str, int] = attrs.field(factory=dict)

    def count(self, growth: Growth, now: float) -> tuple[int, float]:
        """Tokens that the growth adds to the day of `now` (UTC), and when the newest of them were used; (0, 0) for none.

        Of an answer that was counted before, only what it has more counts: some agents write it while it grows.
        """
        if self.places.get(growth.session, UNSEEN) != growth.since:
            return 0, 0.0
        self.places.pop(growth.session, None)
        self.places[growth.session] = growth.until
        tokens, newest = 0, 0.0
        for used in growth.used:
            more = used.tokens - self.answers.get(used.name, 0)
            if more > 0 and int(used.at // DAY) == int(now // DAY):
                tokens, newest = tokens + more, max(newest, used.at)
                self.answers.pop(used.name, None)
                self.answers[used.name] = used.tokens
        _shorten(self.places, MAX_SESSIONS)
        _shorten(self.answers, MAX_ANSWERS)
        return tokens, newest


def _shorten(kept: dict[str, int], most: int) -> None:
    for name in list(kept)[: max(0, len(kept) - most)]:
        del kept[name]
