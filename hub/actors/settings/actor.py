"""The settings: the one reader and writer of `hub.toml`, of the accounts and of `.hub/.env`.

Owns: the configuration in force, and the order in which it is changed.
Must not: act on it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from pathlib import Path
from typing import TypeVar, assert_never

import attrs
import trio

from hub.actors.common.job import Jobs
from hub.actors.common.outbox import Outbox
from hub.actors.settings.accounts import Accounts
from hub.actors.settings.entries import Entries
from hub.actors.settings.keys import KeyFile
from hub.actors.settings.probes import Probes, VersionQuestion
from hub.actors.settings.profiles import Profiles
from hub.actors.settings.program_jobs import ProgramJobs
from hub.actors.settings.writer import Writer
from hub.api.providers import ProviderConfig
from hub.api.vision import VisionConfig
from hub.domain.config.model import ProfileSettings
from hub.domain.config.reader import Config
from hub.errors import HubError
from hub.io.files.atomic import stamp_of
from hub.io.project.places import Places
from hub.io.project.trust import Gate
from hub.messages.settings import (
    AddAccount,
    GetConfig,
    GetLogins,
    GetProfiles,
    GetVision,
    InstallAgent,
    LogIn,
    PatchProvider,
    PatchVision,
    ProviderChanged,
    ProvidersConfigured,
    PutProfile,
    RemoveAccount,
    RemoveProfile,
    SetKey,
    SettingsInbox,
    SwitchAccount,
)
from hub.providers.provider import Provider
from supervisors import Actor, Answer

Order = TypeVar("Order")
A = TypeVar("A")

_HELD_BACK = (
    "hub.toml has changed, and would now run, send or open something that you have not agreed to: it is not taken. "
    "See it, and say yes: hub trust"
)
_NEW_RULES = (
    "[[approvals]] has changed. The new rules judge what an agent asks from now on, and hold whoever is started from then "
    "on. An agent that runs asks as it was told to at its start; to hand its work to one that is held: hub handoff"
)
_PATIENCE = 1.4
"""Seconds a question waits for programs that have never told their version: some take two."""


class Settings(Actor[SettingsInbox]):
    """Answers with the configuration; a file that changed is read again, and a bad one is refused with its place."""

    answers = (HubError,)

    def __init__(
        self,
        places: Places,
        load: Callable[[], Config],
        providers: Mapping[str, Provider],
        *,
        outbox: Outbox,
        jobs: Jobs,
        gate: Gate,
    ) -> None:
        self._files = (places.config, places.accounts, places.profiles)
        self._gate = gate
        self._load = load
        self._providers = providers
        self._clock = clock = outbox.clock
        self._seen: object = None
        self._loaded = Config()
        self._config: Config | None = None
        """What was loaded, and the stored profiles."""
        self._probes = Probes(clock)
        self._entries = Entries(places.dotenv, Path.home(), providers)
        self._profiles = Profiles(places, providers, self._configured_profiles)
        accounts = Accounts(places, providers, self._current, self._entries, clock, gate.follow)
        keys = KeyFile(places, providers, gate.follow_keys)
        program_jobs = ProgramJobs(jobs, places.jobs_dir, self._current, self._entries, clock)
        self._writer = Writer(
            places,
            providers,
            self._current,
            accounts,
            keys,
            self._profiles,
            program_jobs,
            outbox,
            gate.follow,
        )
        self._writing = trio.Lock()

    async def handle(self, message: SettingsInbox) -> Answer:
        """Answer with the configuration, or with what it means for each provider; or change it.

        What takes programs and disks is answered later: the configuration in force is asked for often.
        """
        match message:
            case GetConfig():
                return message.answer(self._current())
            case ProvidersConfigured():
                return self.answer_later(message, self._describe())
            case GetLogins(providers=names):
                return self.answer_later(message, self._logins(names))
            case GetProfiles():
                return self.answer_later(message, trio.to_thread.run_sync(self._profiles.listed))
            case GetVision():
                return message.answer(VisionConfig(**attrs.asdict(self._current().vision)))
            case InstallAgent():
                return self.answer_later(message, self._writer.install(message))
            case LogIn():
                return self.answer_later(message, self._writer.log_in(message))
            case ProviderChanged(name=name):
                self._probes.forget(name)
                return message.handled()
            case PatchProvider():
                return self.answer_later(message, self._alone(self._writer.patch_provider, message))
            case SetKey():
                return self.answer_later(message, self._alone(self._writer.set_key, message))
            case AddAccount():
                return self.answer_later(message, self._alone(self._writer.add_account, message))
            case SwitchAccount():
                return self.answer_later(message, self._alone(self._writer.switch_account, message))
            case RemoveAccount():
                return self.answer_later(message, self._alone(self._writer.remove_account, message))
            case PutProfile():
                return self.answer_later(message, self._alone(self._writer.put_profile, message))
            case RemoveProfile():
                return self.answer_later(message, self._alone(self._writer.remove_profile, message))
            case PatchVision():
                return self.answer_later(message, self._alone(self._writer.patch_vision, message))
            case _:
                assert_never(message)

    def _current(self) -> Config:
        stamp = (*map(stamp_of, self._files), self._gate.stamp)
        if self._config is None or stamp != self._seen:
            loaded = self._load()
            if self._config is not None and loaded.approvals != self._loaded.approvals:
                self.ctx.nursery.start_soon(self._writer.told, _NEW_RULES, "rules_changed")
            self._config = self._profiles.within(loaded)
            self._loaded, self._seen = loaded, stamp
            if self._gate.held_back:
                self.ctx.nursery.start_soon(self._writer.told, _HELD_BACK, "config_held_back")
        return self._config

    def _configured_profiles(self) -> tuple[ProfileSettings, ...]:
        self._current()
        return self._loaded.profiles

    async def _alone(self, change: Callable[[Order], Awaitable[A]], order: Order) -> A:
        """Change a file, one after the other."""
        async with self._writing:
            return await change(order)

    async def _logins(self, names: Collection[str]) -> dict[tuple[str, str], bool | None]:
        config, now = self._current(), self._clock()

        def look() -> dict[tuple[str, str], bool | None]:
            asked = [self._providers[name] for name in self._providers if not names or name in names]
            return self._entries.logins(config, asked, now)

        return await trio.to_thread.run_sync(
            look
        )  # it may be the first to need the providers, which imports them

    async def _describe(self) -> list[ProviderConfig]:
        config = self._current()
        known = await trio.to_thread.run_sync(
            dict, self._providers
        )  # imported where nobody has needed them yet
        questions = {
            name: VersionQuestion(config.provider(name).program or provider.program, provider.version_args)
            for name, provider in known.items()
        }
        found = await self._probes.answers(self.ctx.nursery, questions, _PATIENCE)
        providers = list(known.values())
        now = self._clock()
        return await trio.to_thread.run_sync(
            lambda: [self._entries.entry(config, p, found.get(p.name), now) for p in providers]
        )
