"""What is done when the user changes a setting.

Owns: the order of a change: write it, put it on record, tell it; and who may have which key.
Must not: decide what a setting may be (`hub.domain.config.reader` does), or let the value of a key into a record.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any

import attrs
import trio

from hub.actors.settings.accounts import Accounts
from hub.actors.settings.entries import chosen, vision
from hub.actors.settings.errands import Errands
from hub.actors.settings.keys import KeyFile
from hub.actors.settings.profiles import Profiles
from hub.domain.config.reader import Config
from hub.domain.event import Tag
from hub.errors import Code, HubError
from hub.io.config_file import Keys
from hub.io.config_patch import Watch, patch, patch_provider, unwatched
from hub.io.places import Places
from hub.io.sqlite import NewEvent
from hub.messages import (
    AddAccount,
    AuditAppend,
    AuditEntry,
    EventAppend,
    Install,
    LogIn,
    PatchProvider,
    PatchVision,
    PutProfile,
    RemoveAccount,
    RemoveProfile,
    SetKey,
    SwitchAccount,
)
from hub.providers.base import Provider
from supervisors import ActorDied, Ref

_TIMEOUT = 10.0


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
    errands: Errands
    audit: Ref[Any]
    events: Ref[Any]
    clock: Callable[[], float]
    follow: Watch = unwatched

    async def change(self, order: Any) -> Mapping[str, Any]:
        """Carry out one order.

        Raises:
            HubError: What was wrong with it; nothing has changed.
        """
        match order:
            case PatchProvider(name=name, changes=changes):
                return await self._patch(name, changes)
            case SetKey():
                return await self._key(order)
            case AddAccount() | SwitchAccount() | RemoveAccount():
                return await self._account(order)
            case PutProfile() | RemoveProfile():
                return await self._profile(order)
            case PatchVision(changes=changes):
                return await self._vision(changes)
            case _:
                raise TypeError(f"{type(order).__name__} changes no setting")

    async def _patch(self, name: str, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        self.provider(name)
        await trio.to_thread.run_sync(patch_provider, self.places.config, name, changes, self.follow)
        words = ", ".join(sorted(changes)) or "nothing"
        await self.told(f"{name} was configured: {words}", "provider_configured", name, changed=list(changes))
        return chosen(self.current(), name)

    async def _key(self, order: SetKey) -> Mapping[str, Any]:
        done = await trio.to_thread.run_sync(self.keys.put, order)
        verb = "set" if done["set"] else "removed"
        name = done["name"]
        await self.told(f"the key {name} was {verb}", f"key_{verb}", done["provider"], variable=name)
        return done

    async def _account(self, order: AddAccount | SwitchAccount | RemoveAccount) -> Mapping[str, Any]:
        name, label = order.provider, order.label
        provider = self.provider(name)
        match order:
            case AddAccount():
                found = await trio.to_thread.run_sync(self.accounts.add, order, provider)
                text, event = (
                    f"the account {label} of {name} was added in {found['configDir']}",
                    "account_added",
                )
            case SwitchAccount():
                found = await trio.to_thread.run_sync(self.accounts.switch, order, provider)
                text, event = (
                    f"the next session or handoff of {name} uses its account {label}",
                    "account_switched",
                )
            case RemoveAccount():
                found = await trio.to_thread.run_sync(self.accounts.remove, order, provider)
                kept = f"; its directory stays: {found['configDir']}" if found["configDir"] else ""
                text, event = f"the account {label} of {name} was removed{kept}", "account_removed"
        await self.told(text, event, name, account=label)
        return found

    async def _profile(self, order: PutProfile | RemoveProfile) -> Mapping[str, Any]:
        match order:
            case PutProfile():
                found = await trio.to_thread.run_sync(self.profiles.put, order)
                verb = "stored"
            case RemoveProfile():
                found = await trio.to_thread.run_sync(self.profiles.remove, order)
                verb = "deleted"
        name = found["name"]
        await self.told(f"the profile {name} was {verb}", f"profile_{verb}", profile=name)
        return found

    async def _vision(self, changes: Mapping[str, Any]) -> Mapping[str, Any]:
        keys: dict[Keys, Any] = {("vision", key): value for key, value in changes.items()}
        await trio.to_thread.run_sync(patch, self.places.config, keys, self.follow)
        words = ", ".join(sorted(changes)) or "nothing"
        await self.told(f"vision was configured: {words}", "vision_configured", changed=list(changes))
        return vision(self.current())

    def provider(self, name: str) -> Provider:
        """The provider of this name.

        Raises:
            HubError: `not_found`; there is none.
        """
        if name not in self.providers:
            known = ", ".join(self.providers)
            raise HubError(Code.NOT_FOUND, f"There is no provider {name!r}.", hint=f"Known: {known}.")
        return self.providers[name]

    async def install(self, order: Install) -> Mapping[str, Any]:
        """Begin an install."""
        begun = await self.errands.install(self.provider(order.name), background=order.background)
        await self._recorded("install_started", begun)
        return begun

    async def log_in(self, order: LogIn) -> Mapping[str, Any]:
        """Begin a login."""
        provider = self.provider(order.provider)
        account = await trio.to_thread.run_sync(self.accounts.find, provider, order.label)
        begun = await self.errands.log_in(provider, account)
        await self._recorded("login_started", begun)
        return begun

    async def told(self, text: str, event: str, provider: str = "", **data: Any) -> None:
        """Put on record what was done, and tell it; a part of the daemon that is just restarting costs the line."""
        await self._recorded(event, {"provider": provider, **data})
        said = NewEvent(str(Tag.SYSTEM), text, {"provider": provider}, int(self.clock() * 1000))
        with contextlib.suppress(ActorDied, trio.TooSlowError, HubError):
            await self.events.call(EventAppend([said]), timeout=_TIMEOUT)

    async def _recorded(self, event: str, data: Mapping[str, Any]) -> None:
        with contextlib.suppress(ActorDied, trio.TooSlowError, HubError):
            await self.audit.call(AuditAppend([AuditEntry(event, data)]), timeout=_TIMEOUT)
