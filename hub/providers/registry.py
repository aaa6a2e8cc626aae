"""Which agents hub can run.

Owns: importing an agent's `Provider` when it is asked for, by its name, and the agents that a configuration adds.
Must not: know anything else of an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from hub.domain.config.model import ProviderSettings
from hub.domain.config.reader import AGENTS, Config
from hub.domain.detection.processes import Signature
from hub.domain.missing import no_such
from hub.providers.provider import Provider
from hub.providers.quota import QuotaClient, SpentStore

_DEMO = {"demo-first": "FIRST", "demo-second": "SECOND"}
"""Two agents of one folder."""


def spent(name: str) -> SpentStore | None:
    """What the agent's own sessions tell of its spending; None where nothing."""
    found: SpentStore | None = _found(name, "SPENT")
    return found


def quota_client(name: str) -> QuotaClient | None:
    """Where the provider's quota can be read besides its stream; None where nowhere."""
    found: QuotaClient | None = _found(name, "CLIENT")
    return found


def _found(name: str, what: str) -> Any:
    """What the agent's `quota.py` has, if there is one: whose quota, or spending, can be read besides the stream."""
    there = name in AGENTS and name not in _DEMO and find_spec(f"hub.providers.{name}.quota")
    return getattr(import_module(f"hub.providers.{name}.quota"), what, None) if there else None


def signatures() -> Mapping[str, Signature]:
    """How the processes of each agent look, by the provider's name. Imports every store.

    It stands beside the agent's store; an editor's extension has no process of its own.
    """
    from hub.providers import stores  # no start needs it

    modules = {name: import_module(f"hub.providers.{name}.store") for name in stores.names()}
    found = {name: getattr(module, "SIGNATURE", None) for name, module in modules.items()}
    return {name: signature for name, signature in found.items() if signature is not None}


def _module(name: str) -> ModuleType:
    return import_module(f"hub.providers.{'demo' if name in _DEMO else name}.agent")


def names() -> Sequence[str]:
    """The names of all providers that ship with hub, in the order in which they are offered. Imports none of them."""
    return (*AGENTS,)


def load(name: str) -> Provider:
    """The provider of this name that ships with hub.

    Raises:
        HubError: `not_found`; there is none.
    """
    if name not in AGENTS:
        raise no_such("provider", name, AGENTS)
    provider: Provider = getattr(_module(name), _DEMO.get(name, "PROVIDER"))
    return provider


class _Known(Mapping[str, "Provider"]):
    """Every provider by its name; each is imported when it is first looked up.

    The configuration may change while the mapping lives. An agent that has left it is not offered any more, but
    still found by whoever holds its name: its run may not be over.
    """

    def __init__(self, tables: Callable[[], Mapping[str, ProviderSettings]]) -> None:
        self._tables = tables
        self._made: dict[str, tuple[ProviderSettings, Provider]] = {}

    def __getitem__(self, name: str) -> Provider:
        if name in AGENTS:
            return load(name)
        settings = self._added().get(name)
        made = self._made.get(name)
        if settings is not None and (made is None or made[0] is not settings):
            from hub.providers.acp.agent import configured  # most have no such agent

            self._made[name] = (settings, configured(name, settings))
        return self._made[name][1]

    def __iter__(self) -> Iterator[str]:
        yield from AGENTS
        yield from self._added()

    def __len__(self) -> int:
        return len(AGENTS) + len(self._added())

    def __contains__(self, name: object) -> bool:
        return name in AGENTS or name in self._added()

    def _added(self) -> Mapping[str, ProviderSettings]:
        return {name: table for name, table in self._tables().items() if table.kind and name not in AGENTS}


def load_all(config: Callable[[], Config] | None = None) -> Mapping[str, Provider]:
    """Every provider by its name, in the order of `names`, then those that the configuration adds in its order.

    Imports none of them until it is looked up.

    Args:
        config: The configuration in force, asked again each time; None = only what ships with hub.
    """
    return _Known(lambda: config().providers if config is not None else {})
