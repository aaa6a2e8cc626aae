"""The pull of a model, as a job.

Owns: one pull from its beginning to its end.
Must not: decide what of it is told (`hub.domain.models.pull` does).
"""

from __future__ import annotations

import attrs

from hub.actors.common.job import Say
from hub.domain.models.pull import Pull
from hub.errors import Code, HubError
from hub.io.http.stream import failed, place_of
from hub.io.models.ollama import installed, pulling

_ENDED_EARLY = "ended the pull without a word; ask for it again, it goes on where it was"


@attrs.frozen
class PullJob:
    """A job: see `hub.actors.common.job`. Ollama keeps what it has, so one that was cut off loses nothing."""

    base: str
    tag: str
    provider: str = ""

    @property
    def title(self) -> str:
        """For people."""
        return f"pulling {self.tag}"

    async def begin(self) -> str:
        """Make sure that there is an Ollama."""
        await installed(self.base)
        return f"{self.title} from {self.base}"

    async def carry(self, say: Say) -> str:
        """See it through, telling each step and each tenth."""
        pull = Pull(self.tag)
        async with pulling(self.base, self.tag) as lines:
            while (document := await lines.next()) is not None:
                if told := pull.take(document):
                    await say(told)
        if pull.error:
            raise HubError(Code.UPSTREAM_FAILED, f"{self.tag}: {pull.error}.")
        if not pull.done:
            raise failed(place_of(self.base).origin, _ENDED_EARLY)
        return f"{self.tag} is pulled"
