"""The editor's connection: JSON-RPC both ways, one message a line.

Owns: that requests are answered side by side, which of ours an answer is for, and the end when the editor has gone.
Must not: know a method.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TypeVar

import attrs
import trio

from hub.errors import Code, HubError
from hub.wire.frames import (
    INTERNAL_ERROR,
    JsonObject,
    NotAMessageError,
    RefusedError,
    decode,
    encode,
    refused,
)
from hub.wire.wires import Wires

T = TypeVar("T")

MAX_LINE = 16 * 1024 * 1024
"""Bytes of a message: files that the user adds come within the prompt."""
LASTING = frozenset({"session/prompt"})
"""Requests whose answer nobody waits for any more once the editor has closed its side."""
LAST_WORDS = 0.7
"""Seconds that the other answers may still take then."""
NOT_FOUND = -32002
"""The protocol's own code: what the request names is not there."""
_HINTS = {Code.TRUST_NEEDED: "See what it would do, and say yes, in a terminal in that folder: hub trust"}
"""Where a command's next step is none for whoever sits in an editor."""


@attrs.define
class _Asked:
    """A request of ours that waits for its answer."""

    over: trio.Event = attrs.field(factory=trio.Event)
    result: object = None
    error: RefusedError | None = None


@attrs.define
class EditorConnection:
    """One editor.

    Args:
        wires: See `Wires.claim`.
    """

    wires: Wires
    _asked: dict[str, _Asked] = attrs.field(factory=dict)
    _last: int = 0
    _all: trio.CancelScope = attrs.field(factory=trio.CancelScope)
    _lasting: set[trio.CancelScope] = attrs.field(factory=set)
    _writing: trio.Lock = attrs.field(factory=trio.Lock)
    _threads: trio.CapacityLimiter = attrs.field(factory=lambda: trio.CapacityLimiter(2))
    """One to read and one to write, however many requests keep the others."""

    async def serve(
        self,
        answer: Callable[[str, JsonObject], Awaitable[JsonObject]],
        hear: Callable[[str, JsonObject], None],
    ) -> None:
        """Serve until the editor closes its side, and return within a second of that.

        Args:
            answer: Makes the result of a request. What it raises is the refusal: a `RefusedError` or a `HubError`.
            hear: Takes a notification; at once, in the order in which they came.
        """
        with self._all:
            async with trio.open_nursery() as answers:
                while line := await self._thread(partial(self.wires.line, MAX_LINE)):
                    if not line.isspace():
                        await self._take(line, answers, answer, hear)
                self._all.deadline = trio.current_time() + LAST_WORDS
                for scope in self._lasting:
                    scope.cancel()

    async def tell(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification."""
        await self._write({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    async def ask(self, method: str, params: Mapping[str, object]) -> JsonObject:
        """Send a request, and wait for its answer as long as that takes.

        A wait that is given up is told to the editor, which may put its question away.

        Raises:
            RefusedError: The editor refuses it.
        """
        self._last += 1
        number = f"hub-{self._last}"
        asked = self._asked[number] = _Asked()
        await self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})
        try:
            await asked.over.wait()
        except trio.Cancelled:
            with trio.move_on_after(LAST_WORDS / 2, shield=True):
                await self.tell("$/cancel_request", {"requestId": number})
            raise
        finally:
            del self._asked[number]
        if asked.error is not None:
            raise asked.error
        return asked.result if isinstance(asked.result, dict) else {}

    async def _take(
        self,
        line: bytes,
        answers: trio.Nursery,
        answer: Callable[[str, JsonObject], Awaitable[JsonObject]],
        hear: Callable[[str, JsonObject], None],
    ) -> None:
        try:
            message = decode(line, MAX_LINE)
        except NotAMessageError as error:
            await self._write(error.reply)
            return
        if "method" not in message:
            self._answered(message)
        elif "id" in message:
            answers.start_soon(self._answer, message, answer)
        else:
            hear(message["method"], message.get("params", {}))

    def _answered(self, message: JsonObject) -> None:
        asked = self._asked.get(str(message.get("id")))
        if asked is None:
            return
        error = message.get("error")
        if error is not None:
            told = error if isinstance(error, dict) else {}
            code = told.get("code")
            asked.error = RefusedError(
                code if type(code) is int else INTERNAL_ERROR, str(told.get("message", "refused"))
            )
        asked.result = message.get("result")
        asked.over.set()

    async def _answer(
        self, request: JsonObject, answer: Callable[[str, JsonObject], Awaitable[JsonObject]]
    ) -> None:
        with trio.CancelScope() as scope:
            if request["method"] in LASTING:
                self._lasting.add(scope)
            try:
                await self._write(await self._reply(request, answer))
            finally:
                self._lasting.discard(scope)

    async def _reply(
        self, request: JsonObject, answer: Callable[[str, JsonObject], Awaitable[JsonObject]]
    ) -> JsonObject:
        try:
            result = await answer(request["method"], request.get("params", {}))
        except RefusedError as error:
            return refused(request["id"], error.code, str(error), error.data)
        except HubError as error:
            return coded(request["id"], error)
        except Exception as error:  # noqa: BLE001  # the edge: the editor is told, and the others are answered
            return refused(request["id"], INTERNAL_ERROR, f"hub failed: {type(error).__name__}")
        return {"jsonrpc": "2.0", "id": request["id"], "result": result}

    async def _write(self, message: JsonObject) -> None:
        """Write one message whole. An editor that has gone ends the connection."""
        async with self._writing:
            try:
                await self._thread(partial(self.wires.write, encode(message)))
            except BrokenPipeError:
                self._all.cancel()

    async def _thread(self, work: Callable[[], T]) -> T:
        return await trio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=self._threads)


def coded(request_id: str | int, error: HubError) -> JsonObject:
    """The refusal of a request by one of hub's own errors, next step included.

    Editors show the message. `reason` and `details` are what Toad shows of a session that cannot begin.
    """
    said, hint = error.detail.rstrip(), _HINTS.get(error.code, error.hint)
    data = {"code": str(error.code), "hint": hint, "reason": said, "details": hint}
    return refused(request_id, INTERNAL_ERROR, f"{said} {hint}".strip(), data)
