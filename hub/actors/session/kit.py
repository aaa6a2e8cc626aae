"""What the parts of the session share.

Owns: nothing; it is the one bundle of references the session's parts are made with.
Must not: hold state of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from hub.actors.session.board import Board
from hub.actors.session.ledger import Ledger
from hub.actors.session.tally import Tallies
from hub.domain.config import Config
from hub.domain.redaction import EventRedactor, KnownSecrets, Redactor
from hub.domain.text import clean
from hub.io.places import Places
from hub.providers.base import Provider
from supervisors import Ref


@attrs.frozen
class Keys:
    """The secrets the session signs and marks with; never given to a child or put in a message."""

    contract: bytes
    redaction: bytes


@attrs.define
class Kit:
    """Ledger, board, places, configuration and the way to the other actors."""

    places: Places
    ledger: Ledger
    board: Board
    audit: Ref[Any]
    events: Ref[Any]
    breakers: Ref[Any]
    settings: Ref[Any]
    providers: Mapping[str, Provider]
    keys: Keys
    config: Config
    """The last valid configuration; refreshed when a session starts."""
    tallies: Tallies
    new_id: Callable[[str], str]
    """`new_id("s")` -> `s-<time>-<random>`, matching `^[a-z0-9][a-z0-9-]{0,63}$`."""
    clock: Callable[[], float]
    """Epoch seconds."""
    chance: Callable[[], float]
    """A number in [0, 1), for jitter."""

    def redactor(self) -> EventRedactor:
        """A fresh redactor that knows every secret hub holds at this moment."""
        return EventRedactor(Redactor(self._secrets(), self.keys.redaction))

    def scrub(self, text: str) -> str:
        """A text for any sink: no control characters, no secret."""
        return Redactor(self._secrets(), self.keys.redaction).text(clean(text))

    def _secrets(self) -> KnownSecrets:
        named: list[tuple[str, str]] = [("contract-key", self.keys.contract.hex())]
        for name, provider in self.providers.items():
            settings = self.config.provider(name)
            tables = [settings.env, *(account.env for account in self.config.accounts(name))]
            named += [(key, table[key]) for table in tables for key in provider.key_names if key in table]
        return KnownSecrets([value for _, value in named], [name for name, _ in named])
