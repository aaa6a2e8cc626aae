"""What everybody says of a story, so that two tellings of it are equal.

Owns: who is asked, and what of an answer is of its moment (instants, ids, hashes, places, durations).
Must not: know a story.
"""

from __future__ import annotations

import http.client
import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import trio
from trio_websocket import ConnectionClosed, HandshakeError, open_websocket_url

from hub.client.quick import Api
from hub.web.route import Route
from hub.web.routes import table
from tests.faults.harness import Project, project
from tests.stories.told import STORIES, command
from tests.waiting import until

QUERIES = {
    "/api/history/diff": "?sha={sha}",
    "/api/retrieval": "?q=hello",
    "/api/graph/project": "?path=.",
    "/api/localmodel/models": "?baseUrl=http://127.0.0.1:9",
    "/api/detect": "?sinceHours=1",
}
"""What a route has to be asked with."""
ALONE = "\n[detect]\nambient = false\n"
"""Agents of others may run on this machine."""
OVER = {None, "completed", "failed", "stopped"}
COMMANDS = (
    ("status",), ("status", "--json"), ("logs",), ("logs", "--json"), ("quota",), ("quota", "--json"),
    ("providers",), ("providers", "--json"), ("approvals",), ("approvals", "--json"), ("history",), ("history", "--json"),
    ("diff",), ("diff", "--json"), ("pipeline", "show"), ("graph", "show"), ("graph", "show", "--json"), ("account", "list"),
    ("key", "list"), ("audit", "verify"), ("trust", "--json"),
    ("run", "--provider", "nobody", "x", "--json"), ("rewind", "0000000", "--json"),
)  # fmt: skip
"""Commands that change nothing, refusals among them."""
TOO_LATE = (
    ("handoff", "--json"),
    ("reply", "yes", "--json"),
    ("pause", "--json"),
    ("resume", "--json"),
    ("stop", "--json"),
)
"""What is refused where no session is active."""
BAD = (
    ("POST", "/api/run", b"{"), ("POST", "/api/run", b"{}"), ("POST", "/api/run", b'{"task":"x","onLimit":"never","nope":1}'),
    ("POST", "/api/handoff", b"[]"), ("POST", "/api/session/reply", b'{"reply":""}'), ("GET", "/api/nothing", b""),
    ("DELETE", "/api/run", b""), ("GET", "/api/events?since=-1", b""), ("POST", "/api/pipelines", b'[{"name":"a","nodes":[]}]'),
    ("POST", "/api/history/rewind", b'{"sha":"zz"}'), ("POST", "/api/approvals/none", b'{"approved":true}'),
)  # fmt: skip
"""What is refused, whatever has happened."""

_MOMENT = {
    "ms", "uptime", "rss", "cpu", "pid", "port", "durationms", "elapsed", "latencyms", "tookms", "bytes", "restarts", "since",
    "uptimeseconds", "seq", "source", "ageseconds", "peak", "depth", "generation", "mtime", "size", "sizebytes", "eventid", "asof",
}  # fmt: skip
"""Members, in small letters, whose value is of the moment."""
_HIDDEN = (
    ("port", re.compile(r"(?<=127\.0\.0\.1:)\d+")),
    ("uuid", re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")),
    ("id", re.compile(r"\b[a-z]{1,4}-[0-9a-f]{6,16}(?:-[0-9a-f]{4,16})*\b")),
    ("sha256", re.compile(r"\b[0-9a-f]{64}\b")),
    # One short one in three hundred is digits alone.
    (
        "sha",
        re.compile(r"\b[0-9a-f]{40}\b|\b[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,16}\b"),
    ),
    ("time", re.compile(r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z| UTC)?")),
    ("clock", re.compile(r"(?:\b\d\d? [A-Z][a-z]{2} )?\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|\b(?: UTC)?)")),
    ("took", re.compile(r"\b\d+(?:\.\d+)? ?(?:ms|s|min|h)\b(?: \d+ ?(?:s|min)\b)*")),
)
_COLUMNS = re.compile(" {2,}")
_HEADS = re.compile(r"[A-Z][A-Z ]*")
_LONG_AGO = 1_600_000_000
"""From here on a number is an instant, in seconds or milliseconds."""
_RACED = {"whole", "initial_prompt"}
"""Members that hang on which of two actors came first."""
_NUMBERED = re.compile(r"^ *\d+  (?=<time>)")
_LOGGED = {"ts", "at", "when", "edge_type", "node_type"}
"""A list of what has these is written by several hands, whose order is theirs."""


def plain(text: str, folder: Path) -> str:
    """The text with nothing of its moment in it."""
    for place, name in (
        (str(folder / "repo"), "<project>"),
        (str(folder), "<folder>"),
        (sys.executable, "<python>"),
    ):
        text = text.replace(place, name)
    wide = 0
    for kind, pattern in _HIDDEN:
        text, many = pattern.subn(f"<{kind}>", text)
        wide = wide or many
    # Columns are as wide as what was there, and so is the line of their heads.
    return _COLUMNS.sub("  ", text) if wide or _HEADS.fullmatch(text) else text


def settled(value: Any, folder: Path) -> Any:
    """The same of a JSON value; members whose value is of the moment keep its type."""
    if isinstance(value, dict):
        return {
            plain(key, folder): f"<{type(held).__name__}>"
            if (key.lower() in _MOMENT and isinstance(held, int | float)) or key in _RACED
            else settled(held, folder)
            for key, held in value.items()
        }
    if isinstance(value, list):
        found = [settled(each, folder) for each in value]
        if any(isinstance(each, dict) and not _LOGGED.isdisjoint(each) for each in found):
            found = [{**each, "id": "<place>"} if isinstance(each.get("id"), int) else each for each in found]
            found.sort(key=lambda each: json.dumps(each, sort_keys=True))
        return found
    if isinstance(value, str):
        return plain(value, folder)
    timely = isinstance(value, float) or (isinstance(value, int) and value > _LONG_AGO)
    return f"<{type(value).__name__}>" if timely else value


def routes() -> list[Route]:
    """Every route that only reads."""
    return [route for route in table(1) if route.method == "GET" and "{" not in route.path]


def answer(port: int, method: str, target: str, body: bytes = b"") -> tuple[int, str]:
    """The status and the text of one answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request(method, target, body or None, {"Content-Type": "application/json"} if body else {})
        reply = connection.getresponse()
        return reply.status, reply.read().decode()
    finally:
        connection.close()


def shape(text: str) -> Any:
    """JSON as a value; of the figures in Prometheus' format only their names; other texts as they are."""
    try:
        return json.loads(text)
    except ValueError:
        return re.sub(r"(?m)^([a-z_]+(?:\{[^}]*\})?) [0-9.e+-]+$", r"\1 <figure>", text)


class Frames(threading.Thread):
    """Hears the daemon's live stream from its first event on, over its restarts too."""

    def __init__(self, made: Project) -> None:
        super().__init__(daemon=True)
        self._made = made
        self.heard: dict[int, Any] = {}
        self.over = threading.Event()

    def run(self) -> None:
        """Until it is `over`."""
        while not self.over.wait(0.02):  # a daemon that was killed is soon followed by the next one
            trio.run(self._listen)

    async def _listen(self) -> None:
        since = max(self.heard, default=0)
        url = f"ws://127.0.0.1:{self._made.port}/ws?since={since}"
        try:
            async with open_websocket_url(url) as socket:
                while not self.over.is_set():
                    with trio.move_on_after(0.2):
                        frame = json.loads(await socket.get_message())
                        for event in frame if isinstance(frame, list) else [frame]:
                            self.heard[int(event.get("id", 0))] = event
        except (ConnectionClosed, HandshakeError, OSError):
            return


def look(made: Project, *, up: bool) -> dict[str, Any]:
    """What every route and every command says at this moment."""
    said: dict[str, Any] = {}
    folder = made.root.parent
    if up:
        until(lambda: all_read(made), "the graph has read it all")
        commits = json.loads(answer(made.port, "GET", "/api/history/commits")[1])
        last = [each["sha"] for each in commits if each["handoffId"].startswith("end-")]
        sha = last[0] if last else "0" * 40
        for route in routes():
            target = route.path + QUERIES.get(route.path, "").format(sha=sha)
            status, text = answer(made.port, "GET", target)
            found = shape(text)
            if route.path == "/api/detect":  # agents of others may run on this machine
                found = [each for each in found if str(folder) in json.dumps(each)]
            said[f"GET {route.path}"] = [status, settled(found, folder)]
        for method, target, body in BAD:
            status, text = answer(made.port, method, target, body)
            said[f"{method} {target} {body.decode()}".rstrip()] = [status, settled(shape(text), folder)]
    active = up and Api(made.port).get("/api/status")["sessionState"] not in OVER
    left = not up and made.fsm().get("sessionState") not in OVER
    late = TOO_LATE[:-1] if left else TOO_LATE  # a stop would end what the next daemon is to go on with
    for words in COMMANDS if active else COMMANDS + late:
        done = command(made, *words)
        out = shape(done.stdout)
        if isinstance(out, str):
            lines = [settled(shape(line), folder) for line in out.splitlines()]
            out = (
                sorted(_NUMBERED.sub("", str(line)) for line in lines)
                if words[0] in {"logs", "history"}
                else lines
            )
        said["hub " + " ".join(words)] = [
            done.returncode, settled(out, folder), settled(done.stderr.splitlines(), folder)
        ]  # fmt: skip
    return said


def all_read(made: Project) -> bool:
    """Whether the graph has come as far as the log, and the code is indexed where it is to be."""
    graph, last = Api(made.port).get("/api/graph"), max((event["id"] for event in made.events()), default=0)
    return graph["state"] != "scanning" and graph["eventId"] >= last


@contextmanager
def frames(made: Project) -> Iterator[Frames]:
    """The frames of `/ws` while the block lasts."""
    heard = Frames(made)
    heard.start()
    yield heard
    heard.over.set()
    heard.join()


def told(name: str, folder: Path) -> dict[str, Any]:
    """One story, told to a fresh daemon: what everybody says at each of its rests, and all frames."""
    tell, scripts, settings = STORIES[name]
    said: dict[str, Any] = {}
    with project(folder) as made:
        for provider, steps in scripts.items():
            made.script(provider, *steps)
        # All that is asked while there is no daemon takes longer on a busy machine than an agent would wait for the next one.
        made.configure(f"{settings}{ALONE}", orphan_grace=600)
        api = made.start(PATH=f"{folder / 'bin'}:/usr/bin:/bin", HOME=str(folder), TZ="UTC").within(60)

        def ask(when: str) -> None:
            up = made.daemon is not None and made.daemon.poll() is None
            said[when] = look(made, up=up)

        with frames(made) as heard:
            tell(made, api, ask)
            last = max((event["id"] for event in made.events()), default=0)
            until(lambda: max(heard.heard, default=0) >= last, "the last event is heard")
        if heard.heard:
            said["all the while"] = {"frames of /ws": settled([*heard.heard.values()], folder)}
        made.stop()
    return said
