"""Ollama's HTTP API: which models are installed, and the pull of another one.

Owns: its paths and the shapes of its answers.
Must not: keep a model, or decide what of a pull is told (`hub.domain.models.pull` does).
Tests: tests/hub/actors/models/test_models.py
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import attrs
import msgspec

from hub.api.localmodel import LocalModel
from hub.errors import HubError
from hub.io.http.stream import Response, exchange, failed, fetch, place_of, words_of

DEFAULT = "http://127.0.0.1:11434"
_LIST_TIMEOUT = 5.0
_PULL_TIMEOUT = 120.0
"""Seconds until a pull's first line: the registry is asked first."""
_OK = 200
_ERROR_LIMIT = 65_536
_EYES = frozenset({"clip", "mllama", "gemma3", "qwen25vl", "qwen3vl", "llama4", "mistral3", "moondream"})
"""Families of models that see."""


def base_of(url: str) -> str:
    """The server meant: the one of the URL, else `OLLAMA_HOST`, else Ollama's usual one."""
    base = url or os.environ.get("OLLAMA_HOST", "")
    if base and "://" not in base:
        base = f"http://{base}" if ":" in base else f"http://{base}:11434"
    base = base.replace("//0.0.0.0", "//127.0.0.1")  # where it listens is not where it is reached
    return (base or DEFAULT).rstrip("/")


async def installed(base: str) -> list[LocalModel]:
    """The models that are installed.

    Raises:
        HubError: UPSTREAM_FAILED; nobody answers there, or it is no Ollama.
    """
    found = await fetch("GET", f"{base}/api/tags", timeout=_LIST_TIMEOUT)
    models = found.get("models") if isinstance(found, dict) else None
    if not isinstance(models, list):
        raise failed(place_of(base).origin, "is no Ollama: it lists no models")
    return [_model(entry) for entry in models if isinstance(entry, dict)]


def _model(entry: dict[str, object]) -> LocalModel:
    details = entry.get("details")
    details = details if isinstance(details, dict) else {}
    families = details.get("families")
    names = {str(name) for name in families} if isinstance(families, list) else set()
    names.add(str(details.get("family", "")))
    size = entry.get("size")
    return LocalModel(
        name=str(entry.get("name", "")),
        bytes=size if isinstance(size, int) else 0,
        modified_at=str(entry.get("modified_at", "")),
        family=str(details.get("family", "")),
        parameters=str(details.get("parameter_size", "")),
        quantization=str(details.get("quantization_level", "")),
        vision=bool(names & _EYES),
    )


@attrs.frozen
class Lines:
    """What a pull streams."""

    answer: Response
    origin: str

    async def next(self) -> object:
        """The next line's document; None after the last.

        Raises:
            HubError: UPSTREAM_FAILED; the connection broke, or it was no JSON.
        """
        line = await self.answer.line()
        if not line:
            return None
        try:
            return msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise failed(self.origin, "sent a line that is no JSON") from error


@asynccontextmanager
async def pulling(base: str, tag: str) -> AsyncIterator[Lines]:
    """Begin a pull; the block has its lines as they arrive. Leaving the block ends the pull.

    Raises:
        HubError: UPSTREAM_FAILED; nobody answers there, or it refuses.
    """
    body = {"model": tag, "stream": True}
    origin = place_of(base).origin
    async with exchange("POST", f"{base}/api/pull", body=body, timeout=_PULL_TIMEOUT) as answer:
        if answer.status != _OK:
            raise failed(origin, f"answered {answer.status}: {words_of(await answer.read(_ERROR_LIMIT))}")
        yield Lines(answer, origin)


async def reachable(base: str) -> tuple[list[LocalModel], str]:
    """The installed models and "", or nothing and why not."""
    try:
        return await installed(base), ""
    except HubError as error:
        return [], error.detail
