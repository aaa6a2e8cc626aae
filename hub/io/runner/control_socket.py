"""The runner's socket: one daemon at a time, fed from the spool at its own pace.

Owns: listening, who may talk, the one attached peer, and what waits to be sent to it.
Must not: keep bytes of the agent in memory (a cursor in the spool and one chunk are all a slow daemon
costs), or import anything outside the standard library (the runner starts with `-I -S`).
"""

from __future__ import annotations

import contextlib
import os
import socket
import struct
from collections.abc import Callable

from hub.io.runner import files as runner_files
from hub.io.runner import wire as runner_wire
from hub.io.runner.loop import READ, WRITE, Loop
from hub.io.runner.proc import descendants

CHUNK_BYTES = 256 * 1024
MAX_WAITING = 4096
"""Status messages a peer may leave unread before it is dropped."""
MAX_UNATTACHED = 8
BACKLOG = 64


class SocketPeer:
    """One connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        self.decoder = runner_wire.Decoder(runner_wire.MAX_TO_RUNNER)
        self.cursor: runner_files.Cursor | None = None
        self.waiting: list[bytes] = []
        self.sending = memoryview(b"")
        self.verdict_sent = False

    def refill(self, verdict: bytes | None) -> bool:
        """Put the next message in the way: status first, then the agent's bytes, the verdict last."""
        if self.waiting:
            self.sending = memoryview(self.waiting.pop(0))
            return True
        if self.cursor is None:
            return False
        if chunk := self.cursor.next(CHUNK_BYTES):
            stream, offset, at, data = chunk
            kind = runner_wire.ERR if stream else runner_wire.OUT
            self.sending = memoryview(runner_wire.encode_chunk(kind, offset, at, data))
            return True
        if verdict is not None and not self.verdict_sent:
            self.sending = memoryview(verdict)
            self.verdict_sent = True
            return True
        return False


class ControlSocket:
    """Lets daemons in.

    Args:
        loop: Where the sockets are watched.
        hear: Called with each message of the attached peer (kind, payload).
        changed: Called when a peer has attached or the attached one has gone.
    """

    def __init__(
        self,
        loop: Loop,
        spool: runner_files.Spool,
        hear: Callable[[int, bytes], None],
        changed: Callable[[], None],
    ) -> None:
        self._loop = loop
        self._spool = spool
        self._hear = hear
        self._changed = changed
        self._peers: list[SocketPeer] = []
        self._verdict: bytes | None = None
        self.attached: SocketPeer | None = None
        self.collected = False
        """Whether a peer that had been sent the verdict has left in peace."""
        self._listener = socket.socket(socket.AF_UNIX)
        # Relative: a path over 107 bytes cannot be bound, and this process stands in the run directory.
        self._listener.bind(runner_files.SOCKET)
        os.chmod(runner_files.SOCKET, 0o600)
        self._listener.listen(BACKLOG)
        self._listener.setblocking(False)
        loop.watch(self._listener.fileno(), READ, self._accept)

    def tell(self, status: dict[str, object]) -> None:
        """Send a status to the attached peer; it overtakes the agent's bytes."""
        if self.attached is not None:
            self.attached.waiting.append(runner_wire.encode_json(runner_wire.STATUS, status))
            self._flush(self.attached)

    def end(self, verdict: dict[str, object]) -> None:
        """Send the verdict behind the last byte, to this peer and to each that comes later."""
        self._verdict = runner_wire.encode_json(runner_wire.VERDICT, verdict)
        self.pour()

    def pour(self) -> None:
        """The spool has grown."""
        if self.attached is not None and not self.attached.sending:
            self._flush(self.attached)

    def close(self) -> None:
        """Take the socket away."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(runner_files.SOCKET)
        for peer in list(self._peers):
            peer.socket.close()
        self._listener.close()

    def _accept(self, _events: int) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return  # it hung up again, or descriptors are short: it may come back
        connection.setblocking(False)
        if not _may_talk(connection):
            connection.close()
            return
        idle = [peer for peer in self._peers if peer is not self.attached]
        if len(idle) >= MAX_UNATTACHED:
            self._drop(idle[0])
        peer = SocketPeer(connection)
        self._peers.append(peer)
        self._loop.watch(connection.fileno(), READ, lambda events: self._ready(peer, events))

    def _ready(self, peer: SocketPeer, events: int) -> None:
        if events & WRITE:
            self._flush(peer)
        if events & READ and peer in self._peers:
            self._receive(peer)

    def _receive(self, peer: SocketPeer) -> None:
        try:
            data = peer.socket.recv(CHUNK_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._drop(peer)
            return
        try:
            for kind, payload in peer.decoder.feed(data):
                if peer in self._peers:
                    self._handle(peer, kind, payload)
        except runner_wire.WireError:
            self._drop(peer)

    def _handle(self, peer: SocketPeer, kind: int, payload: bytes) -> None:
        if kind == runner_wire.ATTACH:
            self._attach(peer, runner_wire.decode_json(payload))
        elif peer is not self.attached:
            raise runner_wire.WireError("not attached")
        elif kind == runner_wire.DETACH:
            self._drop(peer)
        else:
            self._hear(kind, payload)

    def _attach(self, peer: SocketPeer, wish: dict[str, object]) -> None:
        out_from, err_from = wish.get("from", 0), wish.get("fromStderr", 0)
        if not isinstance(out_from, int) or not isinstance(err_from, int) or min(out_from, err_from) < 0:
            raise runner_wire.WireError("bad offsets")
        old, self.attached = self.attached, peer
        if old is not None and old is not peer:
            self._dismiss(old)
        files = self._spool
        peer.cursor = runner_files.Cursor(files.files, files.index, out_from, err_from)
        peer.verdict_sent = False
        self._changed()
        self._flush(peer)

    def greet(self, hello: dict[str, object]) -> None:
        """Send the first message to the peer that has just attached."""
        if self.attached is not None:
            self.attached.waiting.append(runner_wire.encode_json(runner_wire.HELLO, hello))

    def _dismiss(self, peer: SocketPeer) -> None:
        """Tell a displaced peer why, if that needs no waiting."""
        if not peer.sending:
            with contextlib.suppress(OSError):
                peer.socket.send(runner_wire.encode_json(runner_wire.STATUS, {"displaced": True}))
        self._drop(peer)

    def _flush(self, peer: SocketPeer) -> None:
        """Send until the peer's socket is full or nothing is left."""
        try:
            while peer.sending or peer.refill(self._verdict):
                peer.sending = peer.sending[peer.socket.send(peer.sending) :]
            events = READ
        except BlockingIOError:
            events = READ | WRITE
        except OSError:
            self._drop(peer)
            return
        if len(peer.waiting) > MAX_WAITING:
            self._drop(peer)
            return
        self._loop.watch(peer.socket.fileno(), events)

    def _drop(self, peer: SocketPeer) -> None:
        if peer not in self._peers:
            return
        self._peers.remove(peer)
        self._loop.watch(peer.socket.fileno(), 0)
        peer.socket.close()
        if peer is self.attached:
            self.attached = None
            self.collected = peer.verdict_sent and not peer.sending
            self._changed()


def _may_talk(connection: socket.socket) -> bool:
    """Only this user's processes, and none below the agent: it must not steer its own runner."""
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
    pid, uid, _ = struct.unpack("iII", raw)
    return bool(uid == os.geteuid()) and pid not in {one for one, _ in descendants(os.getpid())}
