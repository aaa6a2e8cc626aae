"""What the parts of the session share.

Owns: nothing; it is the one bundle of references the session's parts are made with.
Must not: hold state of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs
import trio

from hub import __version__
from hub.actors.insist import insist
from hub.actors.session.board import Board
from hub.actors.session.held import Held, Keys
from hub.actors.session.ledger import Ledger
from hub.actors.session.tally import Tallies
from hub.actors.stumbles import Stumbles
from hub.domain.account import Account
from hub.domain.config.reader import Config
from hub.domain.event import Record
from hub.domain.plain import plain_value
from hub.domain.session import SessionRecord
from hub.domain.text import clean
from hub.io import garbage
from hub.io.kingfisher import Detection
from hub.io.places import Places
from hub.messages import EventsOfSession
from supervisors import Ref

if TYPE_CHECKING:
    from hub.domain.redaction.events import EventRedactor
    from hub.domain.redaction.redactor import KnownSecrets, Redactor
    from hub.providers.base import Provider


@attrs.define
class Kit:
    """Ledger, board, places, configuration and the way to the other actors."""

    places: Places
    ledger: Ledger
    board: Board
    audit: Ref[Any]
    events: Ref[Any]
    breakers: Ref[Any]
    quota: Ref[Any]
    settings: Ref[Any]
    approvals: Ref[Any]
    knowledge: Ref[Any]
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
    stumbles: Stumbles = attrs.field(factory=Stumbles)
    detection: Detection = attrs.field(factory=Detection)

    _armed: bool = False
    _known: tuple[Config, object, KnownSecrets] | None = None
    _task: tuple[KnownSecrets, object, str] | None = None

    def __attrs_post_init__(self) -> None:
        self.ledger.scrub = self.scrub_value
        self.ledger.heard = self.tallies.mark

    async def arm(self) -> None:
        """Make ready to hide secrets, off the event loop; before anything of an agent or a task is read."""
        detection = self.detection
        missing = self.config.redaction.detection and detection.engine is None and not detection.trouble
        if self._armed and not missing:
            return
        if missing:
            await trio.to_thread.run_sync(detection.load)
        await trio.to_thread.run_sync(
            self.scrub, ""
        )  # imports and compiles for a tenth of a second, the first time
        garbage.keep()
        self._armed = True

    async def each(self, session_id: str, take: Callable[[list[Record]], object]) -> None:
        """Give every event of a session, oldest first, in pages: a long session's log does not fit in memory."""
        after = 0
        while page := await insist(self.events, EventsOfSession(session_id, after)):
            await trio.to_thread.run_sync(take, page)
            after = page[-1].id

    def redactor(self) -> EventRedactor:
        """A fresh redactor that knows every secret hub holds at this moment."""
        from hub.domain.redaction.events import EventRedactor  # noqa: PLC0415  # an idle daemon has nothing to hide

        return EventRedactor(self._redactor())

    def scrub(self, text: str) -> str:
        """A text for any sink: no control characters, no secret."""
        return self._redactor().text(clean(text))

    def scrub_value(self, value: Any) -> Any:
        """A JSON value for any sink: no control characters, no secret."""
        return self._redactor().value(plain_value(value))

    def scrub_file(self, text: str) -> str:
        """A file's text without a secret, every line on its line."""
        from hub.domain.redaction.lines import hidden_in_place  # noqa: PLC0415  # as above

        return hidden_in_place(self._redactor(), text)

    def hide_known(self, text: str) -> str:
        """The same, of the values alone that hub knows: for what the rules have been through."""
        from hub.domain.redaction.lines import hidden_in_place  # noqa: PLC0415  # as above
        from hub.domain.redaction.redactor import Redactor  # noqa: PLC0415

        return hidden_in_place(Redactor(self._secrets(), self.keys.redaction, rules=False), text)

    def rules(self) -> str:
        """The name of the rules by which secrets are found now: another hub's, or other ones, have another."""
        return f"{__version__}, {'engine' if self.detection.engine is not None else 'own'}"

    def holds_secret(self, text: str) -> bool:
        """Whether a value that hub keeps secret stands in the text, in any form; no word that is a part of one."""
        return self._secrets().stand_in(text)

    def count_secrets(self, text: str) -> dict[str, int]:
        """How many secrets of each kind are in the text."""
        redactor = self._redactor()
        redactor.text(text)
        return redactor.take_counts()

    def task(self, record: SessionRecord) -> str:
        """The user's task as everyone but the first agent may see it: a secret in it was for that agent."""
        if not record.task:
            return ""  # nothing to hide; and to know every secret, each provider has to be asked
        known = self._secrets()
        stamp = (record.task, self.detection.engine is None)
        if self._task is None or self._task[0] is not known or self._task[1] != stamp:
            self._task = (known, stamp, self.scrub(record.task))
        return self._task[2]

    def assertions(self, record: SessionRecord) -> tuple[str, ...]:
        """The acceptance commands as everyone may see them; they run as they are."""
        return tuple(map(self.scrub, record.verify))

    def _redactor(self) -> Redactor:
        from hub.domain.redaction.redactor import Redactor  # noqa: PLC0415  # as above

        return Redactor(self._secrets(), self.keys.redaction, engine=self.detection.engine)

    def env_of(self, name: str, label: str) -> dict[str, str]:
        """What the user set for a provider and account: the keys of `.hub/.env`, the provider's table, the account's."""
        return self._held().env_of(name, label)

    def account(self, name: str, label: str) -> Account:
        """The account as an adapter gets it: its place spelt out, and every key that is its own or its provider's."""
        found = self.config.account(name, label)
        keys = self.providers[name].key_names
        env = {key: value for key, value in self.env_of(name, label).items() if key in keys}
        place = str(Path(found.config_dir).expanduser()) if found.config_dir else ""
        return attrs.evolve(found, config_dir=place, env={**env, **found.env})

    def _secrets(self) -> KnownSecrets:
        """Built once for each state of the configuration and of `.hub/.env`: that takes milliseconds.

        The configuration it was built for is kept and compared itself: the next one may get the address of one
        that is gone.
        """
        from hub.domain.redaction.redactor import KnownSecrets  # noqa: PLC0415  # as above

        stamp = _stamp(self.places.dotenv)
        if self._known is None or self._known[0] is not self.config or self._known[1] != stamp:
            self._known = (self.config, stamp, KnownSecrets(*self._held().named_values()))
        return self._known[2]

    def _held(self) -> Held:
        return Held(self.keys, self.config, self.providers, self.places.dotenv)


def _stamp(path: Path) -> object:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
