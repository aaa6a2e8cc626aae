"""What the keys do while a session is shown."""

import pytest
import trio

from hub.api.approvals import Approval
from hub.api.convert import unstructure
from hub.api.status import Status
from hub.cli.commands.approvals import listed
from hub.cli.terminal.answering import GRACE, HELP, Answering, picture
from hub.cli.terminal.conversation import Conversation
from hub.cli.terminal.items import AskItem
from hub.cli.terminal.keys import Key
from hub.client.quick import Api
from hub.domain.approval import CUT
from hub.errors import Code, HubError
from tests.sample import sample

REQUEST = {
    "id": "a-1", "action": "Bash: deploy --all", "reason": "it is Friday", "severity": "warn", "kind": "tool",
    "provider": "claude", "context": {"command": "deploy --all"},
}  # fmt: skip


class Daemon(Api):
    """Records what is asked of it."""

    def __init__(self):
        super().__init__(1)
        self.posts = []
        self.paused = False
        self.refuses = None
        self.meanwhile = lambda: None

    def get(self, path, query=None):
        if path == "/api/approvals":
            return [unstructure(sample(Approval, **REQUEST | {"id": number})) for number in ("a-1", "a-2")]
        return unstructure(sample(Status, paused=self.paused))

    def post(self, path, body=None):
        if self.refuses:
            raise self.refuses
        self.posts.append((path, body))
        self.meanwhile()
        if "approvals" in path:
            return {"ok": True, "id": "a-1", "approved": True}
        return {"ok": True, "sessionId": "s-1", **({"paused": body["pause"]} if "pause" in body else {})}


@pytest.fixture
def daemon():
    return Daemon()


@pytest.fixture
def desk(daemon):
    """The keys of one session."""
    return Answering(Conversation(), lambda: daemon, "s-1", lambda told: None)


@pytest.fixture
def asked(desk):
    desk.conversation.asks = [AskItem("deploy", "a-1", "s-1")]
    return desk


async def press(answering, *keys):
    for key in keys:
        await answering.keys([Key(key)])


@pytest.mark.parametrize(
    ("key", "body"),
    [
        ("y", {"approved": True, "note": "", "always": False}),
        ("n", {"approved": False, "note": "", "always": False}),
        ("a", {"approved": True, "note": "", "always": True}),
    ],
)
async def test_an_approval_takes_one_key_once_it_was_shown(asked, daemon, mock_clock, key, body):
    await press(asked, key)
    assert daemon.posts == [], "nothing stands on the screen yet"
    await asked.news()
    assert asked.prompt[0].startswith("allow it?")
    await press(asked, key)
    assert daemon.posts == [], "nobody has read it yet"
    mock_clock.jump(2 * GRACE)
    await press(asked, key, key)
    assert daemon.posts == [("/api/approvals/a-1", body)]


async def test_a_second_press_does_not_allow_the_next_one(asked, daemon, mock_clock):
    """Neither before the next is shown, nor while it comes, nor when the daemon was slow to take the first."""
    thrown = []
    asked.unread = lambda: thrown.append(asked.shown)
    await asked.news()
    assert thrown == [""], "what was pressed before it was shown"
    mock_clock.jump(2 * GRACE)

    def next_one():
        asked.conversation.asks = [AskItem("deploy", "a-2", "s-1")]
        trio.from_thread.run(asked.news)
        mock_clock.jump(2 * GRACE)

    daemon.meanwhile = next_one
    await press(asked, "y")
    assert asked.shown == "a-2"
    assert thrown == ["", ""]
    await press(asked, "y")
    assert [path for path, _ in daemon.posts] == ["/api/approvals/a-1"]
    daemon.meanwhile = lambda: None
    mock_clock.jump(2 * GRACE)
    await press(asked, "y")
    assert [path for path, _ in daemon.posts] == ["/api/approvals/a-1", "/api/approvals/a-2"]


async def test_a_line_that_is_typed_loses_nothing_to_a_request(asked):
    thrown = []
    asked.unread = lambda: thrown.append(1)
    asked.typing = True
    await asked.news()
    assert (asked.shown, thrown) == ("a-1", [])


async def test_what_was_typed_ahead_or_pasted_allows_nothing(asked, daemon, mock_clock):
    await asked.news()
    mock_clock.jump(2 * GRACE)
    await asked.keys([Key("y"), Key("y")])
    await asked.keys([Key("y", pasted=True)])
    assert daemon.posts == []


async def test_an_answer_from_elsewhere_takes_the_question_away(asked):
    await asked.news()
    asked.conversation.asks = []
    await asked.news()
    assert asked.prompt == ("", "")


async def test_whoever_answers_a_question_types(desk, daemon):
    """The h of "hello" had handed the work over, and the p of "postgres" paused it."""
    desk.conversation.asks = [AskItem("Which colour?")]
    await desk.news()
    await press(desk, *"hpd")
    assert (daemon.posts, desk.prompt[1]) == ([], "hpd")
    await press(desk, "\x1b")
    await desk.news()
    assert desk.prompt[0] == "r reply", "left for the keys, the line stays closed"
    desk.conversation.asks = [AskItem("Which colour?"), AskItem("deploy", "a-1")]
    await press(desk, "r")
    await desk.news()
    assert desk.typing, "a request takes no letter of a line that is open"


async def test_a_reply_is_a_line(desk, daemon):
    desk.conversation.asks = [AskItem("Which colour?")]
    assert desk.prompt[0] == "r reply"
    await press(desk, "r", *"blux", "\x7f", "e", " ", "y")
    await desk.keys([Key("es\nno", pasted=True)])
    assert desk.prompt[1] == "blue yes\nno"
    await press(desk, "\x17", "\r")
    assert daemon.posts == [("/api/session/reply", {"reply": "blue", "sessionId": "s-1"})]
    assert desk.conversation.asks == []
    await press(desk, "r", "x", "\x1b", "r", "x", "\x15", "\r")
    assert len(daemon.posts) == 1


async def test_pause_handoff_and_detach(desk, daemon):
    await press(desk, "p")
    daemon.paused = True
    await press(desk, "p", "h")
    assert daemon.posts == [
        ("/api/session/pause", {"pause": True, "sessionId": "s-1"}),
        ("/api/session/pause", {"pause": False, "sessionId": "s-1"}),
        ("/api/handoff", {"sessionId": "s-1"}),
    ]
    await press(desk, "v", "?", "z")
    assert desk.conversation.verbose
    assert not desk.detached.is_set()
    await press(desk, "d")
    assert desk.detached.is_set()


async def test_a_refusal_is_said_with_its_next_step(daemon):
    said = []
    daemon.refuses = HubError(Code.HANDOFF_IN_PROGRESS, "It is handing over.", hint="Wait.")
    await press(Answering(Conversation(), lambda: daemon, "s-1", said.append), "h")
    assert (said[0].text, said[0].below) == ("It is handing over.", ("next: Wait.",))


def whole(request):
    return "\n".join(
        [line for told in picture(sample(Approval, **request)) for line in (told.text, *told.below) if line]
    )


def test_the_whole_command_is_shown():
    long = "deploy " + "x" * 5000
    assert whole(REQUEST | {"context": {"command": long}}).count("x" * 5000) == 1
    assert "it is Friday" in whole(REQUEST)
    assert whole(REQUEST | {"severity": "danger"}).startswith("danger! claude wants to: Bash")


def test_a_new_file_is_shown_line_by_line():
    many = "\n".join(map(str, range(500)))
    shown = whole(REQUEST | {"context": {"input": {"content": many}}})
    assert "+199\n+200\n" in shown
    assert "+499" in shown, "a yes counts for all of it, so all of it is shown"


def test_a_request_that_is_not_shown_whole_says_so():
    """What is approved is what was shown."""
    assert CUT in whole(REQUEST | {"context": {"command": "x", "cut": True}})
    assert CUT not in whole(REQUEST | {"context": {"command": "x"}})


def test_the_tool_and_its_command_are_no_reason():
    """`demo-first wants to: run: rm -rf y`, and below it `run rm -rf y`."""
    asked = {"action": "run: rm -rf y", "reason": "run rm -rf y", "tool": "run"}
    assert whole(REQUEST | asked | {"context": {"command": "rm -rf y"}}) == "claude wants to: run: rm -rf y"
    shown = listed([sample(Approval, **(REQUEST | asked))])
    assert "\n" not in shown


def test_what_agents_say_three_times_is_shown_once():
    """As Claude Code asks: the command is the action, the command, and a member of what the tool is given."""
    given = {"command": "echo hi > a", "description": "greet"}
    asked = {
        "action": "Bash: echo hi > a", "reason": "Bash greet", "tool": "Bash", "context": {"command": "echo hi > a", "input": given},
    }  # fmt: skip
    assert whole(REQUEST | asked).splitlines() == ["claude wants to: Bash: echo hi > a", "description: greet"]


async def test_a_line_that_the_user_opened_stays_until_it_is_sent_or_left(desk, daemon):
    """Any event of the agent closed it while nothing was typed, and "use hidden tables" paused, handed over and detached."""
    await press(desk, "r")
    await desk.news()
    assert desk.prompt[0].startswith("reply")
    await press(desk, *"had")
    await desk.news()
    await press(desk, "\r")
    assert daemon.posts == [("/api/session/reply", {"reply": "had", "sessionId": "s-1"})]
    assert not desk.typing
    desk.conversation.asks = [AskItem("which?", None, "s-1")]
    await desk.news()
    desk.conversation.asks = []
    await desk.news()
    assert not desk.typing, "the line of a question goes with it"


async def test_what_a_daemon_refused_stays_to_be_sent_again(desk, daemon):
    """The words were gone with "The agent is being changed; try again in a moment."."""
    daemon.refuses = HubError(Code.HANDOFF_IN_PROGRESS, "The agent is being changed.")
    await press(desk, "r", *"use a table", "\r")
    assert desk.prompt[1] == "use a table"
    daemon.refuses = None
    await press(desk, "\r")
    assert [body["reply"] for _, body in daemon.posts] == ["use a table"]


def test_the_list_of_keys_has_room_in_the_narrowest_terminal():
    assert max(map(len, HELP)) <= 40 - 2
