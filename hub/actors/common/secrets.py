"""The secrets that hub itself holds, and the hiding of these and of any other wherever they turn up.

Owns: which values these are (hub's own keys, the token, what the user gave the agents), kept ready for the configuration
and the `.hub/.env` of the moment.
Must not: find a secret (`hub.domain.redaction` does), or know whose sink it is.
Tests: tests/hub/actors/common/test_secrets.py
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import attrs
import trio

from hub import __version__
from hub.domain.config.reader import Config
from hub.domain.text.plain import plain_value
from hub.domain.text.safe import clean
from hub.io import gc_policy
from hub.io.files.atomic import stamp_of
from hub.io.project.places import load_or_create_key
from hub.io.secrets.agent_keys import keys_of
from hub.io.secrets.kingfisher import Detection

if TYPE_CHECKING:
    from hub.domain.redaction.events import EventRedactor
    from hub.domain.redaction.redactor import KnownSecrets, Redactor
    from hub.providers.provider import Provider

T = TypeVar("T")
_SECRET_NAME = re.compile("KEY|TOKEN|SECRET|PASSW|CREDENTIAL", re.IGNORECASE)
"""Names in a user's own `env` tables whose values nobody may see."""


@attrs.frozen
class Keys:
    """The secrets of this installation; never given to a child or put in a message."""

    contract: bytes = attrs.field(repr=False)
    redaction: bytes = attrs.field(repr=False)
    audit: bytes = attrs.field(repr=False)
    """Not the session's to use: here so that it is hidden wherever it turns up."""


@attrs.frozen
class HidingRules:
    """What finds secrets in files, the same as long as somebody holds it."""

    name: str
    """Another hub's rules have another, and so has every other set of known values."""
    hide: Callable[[str], str]
    """Hides all that is secret in a text, every line on its line."""


@attrs.define
class Secrets:
    """Hides secrets, the known ones and those that look like one. Whoever has a configuration of his own has his own."""

    keys: Keys
    providers: Mapping[str, Provider]
    dotenv: Path
    detection: Detection
    config: Callable[[], Config]
    """The configuration in force, for whoever asks."""
    _armed: bool = False
    _known: tuple[Config, object, KnownSecrets] | None = None

    async def arm(self) -> None:
        """Make ready to hide secrets, off the event loop; before anything of an agent or a task is read."""
        detection = self.detection
        missing = self.config().redaction.detection and detection.engine is None and not detection.trouble
        if self._armed and not missing:
            return
        if missing:
            await trio.to_thread.run_sync(detection.load)
        # what is first searched for a password imports and compiles for a tenth of a second
        await trio.to_thread.run_sync(self.text, "password = none")
        gc_policy.keep()
        self._armed = True

    def events(self) -> EventRedactor:
        """A fresh redactor of an agent's events that knows every secret hub holds at this moment."""
        from hub.domain.redaction.events import EventRedactor  # noqa: PLC0415  # an idle daemon has nothing to hide

        return EventRedactor(self.redactor())

    def text(self, text: str) -> str:
        """A text for any sink: no control characters, no secret."""
        return self.redactor().text(clean(text))

    def value(self, value: T) -> T:
        """A JSON value for any sink: no control characters, no secret."""
        return self.redactor().value(plain_value(value))

    def file(self, text: str) -> str:
        """A file's text without a secret, every line on its line."""
        return self.rules().hide(text)

    def rules(self) -> HidingRules:
        """The rules of this moment, for files."""
        from hub.domain.redaction.lines import hidden_in_place  # noqa: PLC0415  # as above
        from hub.domain.redaction.redactor import Redactor  # noqa: PLC0415

        known, engine = self.known(), self.detection.engine
        redactor = Redactor(known, self.keys.redaction, engine=engine)
        name = f"{__version__}, {'own' if engine is None else 'engine'}, {known.called(self.keys.redaction)}"
        return HidingRules(name, partial(hidden_in_place, redactor))

    def holds(self, text: str) -> bool:
        """Whether a value that hub keeps secret stands in the text, in any form; no word that is a part of one."""
        return self.known().stand_in(text)

    def count(self, text: str) -> dict[str, int]:
        """How many secrets of each kind are in the text."""
        redactor = self.redactor()
        redactor.text(text)
        return redactor.take_counts()

    def env_of(self, name: str, label: str) -> dict[str, str]:
        """What the user set for a provider and account: the keys of `.hub/.env`, the provider's table, the account's."""
        keys, config = keys_of(self.dotenv, name, self.providers), self.config()
        return {**keys, **config.provider(name).env, **config.account(name, label).env}

    def known(self) -> KnownSecrets:
        """Asked for anew with each state of the configuration and of `.hub/.env`.

        The configuration it was asked for is kept and compared itself: the next one may get the address of one
        that is gone.
        """
        config, stamp = self.config(), stamp_of(self.dotenv)
        if self._known is None or self._known[0] is not config or self._known[1] != stamp:
            self._known = (config, stamp, _known_of(*self._named_values(config)))
        return self._known[2]

    def redactor(self) -> Redactor:
        """Hides all that is secret at this moment."""
        from hub.domain.redaction.redactor import Redactor  # noqa: PLC0415  # as above

        return Redactor(self.known(), self.keys.redaction, engine=self.detection.engine)

    def _named_values(self, config: Config) -> tuple[tuple[str | bytes, ...], tuple[str, ...]]:
        """Each value with the name its marker tells: hub's own keys as bytes and as the hex they are stored in."""
        values: list[str | bytes] = []
        names: list[str] = []
        for title, key in attrs.asdict(self.keys).items():
            values += [key, key.hex()]
            names += [f"{title}-key"] * 2
        if config.server.token:
            values.append(config.server.token)
            names.append("server-token")
        stored = self.dotenv.exists()
        for name in self.providers:
            for account in config.accounts(name):
                if not (stored or config.provider(name).env or account.env):
                    continue  # the user gave it nothing: it need not be imported to be asked for its names
                keys = self.providers[name].key_names
                for variable, value in self.env_of(name, account.label).items():
                    if variable in keys or _SECRET_NAME.search(variable):
                        values.append(value)
                        names.append(variable)
        return tuple(values), tuple(names)


@lru_cache(maxsize=1)
def _known_of(values: tuple[str | bytes, ...], names: tuple[str, ...]) -> KnownSecrets:
    """One for all who know the same, the daemon and each of its sessions: it takes 16 ms to build, and 1.5 MB."""
    from hub.domain.redaction.redactor import KnownSecrets  # noqa: PLC0415  # as above

    return KnownSecrets(values, names)


def own_keys() -> Keys:
    """The keys of this installation, from its files."""
    return Keys(*map(load_or_create_key, ("contract", "redaction", "audit")))


def secrets_of(config: Config, providers: Mapping[str, Provider], dotenv: Path) -> Secrets:
    """What hides all these, for whoever reads a project's files without a daemon."""
    return Secrets(own_keys(), providers, dotenv, Detection(), lambda: config)
