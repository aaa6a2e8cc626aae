"""The settings: the one reader and writer of `hub.toml`, of the accounts in it and of `.hub/.env`.

Owns: the configuration in force.
Must not: act on it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hub.domain.config import Config
from hub.errors import HubError
from hub.messages import GetConfig
from supervisors import Actor


class Settings(Actor[Any]):
    """Answers with the configuration; a file that changed is read again, and a bad one is refused with its place."""

    answers = (HubError,)

    def __init__(self, load: Callable[[], Config], stamp: Callable[[], object]) -> None:
        self._load = load
        self._stamp = stamp
        self._seen: object = None
        self._config: Config | None = None

    async def handle(self, message: Any) -> Any:
        """Answer with the configuration in force."""
        match message:
            case GetConfig():
                return self._current()
            case _:
                raise TypeError(f"{type(message).__name__} is not for the settings")

    def _current(self) -> Config:
        stamp = self._stamp()
        if self._config is None or stamp != self._seen:
            self._config = self._load()
            self._seen = stamp
        return self._config
