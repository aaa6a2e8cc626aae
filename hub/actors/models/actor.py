"""The models actor: local models over Ollama, and the looks of a vision model.

Owns: which pulls go on, by server and tag, and how many looks there are at a time.
Must not: keep a model or an image, or write a setting.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import assert_never

import trio

from hub.actors.common.command_runs import InTerminal
from hub.actors.common.job import Jobs
from hub.actors.models.curated import CURATED, TOOLS
from hub.actors.models.pulling import PullJob
from hub.actors.models.vision import VisionCalls
from hub.api import localmodel as api
from hub.api.jobs import Begun
from hub.api.localmodel import LocalModels, PullEnded
from hub.api.vision import Seen
from hub.domain.config.reader import Config
from hub.domain.terminal import TerminalCommand
from hub.errors import Code, HubError
from hub.io.models.ollama import base_of, reachable
from hub.io.processes.probe import which
from hub.io.project.places import Places
from hub.messages import CancelPull, GetConfig, LaunchModel, ListModels, LookAtImage, ModelsInbox, PullModel
from hub.providers.base import Provider
from supervisors import Actor, ActorDied, Answer, Ref

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

    async def handle(self, message: ModelsInbox) -> Answer | None:
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
        tool = TOOLS.get(provider)
        if tool is None:
            raise HubError(
                Code.INVALID,
                f"Ollama starts no {provider}.",
                hint=f"It starts: {', '.join(TOOLS)}.",
                errors=[{"path": "$.provider", "message": f"must be one of {', '.join(TOOLS)}"}],
            )
        program = which(_PROGRAM)
        if not program:
            raise HubError(Code.PROGRAM_MISSING, "Ollama is not installed.", hint="See https://ollama.com")
        config = await self._config()
        command = TerminalCommand((program, "launch", tool, "--model", model))
        title = f"running {provider} on {model}"
        folder = self._folder / self._jobs.new_id("job")
        work = InTerminal(title, "", command, folder, config.terminal.command, _left(title))
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


def _left(title: str) -> Callable[[int], Awaitable[str]]:
    async def ended(code: int) -> str:
        return f"{title} has ended with status {code}"

    return ended
