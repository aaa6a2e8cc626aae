"""The polls, against real files and a real server on loopback: quiet, patient, and careful with a login."""

import json
import os
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import trio

from hub.actors.quota.poller import Poller
from hub.api.tables import parse_config
from hub.io.files.tails import last_lines, newest
from hub.io.http.request import FetchError, fetch
from hub.providers.registry import quota_client
from tests.clock import Clock
from tests.hub.providers.test_quota_clients import ROLLOUT, TRANSCRIPT, instant

NAMES = ("claude", "codex")
AT = instant(ROLLOUT["timestamp"])


class Server:
    """A maker's server: it notes who asks, and answers what it is told to."""

    def __init__(self):
        self.asked, self.status, self.headers = [], 200, {}
        self.body = json.dumps(
            {"five_hour": {"utilization": 42.0, "resets_at": "2026-11-21T05:00:00Z"}}
        ).encode()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                outer.asked.append((self.path, self.headers["Authorization"]))
                self.send_response(outer.status)
                for name, value in {**outer.headers, "Content-Length": str(len(outer.body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, *_):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}"
        threading.Thread(target=self.http.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def server():
    made = Server()
    yield made
    made.http.shutdown()
    made.http.server_close()


@pytest.fixture
def poller(tmp_path):
    return Poller(quota_client, Clock(AT + 60), tmp_path)


def wrote(path, *records, at=AT):
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        file.writelines(json.dumps(record).encode() + b"\n" for record in records)
    os.utime(path, (at, at))


async def test_a_rollout_is_read_when_it_has_grown_and_not_before(tmp_path, poller):
    """Quiet when nothing changes; `codex exec` tells its quota nowhere else."""
    config = parse_config("")
    assert await poller.look(config, NAMES) == []
    path = tmp_path / ".codex/sessions/2026/11/21/rollout-x.jsonl"
    wrote(path, {"payload": {}}, ROLLOUT)
    found = await poller.look(config, NAMES)
    assert [(r.provider, r.account, r.window, r.used_permille, r.source, r.at) for r in found] == [
        ("codex", "default", "five_hour", 420, "store", AT),
        ("codex", "default", "seven_day", 130, "store", AT),
    ]
    assert await poller.look(config, NAMES) == []
    wrote(path, ROLLOUT, at=AT + 1)
    assert len(await poller.look(config, NAMES)) == 2


async def test_each_account_has_its_own_directory(tmp_path, poller):
    text = f'[[providers.claude.accounts]]\nlabel = "work"\nconfigDir = "{tmp_path}/work"\n'
    wrote(tmp_path / "work/projects/-repo/s.jsonl", TRANSCRIPT)
    wrote(tmp_path / ".claude/projects/-repo/s.jsonl", TRANSCRIPT)
    found = await poller.look(parse_config(text), NAMES)
    assert [(r.account, r.used_permille) for r in found] == [("work", 1000)]


async def test_without_the_users_word_no_login_is_read_and_nobody_is_asked(tmp_path, poller, server):
    config = parse_config(f'[providers.claude]\nquotaUrl = "{server.url}"\n')
    wrote(tmp_path / ".claude/.credentials.json", {"claudeAiOauth": {"accessToken": "the-login"}})
    assert await poller.look(config, NAMES) == []
    assert server.asked == []


@pytest.fixture
def allowed(tmp_path, server):
    wrote(tmp_path / ".claude/.credentials.json", {"claudeAiOauth": {"accessToken": "the-login"}})
    return parse_config(f'[providers.claude]\nquotaEndpoint = true\nquotaUrl = "{server.url}"\n')


async def test_a_server_is_asked_with_the_agents_own_login(poller, server, allowed):
    (only,) = await poller.look(allowed, NAMES)
    assert (only.window, only.used_permille, only.source) == ("five_hour", 420, "endpoint")
    assert server.asked == [("/api/oauth/usage", "Bearer the-login")]
    assert "the-login" not in repr(poller)


KEYS = {"opencode": '{"openrouter": {"key": "sk-or-42"}}', "aider": "OPENROUTER_API_KEY=sk-or-42\n"}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("opencode", "work/data/opencode/auth.json"),
        ("opencode", ".local/share/opencode/auth.json"),
        ("aider", "work/.env"),
        ("aider", ".env"),
    ],
)
async def test_a_key_is_found_where_its_agent_keeps_it(tmp_path, poller, server, name, file):
    """And where the number comes from stands by it: `endpoint`."""
    server.body = b'{"data": {"limit": 20, "limit_remaining": 5}}'
    wrote(tmp_path / file)
    (tmp_path / file).write_text(KEYS[name])
    text = f'[providers.{name}]\nquotaEndpoint = true\nquotaUrl = "{server.url}"\n'
    if file.startswith("work/"):
        text += f'[[providers.{name}.accounts]]\nlabel = "work"\nconfigDir = "{tmp_path}/work"\n'
    (only,) = await poller.look(parse_config(text), (name,))
    assert (only.provider, only.account) == (name, "work" if "work/" in file else "default")
    assert (only.window, only.used_permille, only.source) == ("credit", 750, "endpoint")
    assert server.asked == [("/api/v1/key", "Bearer sk-or-42")]


async def test_a_server_is_asked_ever_more_seldom_while_nothing_changes(poller, server, allowed):
    for seconds, asked in (
        (0, 1),
        (299, 1),
        (1, 2),
        (599, 2),
        (1, 3),
        (1199, 3),
        (1, 4),
        (1800, 5),
        (1800, 6),
    ):
        poller.clock.now += seconds
        await poller.look(allowed, NAMES)
        assert len(server.asked) == asked
    server.body = server.body.replace(b"42.0", b"43.0")
    poller.clock.now += 1800
    await poller.look(allowed, NAMES)
    poller.clock.now += 300
    await poller.look(allowed, NAMES)
    assert len(server.asked) == 8


async def test_a_server_in_trouble_is_left_alone_as_long_as_it_asks(poller, server, allowed):
    server.status, server.headers = 429, {"Retry-After": "7000"}
    assert await poller.look(allowed, NAMES) == []
    poller.clock.now += 6999
    await poller.look(allowed, NAMES)
    assert len(server.asked) == 1
    server.status = 200
    poller.clock.now += 1
    assert len(await poller.look(allowed, NAMES)) == 1


async def test_a_clock_that_is_set_back_delays_no_question(poller, server, allowed):
    """The next one was due at an instant, a day and some minutes away."""
    await poller.look(allowed, NAMES)
    poller.clock.now -= 86_400
    await poller.look(allowed, NAMES)
    assert len(server.asked) == 2


async def test_a_refused_login_is_not_sent_again(tmp_path, poller, server, allowed):
    server.status = 401
    await poller.look(allowed, NAMES)
    poller.clock.now += 100_000
    await poller.look(allowed, NAMES)
    assert len(server.asked) == 1
    path = tmp_path / ".claude/.credentials.json"
    path.write_text(json.dumps({"claudeAiOauth": {"accessToken": "t-2"}}))
    server.status = 200
    assert len(await poller.look(allowed, NAMES)) == 1
    assert server.asked[-1][1] == "Bearer t-2"


async def test_a_redirect_takes_no_login_along(poller, server, allowed):
    server.status, server.headers = 302, {"Location": f"{server.url}/elsewhere"}
    assert await poller.look(allowed, NAMES) == []
    assert [path for path, _ in server.asked] == ["/api/oauth/usage"]


async def test_an_answer_without_end_is_not_taken(poller, server, allowed):
    server.body = b" " * (2 * 1024 * 1024)
    assert await poller.look(allowed, NAMES) == []


async def test_a_server_that_is_not_there_is_no_error(poller, server, allowed):
    server.http.shutdown()
    server.http.server_close()
    assert await poller.look(allowed, NAMES) == []


@pytest.mark.parametrize(
    "url", ["http://example.org/x", "ftp://127.0.0.1/x", "file:///etc/passwd", "nonsense"]
)
async def test_a_login_goes_over_https_or_nowhere(url):
    with pytest.raises(FetchError):
        await fetch("GET", url, {"Authorization": "Bearer the-login"})


def test_only_the_end_of_a_long_file_is_read_in_whole_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"x" * 300_000 + b"\nlast\ntorn")
    assert last_lines(str(path)) == [b"last"]
    assert last_lines(str(tmp_path / "gone")) == []
    (tmp_path / "link.jsonl").symlink_to(path)
    (tmp_path / "loop").symlink_to(tmp_path)
    assert last_lines(str(tmp_path / "link.jsonl")) == []
    assert [Path(found.path).name for found in newest(tmp_path, ".jsonl", 0, 5)] == ["a.jsonl"]


# A proxy that hangs up: http.client of Python 3.11.2 leaves the socket to the collector.
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
async def test_a_proxy_is_used_for_the_world_and_never_for_this_machine(monkeypatch, server):
    """Behind a company's proxy there is no other way out; a login to loopback stays on loopback."""
    asked = []

    async def proxy(stream):
        asked.append((await stream.receive_some(4096)).split(b"\r\n")[0])

    async with trio.open_nursery() as nursery:
        listeners = await nursery.start(partial(trio.serve_tcp, proxy, 0, host="127.0.0.1"))
        place = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}"
        monkeypatch.setenv("https_proxy", place)
        monkeypatch.setenv("http_proxy", place)
        monkeypatch.delenv("no_proxy", raising=False)
        with pytest.raises(FetchError):
            await fetch("GET", "https://quota.example/x", {"Authorization": "Bearer the-login"})
        assert [line.rpartition(b" ")[0] for line in asked] == [b"CONNECT quota.example:443"]
        await fetch("GET", f"{server.url}/api/oauth/usage", {"Authorization": "Bearer the-login"})
        assert len(asked) == 1
        nursery.cancel_scope.cancel()
