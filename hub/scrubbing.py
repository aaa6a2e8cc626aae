"""Secrets out of what goes to sinks outside the session, before there is a session's kit and with it.

Owns: what is hidden while nobody knows a secret's value yet. Part of the composition root, beside `hub.app`.
Must not: find a secret (`hub.domain.redaction` does), or know whose sink it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs

from hub.domain.plain import plain_value
from hub.io.places import load_or_create_key

if TYPE_CHECKING:
    from hub.actors.knowledge.indexer import Hiding
    from hub.actors.session.kit import Kit
    from hub.domain.redaction.redactor import Redactor


@attrs.define
class Scrubbing:
    """Hides with all that the session's kit knows, once there is one."""

    kit: Kit | None = None
    """The session's, of its present incarnation: it knows every secret hub holds."""

    def value(self, value: Any) -> Any:
        """A text or JSON value."""
        return _bare().value(plain_value(value)) if self.kit is None else self.kit.scrub_value(value)

    def file(self, text: str) -> str:
        """A file's text, every line on its line."""
        from hub.domain.redaction.lines import hidden_in_place  # noqa: PLC0415  # an idle daemon has nothing to hide

        return hidden_in_place(_bare(), text) if self.kit is None else self.kit.scrub_file(text)

    def known(self, text: str) -> str:
        """The same of the known values alone, where they are known."""
        return self.file(text) if self.kit is None else self.kit.hide_known(text)

    async def arm(self) -> None:
        """Make the detection engine ready, before what another program wrote goes to anybody."""
        if self.kit is not None:
            await self.kit.arm()

    async def rules(self) -> str:
        """The name of all rules, made ready; "" while that cannot be told."""
        await self.arm()
        return "" if self.kit is None else self.kit.rules()

    def hiding(self) -> Hiding:
        """How the knowledge keeps secrets out."""
        from hub.actors.knowledge.indexer import Hiding  # noqa: PLC0415  # as above

        return Hiding(self.file, self.known, self.rules)


def _bare() -> Redactor:
    from hub.domain.redaction.redactor import KnownSecrets, Redactor  # noqa: PLC0415  # as above

    return Redactor(KnownSecrets(), load_or_create_key("redaction"))
