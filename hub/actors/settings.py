"""The settings: the one reader and writer of `hub.toml`, of the accounts in it and of `.hub/.env`.

Owns: the configuration in force, and what is found when the configured programs are asked who they are.
Must not: act on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import attrs
import trio

from hub.actors.clock import iso
from hub.domain.config import Config
from hub.errors import HubError
from hub.io.probe import Probe, probe
from hub.messages import GetConfig, ProvidersConfigured
from hub.providers.base import Provider
from supervisors import DEFER, Actor, Reply

_FRESH = 60.0
"""Seconds for which the answer of a program is good."""


class Settings(Actor[Any]):
    """Answers with the configuration; a file that changed is read again, and a bad one is refused with its place."""

    answers = (HubError,)

    def __init__(
        self,
        load: Callable[[], Config],
        stamp: Callable[[], object],
        providers: Mapping[str, Provider],
        clock: Callable[[], float],
    ) -> None:
        self._load = load
        self._stamp = stamp
        self._providers = providers
        self._clock = clock
        self._seen: object = None
        self._config: Config | None = None
        self._probes: dict[str, Probe] = {}

    async def handle(self, message: Any) -> Any:
        """Answer with the configuration, or with what it means for each provider."""
        match message:
            case GetConfig():
                return self._current()
            case ProvidersConfigured():
                self.ctx.nursery.start_soon(self._describe, self._current(), self.ctx.current_reply)
                return DEFER
            case _:
                raise TypeError(f"{type(message).__name__} is not for the settings")

    def _current(self) -> Config:
        stamp = self._stamp()
        if self._config is None or stamp != self._seen:
            self._config = self._load()
            self._seen = stamp
        return self._config

    async def _describe(self, config: Config, reply: Reply | None) -> None:
        """Beside the inbox: a program may take seconds to tell its version."""
        async with trio.open_nursery() as nursery:
            for provider in self._providers.values():
                nursery.start_soon(self._probe, provider, config.provider(provider.name).program)
        if reply is not None:
            reply.answer([self._entry(config, p) for p in self._providers.values()])

    async def _probe(self, provider: Provider, configured: str) -> None:
        known = self._probes.get(provider.name)
        if known is None or self._clock() - known.checked_at > _FRESH:
            self._probes[provider.name] = await probe(configured or provider.program, provider.version_args)

    def _entry(self, config: Config, provider: Provider) -> dict[str, Any]:
        settings = config.provider(provider.name)
        found = self._probes[provider.name]
        accounts = config.accounts(provider.name)
        # The agents' own logins are theirs to judge; hub tells only of keys it would hand on itself.
        keys = [name for name in provider.key_names if name in {**settings.env, **accounts[0].env}]
        return {
            "name": provider.name,
            "displayName": provider.display_name,
            "enabled": provider.name in config.enabled_providers([provider.name]),
            "declaredCap": settings.declared_cap or 0,
            "model": settings.model,
            "baseUrl": settings.base_url,
            "install": {
                "installed": bool(found.path),
                "version": found.version,
                "path": found.path,
                "command": " ".join(provider.install_command),
            },
            "auth": {
                "loggedIn": bool(keys),
                "method": "key" if keys else "",
                "loginCommand": " ".join(provider.login_command),
            },
            "capabilities": attrs.asdict(provider.capabilities),
            "probe": {
                "ok": found.ok,
                "detail": found.detail,
                "latencyMs": found.latency_ms,
                "checkedAt": iso(found.checked_at),
            },
            "accounts": [
                {"label": a.label, "active": rank == 0, "configDir": a.config_dir}
                for rank, a in enumerate(accounts)
            ],
            "activeAccount": accounts[0].label,
        }
