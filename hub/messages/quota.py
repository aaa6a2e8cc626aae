"""What the wallet is asked, and what it tells the session.

Owns: those message types, all frozen values.
Must not: hold behaviour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import attrs

from hub.api.quota import Entry
from hub.domain.quota.elsewhere import Growth
from hub.domain.quota.wallet import Prospect
from hub.domain.quota.window import QuotaReading, Standing
from supervisors import Call, Cast


@attrs.frozen
class GetWallet(Call[list[Entry]]):
    """Every account's entry in the wallet."""


@attrs.frozen
class GetProspects(Call[Mapping[tuple[str, str], list[Prospect]]]):
    """Answers `{(provider, account): [Prospect]}` for every window that is known and has not begun anew.

    `readings` are taken into the ledger first: whoever asks has just heard them.
    """

    readings: Sequence[QuotaReading] = ()


@attrs.frozen
class GetStandings(Call[Mapping[tuple[str, str], Standing]]):
    """Answers `{(provider, account): Standing}` of every account of which anything is known, by the wallet's figures."""


@attrs.frozen
class SpentElsewhere(Call[Mapping[str, int]]):
    """What sessions have more that hub did not start, or that it did start, then without answers.

    Answers `{session: byte}`, up to where each file is counted now. May be repeated: nothing counts twice.
    """

    growths: Sequence[Growth] = ()


@attrs.frozen
class QuotaSeen(Cast):
    """A poll found these windows changed. Repeated with the next change."""

    readings: Sequence[QuotaReading]


QuotaInbox = GetProspects | GetStandings | GetWallet | SpentElsewhere
