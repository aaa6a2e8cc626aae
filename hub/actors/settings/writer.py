"""What is done when the user changes a setting.

Owns: the order of a change: write it, put it on record, tell it; and who may have which key.
Must not: decide what a setting may be (`hub.domain.config` does), or let the value of a key into a record.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import attrs
import trio

from hub.actors.common.outbox import Outbox
from hub.actors.settings.accounts import Accounts
from hub.actors.settings.entries import chosen
from hub.actors.settings.keys import KeyFile
from hub.actors.settings.profiles import Profiles
from hub.actors.settings.program_jobs import ProgramJobs
from hub.api.accounts import AccountGone, AccountNow
from hub.api.jobs import Begun
from hub.api.profiles import ProfileDone
from hub.api.providers import Chosen, KeySet
from hub.api.vision import VisionDone
from hub.domain.config.reader import Config
from hub.domain.event import Tag
from hub.domain.missing import no_such
from hub.io.config.file import Keys
from hub.io.config.patch import Watch, patch, unwatched
from hub.io.project.places import Places
from hub.messages.settings import (
    AddAccount,
    InstallAgent,
    LogIn,
    PatchProvider,
    PatchVision,
    PutProfile,
    RemoveAccount,
    RemoveProfile,
    SetKey,
    SwitchAccount,
)
from hub.providers.provider import Provider


@attrs.frozen
class Writer:
    """Changes files in a thread, one after the other, so that whoever only reads is never held up."""

    places: Places
    providers: Mapping[str, Provider]
    current: Callable[[], Config]
    """The configuration in force; read again when a file has changed."""
    accounts: Accounts
    keys: KeyFile
    profiles: Profiles
    program_jobs: ProgramJobs
    outbox: Outbox
    """A part of the daemon that is just restarting costs the line, nothing else."""
    follow: Watch = unwatched

    async def patch_provider(self, order: PatchProvider) -> Chosen:
        """What the user chose for a provider, in `hub.toml`."""
        name, changes = order.name, order.changes
        self.provider(name)
        keys: dict[Keys, object] = {("providers", name, key): value for key, value in changes.items()}
        await trio.to_thread.run_sync(patch, self.places.config, keys, self.follow)
        words = ", ".join(sorted(changes)) or "nothing"
        await self.told(f"{name} was configured: {words}", "provider_configured", name, changed=list(changes))
        return chosen(self.current(), name)

    async def set_key(self, order: SetKey) -> KeySet:
        """Set or remove a key."""
        done = await trio.to_thread.run_sync(self.keys.put, order)
        verb = "set" if done.set else "removed"
        await self.told(f"the key {done.name} was {verb}", f"key_{verb}", done.provider, variable=done.name)
        return done

    async def add_account(self, order: AddAccount) -> AccountNow:
        """Add a login of an agent."""
        name, label = order.provider, order.label
        found = await trio.to_thread.run_sync(self.accounts.add, order, self.provider(name))
        text = f"the account {label} of {name} was added in {found.config_dir}"
        await self.told(text, "account_added", name, account=label)
        return found

    async def switch_account(self, order: SwitchAccount) -> AccountNow:
        """Make another login of an agent the one in use."""
        name, label = order.provider, order.label
        found = await trio.to_thread.run_sync(self.accounts.switch, order, self.provider(name))
        text = f"the next session or handoff of {name} uses its account {label}"
        await self.told(text, "account_switched", name, account=label)
        return found

    async def remove_account(self, order: RemoveAccount) -> AccountGone:
        """Forget a login of an agent; its directory stays."""
        name, label = order.provider, order.label
        found = await trio.to_thread.run_sync(self.accounts.remove, order, self.provider(name))
        kept = f"; its directory stays: {found.config_dir}" if found.config_dir else ""
        text = f"the account {label} of {name} was removed{kept}"
        await self.told(text, "account_removed", name, account=label)
        return found

    async def put_profile(self, order: PutProfile) -> ProfileDone:
        """Store a profile."""
        found = await trio.to_thread.run_sync(self.profiles.put, order)
        await self.told(f"the profile {found.name} was stored", "profile_stored", profile=found.name)
        return found

    async def remove_profile(self, order: RemoveProfile) -> ProfileDone:
        """Forget a profile."""
        found = await trio.to_thread.run_sync(self.profiles.remove, order)
        await self.told(f"the profile {found.name} was deleted", "profile_deleted", profile=found.name)
        return found

    async def patch_vision(self, order: PatchVision) -> VisionDone:
        """What the user chose for looking at pictures, in `hub.toml`."""
        changes = order.changes
        keys: dict[Keys, object] = {("vision", key): value for key, value in changes.items()}
        await trio.to_thread.run_sync(patch, self.places.config, keys, self.follow)
        words = ", ".join(sorted(changes)) or "nothing"
        await self.told(f"vision was configured: {words}", "vision_configured", changed=list(changes))
        return VisionDone(**attrs.asdict(self.current().vision))

    def provider(self, name: str) -> Provider:
        """The provider of this name.

        Raises:
            HubError: `not_found`; there is none.
        """
        if name not in self.providers:
            raise no_such("provider", name, self.providers)
        return self.providers[name]

    async def install(self, order: InstallAgent) -> Begun:
        """Begin an install."""
        begun = await self.program_jobs.install(self.provider(order.name), background=order.background)
        await self._begun("install_started", begun)
        return begun

    async def log_in(self, order: LogIn) -> Begun:
        """Begin a login."""
        provider = self.provider(order.provider)
        account = await trio.to_thread.run_sync(self.accounts.find, provider, order.label)
        begun = await self.program_jobs.log_in(provider, account, "provider" if order.label else "name")
        await self._begun("login_started", begun)
        return begun

    async def _begun(self, event: str, job: Begun) -> None:
        await self.outbox.record(event, attrs.asdict(job, filter=attrs.filters.exclude("ok")))

    async def told(self, text: str, event: str, provider: str = "", **data: object) -> None:
        """Put on record what was done, and tell it."""
        await self.outbox.record(event, {"provider": provider, **data})
        await self.outbox.publish(Tag.SYSTEM, text, {"provider": provider})
