"""The models actor: local models over Ollama, and the looks of a vision model.

Owns: one pull from its beginning to its end, which of them go on, by server and tag, how many looks there are at a time, and
the tables of models worth pulling and of agents that Ollama starts.
Must not: keep a model or an image, or write a setting.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import assert_never

import attrs
import trio

from hub.actors.common.command_runs import InTerminal
from hub.actors.common.job import Jobs, Say
from hub.actors.models.vision import VisionCalls
from hub.api import localmodel as api
from hub.api.jobs import Begun
from hub.api.localmodel import CuratedModel, LocalModels, PullEnded
from hub.api.vision import Seen
from hub.domain.config.reader import Config
from hub.domain.missing import invalid_field
from hub.domain.models.pull import Pull
from hub.domain.terminal import TerminalCommand
from hub.errors import Code, HubError
from hub.io.http.stream import failed, place_of
from hub.io.models.ollama import base_of, installed, pulling, reachable
from hub.io.processes.probe import which
from hub.io.project.places import Places
from hub.messages.models import CancelPull, LaunchModel, ListModels, LookAtImage, ModelsInbox, PullModel
from hub.messages.settings import GetConfig
from hub.providers.provider import Provider
from supervisors import Actor, ActorDied, Answer, Ref

CURATED: tuple[CuratedModel, ...] = (
    CuratedModel(tag="qwen3-vl:8b", title="Qwen3-VL 8B: text in pictures, interfaces", gigabytes=6.1),
    CuratedModel(tag="gemma3:4b", title="Gemma 3 4B: small and quick", gigabytes=3.3),
    CuratedModel(tag="gemma3:12b", title="Gemma 3 12B", gigabytes=8.1),
    CuratedModel(tag="qwen2.5vl:7b", title="Qwen2.5-VL 7B: documents, charts", gigabytes=6.0),
    CuratedModel(tag="llama3.2-vision:11b", title="Llama 3.2 Vision 11B", gigabytes=7.8),
    CuratedModel(tag="minicpm-v:8b", title="MiniCPM-V 8B", gigabytes=5.5),
    CuratedModel(tag="granite3.2-vision:2b", title="Granite 3.2 Vision 2B: documents", gigabytes=2.4),
    CuratedModel(tag="moondream:1.8b", title="Moondream 2: the smallest", gigabytes=1.7),
)
"""Tags of Ollama's library; sizes as its pages tell them."""
TOOLS = ("claude", "codex", "opencode")
"""The agents that `ollama launch` knows, by the names that they have here too."""


_TIMEOUT = 10.0
_PROGRAM = "ollama"


class Models(Actor[ModelsInbox]):
    """Everything it does takes its time, so every answer is given later."""

    answers = (HubError, ActorDied, trio.TooSlowError)

    def __init__(
        self,
        places: Places,
        settings: Ref[GetConfig],
        providers: Mapping[str, Provider],
        jobs: Jobs,
        clock: Callable[[], float],
    ) -> None:
        self._folder: Path = places.jobs_dir
        self._settings = settings
        self._providers = providers
        self._jobs = jobs
        self._vision = VisionCalls(places.dotenv, providers, clock)

    async def handle(self, message: ModelsInbox) -> Answer:
        """Begin what is asked; the answer comes when it is done, or under way."""
        match message:
            case ListModels(base_url=base_url):
                return self.answer_later(message, self._list(base_of(base_url)))
            case PullModel(base_url=base_url, tag=tag):
                return self.answer_later(message, self._pull(base_of(base_url), tag))
            case CancelPull(base_url=base_url, tag=tag):
                return self.answer_later(message, self._cancel(base_of(base_url), tag))
            case LaunchModel(provider=provider, model=model):
                return self.answer_later(message, self._launch(provider, model))
            case LookAtImage():
                return self.answer_later(message, self._look(message))
            case _:
                assert_never(message)

    async def _list(self, base: str) -> LocalModels:
        models, trouble = await reachable(base)
        return LocalModels(
            base_url=base,
            reachable=not trouble,
            detail=trouble,
            models=models,
            curated=list(CURATED),
        )

    async def _pull(self, base: str, tag: str) -> api.Pulling:
        job = _job(base, tag)
        await self._jobs.start(job, PullJob(base, tag))
        return api.Pulling(job=job, tag=tag, base_url=base)

    async def _cancel(self, base: str, tag: str) -> PullEnded:
        if not await self._jobs.cancel(_job(base, tag)):
            raise HubError(Code.NOT_FOUND, f"{tag} is not being pulled.", hint="See: hub logs")
        return PullEnded(tag=tag, base_url=base)

    async def _launch(self, provider: str, model: str) -> Begun:
        if provider not in TOOLS:
            raise invalid_field(
                "provider", f"Ollama starts no {provider}.", f"It starts: {', '.join(TOOLS)}."
            )
        program = which(_PROGRAM)
        if not program:
            raise HubError(Code.PROGRAM_MISSING, "Ollama is not installed.", hint="See https://ollama.com")
        config = await self._config()
        command = TerminalCommand((program, "launch", provider, "--model", model))
        title = f"running {provider} on {model}"
        folder = self._folder / self._jobs.new_id("job")

        async def ended(code: int) -> str:
            return f"{title} has ended with status {code}"

        work = InTerminal(title, "", command, folder, config.terminal.command, ended)
        job = f"launch {provider} {model}"
        await self._jobs.start(job, work)
        opened = work.opened.program if work.opened is not None else ""
        return Begun(job=job, provider=provider, account="", command=command.text(), terminal=opened)

    async def _look(self, order: LookAtImage) -> Seen:
        return await self._vision.look(await self._config(), order)

    async def _config(self) -> Config:
        return await self._settings.call(GetConfig(), timeout=_TIMEOUT)


def _job(base: str, tag: str) -> str:
    return f"pull {tag} {base}"


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
