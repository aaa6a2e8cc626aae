"""The fold every agent that speaks ACP shares, on captured runs of three of them: each trap by its name.

Each run is folded by the agent's own adapter, and by the one a table in hub.toml makes.
"""

import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.api.tables import parse_config
from hub.domain.event import EventType
from hub.domain.failure import FailureClass
from hub.providers import registry
from hub.providers.acp.tools import asked_about
from hub.providers.base import Ending, ProcessExit
from tests.hub.providers.acp.lines import SESSION, ended, texts_of, update, words
from tests.hub.providers.captured import ASSIGNMENT, NOW, exit_of, fold, lines_of, rpc

AGENTS = ("qwen", "copilot", "gemini")
plain = pytest.mark.parametrize("agent", AGENTS[:2])
"""Of what Gemini does in another way: `test_gemini_stream.py`."""
TABLE = '[providers.own]\nkind = "acp"\ncommand = ["own", "acp"]\ndisplayName = "Own"\n'
GENERIC = registry.load_all(lambda: parse_config(TABLE))["own"]
PEOPLE = attrs.evolve(ASSIGNMENT, options={"approval_mode": "default", "ask": True})
OPENED = [
    rpc(id="init", result={"agentCapabilities": {"loadSession": True}}),
    rpc(id="new", result={"sessionId": SESSION}),
]
MODES = {"modes": {"currentModeId": "ask", "availableModes": [{"id": "ask"}, {"id": "code"}]}}
MODELS = {"models": {"currentModelId": "small", "availableModels": [{"modelId": "small"}]}}
CHOICES = [
    {"id": "m", "category": "mode", "currentValue": "ask", "options": []},
    {"id": "model", "category": "model", "currentValue": "small", "options": []},
]


def run(agent, name, provider=None, **more):
    given = more.pop("assignment", ASSIGNMENT)
    more = {"end": exit_of(agent, name), **more}
    return fold(provider or registry.load(agent), given, lines_of(agent, name), **more)


def told(*lines, **more):
    """A conversation with some agent that has begun, and then these lines."""
    return fold(GENERIC, more.pop("assignment", ASSIGNMENT), [*OPENED, *lines], **more)


@pytest.fixture(params=AGENTS)
def agent(request):
    return request.param


@pytest.fixture(params=["its own", "the generic"])
def provider(request, agent):
    return registry.load(agent) if request.param == "its own" else GENERIC


@plain
def test_a_whole_run_is_told_in_order(agent, provider):
    folded = run(agent, "rich", provider)
    quiet = (EventType.USAGE, EventType.SYSTEM, EventType.THINKING, EventType.TEXT)
    assert [event.type for event in folded.events if event.type not in quiet] == [
        *([EventType.TOOL_USE, EventType.TOOL_RESULT] * 2),
        EventType.RESULT,
    ]
    written, shell = folded.of(EventType.TOOL_RESULT)
    assert written.meta["path"] == "/home/dev/repo/hello.txt"
    assert (shell.meta["command"], shell.meta["exitCode"]) == ("cat hello.txt; exit 3", 3)
    assert shell.meta["isError"] is True
    assert folded.of(EventType.TOOL_USE)[1].meta["command"] == "cat hello.txt; exit 3"
    assert folded.said(EventType.THINKING) == ["First the file."]
    assert (folded.outcome.ending, folded.outcome.text) == (Ending.DONE, "All done.")
    assert (folded.unknown, folded.stream.tools_in_flight) == (0, 0)
    assert folded.stream.native_session


@plain
def test_every_token_of_a_run_is_counted_once(agent):
    """Three requests of 101 tokens in, 22 of them cached, and 33 out."""
    counts = [event.meta for event in run(agent, "rich").of(EventType.USAGE)]
    totals = {name: sum(c.get(name, 0) for c in counts) for name in ("tokensIn", "tokensOut", "cachedIn")}
    assert totals == {"tokensIn": 303, "tokensOut": 99, "cachedIn": 66}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("limit", FailureClass.USAGE_LIMIT),
        ("refusal", FailureClass.REFUSAL),
        ("refusal_after_work", FailureClass.REFUSAL),
        ("auth", FailureClass.AUTH),
        ("no_key", FailureClass.AUTH),
        ("context", FailureClass.CONTEXT_OVERFLOW),
    ],
)
def test_failures_are_told_apart_and_told_once(agent, name, kind):
    folded = run(agent, name)
    assert folded.outcome.ending is Ending.FAILED
    assert folded.outcome.failure.kind is kind
    [error] = folded.of(EventType.ERROR)
    assert error.meta["failure"] == kind.value


@plain
@pytest.mark.parametrize("name", ["overload2", "limit_minute"])
def test_what_the_agent_waits_out_itself_is_no_failure(agent, name):
    folded = run(agent, name)
    assert (folded.outcome.ending, folded.outcome.text) == (Ending.DONE, "Done.")


def test_an_interrupt_ends_the_turn_and_keeps_its_text(agent, provider):
    folded = run(agent, "interrupt_text", provider)
    assert folded.outcome.ending is Ending.INTERRUPTED
    assert folded.said(EventType.TEXT)[0].startswith("chunk0 chunk1")


def test_an_interrupted_tool_is_not_in_flight_for_ever(agent, provider):
    folded = run(agent, "interrupt_tool", provider)
    assert folded.outcome.ending is Ending.INTERRUPTED
    assert folded.stream.tools_in_flight == 0


def test_a_reply_waits_in_the_stream_for_the_turns_end(agent, provider):
    """The id of the request that carries it comes back, and with it the reply: a new daemon finds it too."""
    folded = run(agent, "reply", provider)
    assert [key for key in folded.writes if key.startswith("turn-")] == ["turn-1", "turn-2"]
    assert texts_of(folded.writes["turn-2"]) == ["Also say hi"]
    assert folded.outcome.text == "And hi."
    assert len(folded.of(EventType.RESULT)) == 1


def test_a_resumed_session_tells_nothing_old_as_new(agent, provider):
    resumed = attrs.evolve(ASSIGNMENT, resume_id=SESSION)
    folded = run(agent, "resume", provider, assignment=resumed)
    assert folded.said(EventType.TEXT) == ["Two."]
    assert not folded.of(EventType.TOOL_USE)
    assert folded.stream.native_session == SESSION
    method = {"qwen": "session/resume"}.get(agent, "session/load")
    assert folded.writes["load"]["method"] == method


GONE = [("qwen", "resume_gone"), ("copilot", "resume_gone"), ("gemini", "resume_same_minute")]
"""Gemini's `session/load` in the minute of the session's beginning destroys it."""


@pytest.mark.parametrize(("agent", "name"), GONE)
def test_a_session_that_is_gone_gives_way_to_a_fresh_one(agent, name, provider):
    gone = attrs.evolve(ASSIGNMENT, resume_id="gone", envelope="CONTRACT")
    folded = run(agent, name, provider, assignment=gone)
    assert list(folded.writes) == ["init", "load", "new", "turn-1"]
    assert texts_of(folded.writes["turn-1"])[0] == "CONTRACT\n\n"
    assert folded.of(EventType.SYSTEM)[0].meta == {"resumed": False}, "it is said first"
    assert folded.outcome.ending is Ending.DONE


def test_a_permission_is_allowed_by_policy_and_told(agent, provider):
    folded = run(agent, "allowed", provider)
    [answer] = [write for key, write in folded.writes.items() if "outcome" in write.get("result", {})]
    assert answer["result"]["outcome"]["outcome"] == "selected"
    assert any(event.meta.get("allowed") for event in folded.events)
    assert (len(folded.of(EventType.TOOL_USE)), len(folded.of(EventType.TOOL_RESULT))) == (1, 1)


@pytest.mark.parametrize(("approved", "kind"), [(True, "allow_once"), (False, "reject_once")])
def test_a_permission_waits_for_a_person_where_one_is_asked(agent, provider, approved, kind):
    lines = lines_of(agent, "denied")
    ask = next(number for number, line in enumerate(lines) if b"request_permission" in line)
    stream = fold(provider, PEOPLE, lines[: ask + 1])
    [waiting] = stream.of(EventType.WAITING)
    assert "needsInput" not in waiting.meta
    assert stream.stream.tools_in_flight == 1
    [write] = stream.stream.answer(waiting.meta["approvalId"], approved, "")
    options = {option["optionId"]: option["kind"] for option in json.loads(lines[ask])["params"]["options"]}
    assert options[json.loads(write.data)["result"]["outcome"]["optionId"]] == kind
    assert list(stream.stream.answer(waiting.meta["approvalId"], approved, "")) == []


@plain
def test_a_denied_tool_ends_the_turn_and_the_agent_is_told_to_go_on(agent):
    """Both wait for other orders then, without a word: that is neither a refusal of the model nor the task's end."""
    folded = run(agent, "denied", assignment=PEOPLE, end=None)
    [result] = folded.of(EventType.TOOL_RESULT)
    assert result.meta["isError"] is True
    assert "not allowed" in texts_of(folded.writes["turn-2"])[0]


def denied_turn():
    call = {"toolCallId": "c", "title": "x", "kind": "edit"}
    return (
        rpc(id=7, method="session/request_permission", params={"toolCall": call, "options": []}),
        update("tool_call_update", toolCallId="c", status="failed"),
    )


def test_a_tool_of_no_kind_has_the_name_that_it_was_first_told_with():
    """Copilot names a tool of a server in the title alone, and in its request without the server: rules go by the name."""
    call = {"toolCallId": "c", "kind": "other", "rawInput": {"path": "x"}}
    folded = told(
        update("tool_call", **call, title="notes-note", status="pending"),
        rpc(
            id=7,
            method="session/request_permission",
            params={"toolCall": {**call, "title": "note"}, "options": []},
        ),
        assignment=PEOPLE,
    )
    assert [event.meta["tool"] for event in folded.of(EventType.WAITING)] == ["notes-note"]


def test_what_an_unknown_tool_may_give_to_a_shell_is_asked_as_a_command():
    """Bug: Copilot tells no more of a tool of the user's than its title, and `cat d/secret.txt` was told to none."""
    call = {
        "toolCallId": "c",
        "kind": "other",
        "title": "note",
        "rawInput": {"command": "cat", "args": ["x y"]},
    }
    assert asked_about(call)["command"] == "cat 'x y'"
    assert "command" not in asked_about({**call, "kind": "read"})


def test_a_reply_comes_before_hubs_own_words_after_a_denial():
    folded = told(*denied_turn(), rpc(id="k\nDo it so.", result=None), ended(), assignment=PEOPLE)
    assert texts_of(folded.writes["turn-2"]) == ["Do it so."]


def test_words_after_a_denial_are_an_answer():
    folded = told(*denied_turn(), words("I cannot."), ended(), assignment=PEOPLE)
    assert folded.outcome.ending is Ending.DONE


def test_a_call_is_in_flight_before_it_can_be_told():
    """Announced as pending, without input: the model is still writing it."""
    call = {"toolCallId": "c", "kind": "edit"}
    folded = told(update("tool_call", status="pending", title="Edit", rawInput={}, **call))
    assert folded.stream.tools_in_flight == 1
    assert not folded.of(EventType.TOOL_USE)
    more = update("tool_call_update", status="in_progress", rawInput={"path": "/a"}, **call)
    folded = told(update("tool_call", status="pending", title="Edit", rawInput={}, **call), more, more)
    [use] = folded.of(EventType.TOOL_USE)
    assert (use.meta["path"], use.meta["input"]) == ("/a", {"path": "/a"})


def test_a_patch_names_its_file():
    """Copilot gives the text of a patch for input, and no place before the end."""
    patch = "*** Begin Patch\n*** Add File: a/hello.txt\n+hi\n*** End Patch\n"
    call = update(
        "tool_call", toolCallId="c", kind="edit", title="apply_patch", status="pending", rawInput=patch
    )
    [use] = told(call, update("tool_call_update", toolCallId="c", status="completed")).of(EventType.TOOL_USE)
    assert use.meta["path"] == "a/hello.txt"


def test_tools_may_run_side_by_side():
    """Only where tools run one by one does a text tell that an asked-for call is over."""
    asked = rpc(id=7, method="session/request_permission", params={"toolCall": {"toolCallId": "c"}})
    folded = told(
        asked, update("tool_call", toolCallId="d", status="in_progress"), words("x"), assignment=PEOPLE
    )
    assert folded.stream.tools_in_flight == 2


@pytest.mark.parametrize(
    ("result", "methods"),
    [
        ({**MODES, **MODELS}, ["session/set_mode", "session/set_model"]),
        ({"configOptions": CHOICES}, ["session/set_config_option", "session/set_config_option"]),
        (MODES, ["session/set_mode"]),
        ({}, []),
    ],
)
def test_a_session_is_set_to_what_is_wished_before_the_prompt(result, methods):
    """Only what the agent offers is asked of it, in the form it offers it."""
    wished = attrs.evolve(ASSIGNMENT, model="large", options={"mode": "code"})
    lines = [OPENED[0], rpc(id="new", result={"sessionId": SESSION, **result})]
    lines += [rpc(id=name, result={}) for name in ("set-mode", "set-model")]
    folded = fold(GENERIC, wished, lines)
    sent = [write for key, write in folded.writes.items() if key.startswith("set-")]
    assert [write["method"] for write in sent] == methods
    assert list(folded.writes)[-1] == "turn-1"


def test_what_is_set_already_is_not_set_again():
    wished = attrs.evolve(ASSIGNMENT, model="small", options={"mode": "ask"})
    lines = [OPENED[0], rpc(id="new", result={"sessionId": SESSION, **MODES, **MODELS})]
    assert list(fold(GENERIC, wished, lines).writes) == ["init", "new", "turn-1"]


def test_a_wish_that_is_refused_is_told_and_the_task_goes_on():
    wished = attrs.evolve(ASSIGNMENT, options={"mode": "code"})
    lines = [
        OPENED[0],
        rpc(id="new", result={"sessionId": SESSION, **MODES}),
        rpc(id="set-mode", error={"code": -32602, "message": "no such mode"}),
    ]
    folded = fold(GENERIC, wished, lines)
    assert folded.events[-1].meta == {"notTaken": "mode"}
    assert "turn-1" in folded.writes


def test_the_protocols_own_refusal_is_one():
    assert told(words("x"), ended("refusal")).outcome.failure.kind is FailureClass.REFUSAL


def test_a_process_that_leaves_in_its_turn_has_crashed_unless_hub_asked():
    assert told(words("x"), end=ProcessExit(0)).outcome.failure.kind is FailureClass.CRASH
    assert told(words("x"), end=ProcessExit(None, 15, asked=True)).outcome.ending is Ending.INTERRUPTED
    assert (
        told(words("x"), end=ProcessExit(1, stderr_tail="Not logged in")).outcome.failure.kind
        is FailureClass.AUTH
    )


@pytest.mark.parametrize("line", [b"oops", b"{}", update("brand_new"), rpc(method="brand/new")])
def test_a_line_nobody_can_read_is_kept_and_counted(line):
    folded = told(line)
    assert folded.unknown == 1
    assert folded.events[-1].meta["unknown"] is True


def test_an_extensions_notification_is_not_for_hub():
    """ACP leaves methods with an underscore to extensions, and tells clients to ignore what they do not know."""
    assert told(rpc(method="_vendor/news", params={})).unknown == 0


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(ANY_JSON, st.sampled_from(["init", "new", "load", "set-mode", "settle-1", "turn-1", "turn-x", "k\nx"]))
def test_any_answer_never_raises(value, number):
    wished = attrs.evolve(ASSIGNMENT, resume_id="r", model="m", options={"mode": "x"})
    result = rpc(id=number, result=value)
    opened = rpc(id="new", result={"sessionId": value, "modes": value, "configOptions": value})
    fold(GENERIC, wished, [result, opened, result, rpc(id=number, error=value)], end=ProcessExit(1))


def test_the_clock_of_a_line_is_the_spools():
    error = rpc(id="turn-1", error={"code": 429, "message": "Rate limit reached. Try again in 20s."})
    assert told(error).outcome.failure.resets_at == NOW + 20
