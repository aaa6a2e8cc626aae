"""Calling an actor that may be restarting.

Owns: the one way to go on asking.
Must not: be used for a message that may not be repeated.
Tests: tests/hub/actors/pipelines/test_pipelines.py
"""

from __future__ import annotations

import math
from typing import TypeVar

import trio

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
