"""Only the same user speaks: a real daemon, and a real other user who tries every door.

Each test fails on a daemon that trusts loopback: that is open to every user of a machine.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from hub.client.quick import Api
from hub.errors import Code
from hub.owners import Owners
from hub.web.callers import Caller, caller
from hub.web.openapi import route as openapi
from hub.web.routes import table
from hub.web.stream import SSE
from hub.web.tools import TOOLS
from tests.faults.harness import HUB, Project, repository, until
from tests.hub.cli.command import environ, hub
from tests.other_user import AS_NOBODY, NOBODY, by_nobody, only_root, started_by_nobody
from tests.refusals import refuses

TOKEN = "correct-horse-battery"
ASK = """
import http.client, json, sys
port, headers, requests = int(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])
told = []
for method, path, body in requests:
    link = http.client.HTTPConnection(sys.argv[4] if len(sys.argv) > 4 else "127.0.0.1", port, timeout=60)
    link.request(method, path, body, headers)
    answer = link.getresponse()
    told.append([answer.status, answer.read().decode("utf-8", "replace") if answer.status != 101 else ""])
    link.close()
print(json.dumps(told))
"""
JSON = {"Content-Type": "application/json"}
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
_API = table(4748)
EVERY = [
    (
        operation.method,
        operation.path.replace("{", "x").replace("}", ""),
        None if operation.method == "GET" else "{}",
    )
    for operation in (*_API, openapi(_API), SSE, TOOLS)
] + [("GET", "/", None), ("GET", "/nowhere", None), ("POST", "/api/run", '{"task": "mine"}')]


@pytest.fixture
def work(made: Project) -> Project:
    made.script("demo-first", {"done": "finished"})
    made.configure()
    return made


def asked_by_nobody(
    port: int, requests: list[tuple[str, str, str | None]], headers: dict[str, str], host: str = "127.0.0.1"
) -> list[list]:
    return json.loads(by_nobody(ASK, str(port), json.dumps(headers), json.dumps(requests), host))


def refusals(answers: list[list]) -> set[tuple[int, str]]:
    return {(status, json.loads(body)["code"]) for status, body in answers}


@only_root
def test_another_user_gets_nothing_by_any_door(work: Project):
    """Every route, the streams, the tools and the handshake; nothing is carried out, and nothing is told."""
    api = work.start()
    before = api.get("/api/audit/head"), api.get("/api/history"), work.events()
    answers = asked_by_nobody(work.port, EVERY, JSON)
    assert refusals(answers) == {(403, "other_user")}
    assert str(work.root) not in json.dumps(answers)
    assert refusals(asked_by_nobody(work.port, [("GET", "/ws", None)], HANDSHAKE)) == {(403, "other_user")}
    assert (api.get("/api/audit/head"), api.get("/api/history"), work.events()) == before
    assert api.get("/api/status")["sessionState"] == "idle"
    assert work.starts() == []


@only_root
def test_nor_by_an_address_that_is_written_as_ipv6(work: Project):
    """A socket of IPv6 reaches a listener of IPv4; in the kernel's answer its addresses look different."""
    work.start()
    answers = asked_by_nobody(
        work.port, [("GET", "/api/status", None)], {"Host": f"127.0.0.1:{work.port}"}, "::ffff:127.0.0.1"
    )
    assert refusals(answers) == {(403, "other_user")}
    with closing(socket.create_connection(("::ffff:127.0.0.1", work.port))) as own:
        own.sendall(
            f"GET /api/health HTTP/1.1\r\nHost: localhost:{work.port}\r\nConnection: close\r\n\r\n".encode()
        )
        assert own.makefile("rb").readline() == b"HTTP/1.1 200 \r\n"


@only_root
def test_with_the_token_anybody_is_served_and_without_it_nobody(work: Project):
    """One who shows it was given it."""
    work.configure(f'[server]\ntoken = "{TOKEN}"\n')
    work.start()
    status = [("GET", "/api/status", None)]
    assert refusals(asked_by_nobody(work.port, status, {})) == {(403, "other_user")}
    wrong = {"Authorization": "Bearer wrong"}
    assert refusals(asked_by_nobody(work.port, status, wrong)) == {(403, "other_user")}
    right = {"Authorization": f"Bearer {TOKEN}"}
    assert [answer[0] for answer in asked_by_nobody(work.port, status, right)] == [200]
    with refuses(Code.TOKEN_NEEDED):
        Api(work.port).get("/api/status")


@only_root
def test_a_daemon_of_root_takes_nobody_for_root():
    """A closed socket has no owner: the kernel says uid 0 of it, or the last one; what it sent can still be read."""
    send = "import socket, sys; link = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); link.sendall(b'x')"
    with closing(socket.create_server(("127.0.0.1", 0))) as door, Owners() as owners:
        port = door.getsockname()[1]
        by_nobody(send, str(port))
        with closing(socket.create_connection(("127.0.0.1", port))) as own:
            own.sendall(b"x")
        for _ in range(2):  # nobody's, and one of this very process
            with closing(door.accept()[0]) as accepted:
                assert caller(accepted, owners) is Caller.OTHER
                assert accepted.recv(1) == b"x"


@only_root
def test_root_is_another_user_too(tmp_path: Path):
    """A daemon of an ordinary user: root may read its files, and take what it wants from there, but does not speak."""
    tmp_path.chmod(0o755)
    home = Path(f"/tmp/hub-nobody-{os.getpid()}")
    home.mkdir(mode=0o700)
    try:
        repo = repository(home / "repo")
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", str(home)], check=True)
        env = {**environ(home), "HOME": str(home)}
        with (home / "log").open("wb") as log:
            daemon = subprocess.Popen(
                [*AS_NOBODY, *HUB, "daemon", "--port", "0"], cwd=repo, env=env, stdout=log, stderr=log
            )
        try:
            told = json.loads(
                until(lambda: _read(repo / ".hub/daemon.json", daemon, home / "log"), "it listens")
            )
            with closing(socket.create_connection(("127.0.0.1", told["port"]))) as link:
                link.sendall(f"GET /api/status HTTP/1.1\r\nHost: 127.0.0.1:{told['port']}\r\n\r\n".encode())
                answer = link.makefile("rb").read()
            assert answer.startswith(b"HTTP/1.1 403")
            assert b'"other_user"' in answer
            [[status, _]] = asked_by_nobody(told["port"], [("GET", "/api/status", None)], {})
            assert status == 200
        finally:
            daemon.terminate()
            daemon.wait()
    finally:
        subprocess.run(["rm", "-rf", str(home)], check=True)


def _read(path: Path, process: subprocess.Popen[bytes], log: Path) -> bytes:
    assert process.poll() is None, log.read_text()
    return path.read_bytes() if path.exists() else b""


LISTEN = """
import socket, sys
door = socket.create_server(("127.0.0.1", 0))
print(door.getsockname()[1], flush=True)
door.settimeout(120)
heard = b""
while True:
    link, _ = door.accept()
    link.settimeout(1)
    try:
        while data := link.recv(65536):
            heard += data
    except TimeoutError:
        pass
    if heard.startswith(b"end"):
        break
    print(len(heard), heard, flush=True)
    link.close()
"""


@only_root
def test_a_client_sends_nothing_to_another_users_listener(work: Project):
    """What a killed daemon left names a port that is another user's by now: neither token nor key nor task goes there."""
    listener = started_by_nobody(LISTEN)
    assert listener.stdout is not None
    port = int(listener.stdout.readline())
    work.hub.mkdir(mode=0o700)
    told = {"pid": 1, "port": port, "guarded": True, "token": TOKEN, "startedAt": "", "version": "1"}
    (work.hub / "daemon.json").write_text(json.dumps(told))
    env = {**environ(work.root.parent), "HUB_TOKEN": TOKEN}
    for args in (
        ("handoff", "--json"),
        ("--port", str(port), "reply", "--json", "my secret"),
        ("logs", "-f", "--json"),
    ):
        done = hub(*args, cwd=work.root, env=env)
        assert (done.returncode, json.loads(done.stdout)["error"]["code"]) == (4, "other_user"), done.stderr
        assert listener.stdout.readline() == "0 b''\n"
    # The one command that asks before anything is imported asked whoever listened.
    unguarded = {name: told[name] for name in ("pid", "port", "version")}
    (work.hub / "daemon.json").write_text(json.dumps(unguarded))
    # It needs no daemon, and another user's is none: it looks by itself.
    done = hub("detect", "--json", cwd=work.root, env=environ(work.root.parent))
    assert (done.returncode, listener.stdout.readline()) == (0, "0 b''\n"), done.stderr
    assert isinstance(json.loads(done.stdout), list)
    listener.kill()
    listener.wait()
    listener.stdout.close()
    assert listener.stdin is not None
    listener.stdin.close()


@only_root
def test_where_the_kernel_does_not_tell_a_token_is_made(work: Project):
    """In a user namespace without numbers for anybody all users look alike; hub's own commands bring the token."""
    with (work.root.parent / "daemon.log").open("ab") as out:
        work.daemon = subprocess.Popen(
            ["unshare", "--user", sys.executable, "-m", "hub", "daemon", "--port", "0"],
            cwd=work.root, env=work.environ(), stdout=out, stderr=out,
        )  # fmt: skip
    work.port = until(work._announced, "the daemon says where it listens")
    place = work.hub / "daemon.json"
    told = json.loads(place.read_bytes())
    assert (told["guarded"], len(told["token"]) >= 32, place.stat().st_mode & 0o777) == (True, True, 0o600)
    with refuses(Code.TOKEN_NEEDED):
        Api(work.port).get("/api/status")
    assert refusals(asked_by_nobody(work.port, EVERY, JSON)) == {(401, "token_needed")}
    assert hub("status", "--json", cwd=work.root, env=work.environ()).returncode == 0
    done = hub("run", "--quiet", "--json", "work", cwd=work.root, env=work.environ())
    assert json.loads(done.stdout)["sessionState"] == "completed", done.stderr
