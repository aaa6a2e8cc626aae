"""Calling an actor that may be restarting.

Owns: the one way to go on asking, and the one way to do without an answer.
Must not: be used to go on asking with a message that may not be repeated.
Tests: tests/hub/actors/pipelines/test_pipelines.py
"""

from __future__ import annotations

import contextlib
import math
from typing import TypeVar

import trio

from hub.errors import HubError
from supervisors import ActorDied, Ref, Sent

A = TypeVar("A")
M = TypeVar("M")
_CALL_TIMEOUT = 30.0


async def call_until_answered(ref: Ref[M], message: Sent[M, A], timeout: float = _CALL_TIMEOUT) -> A:
    """Call an actor that may be restarting, until it answers. Only for messages that may be repeated.

    Raises:
        HubError: What the actor answered.
    """
    while True:
        try:
            return await ref.call(message, timeout=timeout)
        except (ActorDied, trio.TooSlowError):
            await ref.wait_alive(math.inf)


async def call_or_none(ref: Ref[M], message: Sent[M, A], timeout: float) -> A | None:
    """Ask an actor whose answer can be done without; None where it is not there, is late, or refuses."""
    with contextlib.suppress(ActorDied, trio.TooSlowError, HubError):
        return await ref.call(message, timeout=timeout)
    return None
