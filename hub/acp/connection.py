"""The editor's connection: JSON-RPC both ways, one message a line.

Owns: that requests are answered side by side, which of ours an answer is for, and the end when the editor has gone.
Must not: know a method.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

import attrs
import trio

from hub.domain.jsonvalue import JsonObject
from hub.errors import Code, HubError
from hub.wire.frames import INTERNAL_ERROR, RefusedError, refused
from hub.wire.wires import LAST_WORDS, LineConnection

MAX_LINE = 16 * 1024 * 1024
"""Bytes of a message: files that the user adds come within the prompt."""
LASTING = frozenset({"session/prompt"})
"""Requests whose answer nobody waits for any more once the editor has closed its side."""
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
        line: Its messages, one a line.
    """

    _line: LineConnection
    _asked: dict[str, _Asked] = attrs.field(factory=dict)
    _last: int = 0
    _lasting: set[trio.CancelScope] = attrs.field(factory=set)

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

        def take(message: JsonObject, answers: trio.Nursery) -> None:
            if "method" not in message:
                self._answered(message)
            elif "id" in message:
                answers.start_soon(self._answer, message, answer)
            else:
                hear(message["method"], message.get("params", {}))

        await self._line.serve(take, self._closed)

    def _closed(self) -> None:
        for scope in self._lasting:
            scope.cancel()

    async def tell(self, method: str, params: Mapping[str, object]) -> None:
        """Send a notification."""
        await self._line.write({"jsonrpc": "2.0", "method": method, "params": dict(params)})

    async def ask(self, method: str, params: Mapping[str, object]) -> JsonObject:
        """Send a request, and wait for its answer as long as that takes.

        A wait that is given up is told to the editor, which may put its question away.

        Raises:
            RefusedError: The editor refuses it.
        """
        self._last += 1
        number = f"hub-{self._last}"
        asked = self._asked[number] = _Asked()
        await self._line.write({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})
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
                await self._line.write(await self._reply(request, answer))
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


def coded(request_id: str | int, error: HubError) -> JsonObject:
    """The refusal of a request by one of hub's own errors, next step included.

    Editors show the message. `reason` and `details` are what Toad shows of a session that cannot begin.
    """
    said, hint = error.detail.rstrip(), _HINTS.get(error.code, error.hint)
    data = {"code": str(error.code), "hint": hint, "reason": said, "details": hint}
    return refused(request_id, INTERNAL_ERROR, f"{said} {hint}".strip(), data)
