"""Which agents hub can run.

Owns: the table name -> where its `Provider` is, and importing it when it is asked for.
Must not: know anything else of an agent.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module

from hub.errors import Code, HubError
from hub.providers.base import Provider

_WHERE: Mapping[str, tuple[str, str]] = {
    "claude": ("hub.providers.claude.agent", "PROVIDER"),
    "codex": ("hub.providers.codex.agent", "PROVIDER"),
    "gemini": ("hub.providers.gemini.agent", "PROVIDER"),
    "opencode": ("hub.providers.opencode.agent", "PROVIDER"),
    "demo-first": ("hub.providers.demo.agent", "FIRST"),
    "demo-second": ("hub.providers.demo.agent", "SECOND"),
}


def names() -> Sequence[str]:
    """The names of all providers, in the order in which they are offered. Imports none of them."""
    return tuple(_WHERE)


def load(name: str) -> Provider:
    """The provider of this name.

    Raises:
        HubError: `not_found`; there is none.
    """
    if name not in _WHERE:
        raise HubError(Code.NOT_FOUND, f"There is no provider {name!r}.", hint=f"Known: {', '.join(_WHERE)}.")
    module, attribute = _WHERE[name]
    provider: Provider = getattr(import_module(module), attribute)
    return provider


class _Known(Mapping[str, Provider]):
    """Every provider by its name, in the order of `names`; each is imported when it is first looked up."""

    def __getitem__(self, name: str) -> Provider:
        if name not in _WHERE:
            raise KeyError(name)
        return load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(_WHERE)

    def __len__(self) -> int:
        return len(_WHERE)

    def __contains__(self, name: object) -> bool:
        return name in _WHERE


def load_all() -> Mapping[str, Provider]:
    """Every provider by its name, in the order of `names`. Imports none of them until it is looked up."""
    return _Known()
