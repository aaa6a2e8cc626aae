"""No eight letters of a known key in a row (of one made of words: sixteen), whatever an agent's stream does with it: each
kind of stream, each split offset (in pieces, between messages, at the size at which hub cuts), each form, joined in every
way in which a reader may join.

A key in two pieces was shown in both by agents whose thoughts come in pieces, by every text longer than 8,192 letters, and
in two messages by every agent.
"""

from __future__ import annotations

import base64
import itertools
import json
import logging
import random
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

import attrs
import pytest

from hub.domain.event import Event, EventType
from hub.domain.redaction.events import EventRedactor
from hub.domain.redaction.lines import hidden_in_place
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.domain.text.plain import plain
from hub.io.log import _Plain
from hub.providers import registry
from hub.providers.base import Assignment, ProcessExit

VENDORS = "sk-ant-api03-tR8vQ2mX4kLpW9zN-Yb6Jc1_Hd5Gf3Sa7Ue0"
SHORT = "k9Qx4Lm2Vt7Rz"
WORDS = "correct-horse-battery-staple"
KEYS = {"of a vendor": VENDORS, "short": SHORT, "of words": WORDS}
FORMS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "reversed": lambda key: key[::-1],
    "hex": lambda key: key.encode().hex(),
    "HEX": lambda key: key.encode().hex().upper(),
    "base64": lambda key: base64.b64encode(key.encode()).decode().rstrip("="),
    "base64 behind a byte": lambda key: base64.b64encode(b"x" + key.encode()).decode()[2:-4],
    "url": lambda key: quote(f"{key}/+", safe="")[: len(key)],
    "json": lambda key: json.dumps(json.dumps(key))[3:-3],
}
MARK = re.compile(r"\[REDACTED:[a-z0-9-]{1,32}:[0-9a-f]{8}\]")
ASSIGNMENT = Assignment("d-1", "s-1", "Do it.", Path("/home/dev/repo"), Path("/run/d-1"))
LIVE = attrs.evolve(ASSIGNMENT, options={"partial": True})
KNOWN = KnownSecrets(KEYS.values())
FILLER = "Nothing here is of any note. "


def redactor() -> EventRedactor:
    return EventRedactor(Redactor(KNOWN, b"installation"))


def leaks(events: Sequence[Event], form: str) -> list[str]:
    """What is left of a form for a reader of single events, of all in a row, or of those of a kind.

    Eight letters in a row; of words sixteen, for eight of these stand in any text.
    """
    size = 16 if form == WORDS else 8
    wholes = [event for event in events if not event.meta.get("delta")]
    lives = [event for event in events if event.meta.get("delta")]
    readings = [
        *(json.dumps(event.to_json(), ensure_ascii=False) for event in events),
        *("".join(event.content for event in some) for some in (wholes, lives)),
        *(
            "".join(event.content for event in some if event.type is kind)
            for some in (wholes, lives)
            for kind in EventType
        ),
        *(
            "".join(event.content for event in wholes if event.type in kinds)
            for kinds in itertools.combinations(
                (EventType.TEXT, EventType.THINKING, EventType.TOOL_RESULT), 2
            )
        ),
    ]
    # One text, in which no key runs from one reading into the next.
    bare = "\0".join(re.sub(r"\n *", "", MARK.sub("\0", reading)) for reading in dict.fromkeys(readings))
    return [piece for at in range(len(form) - size + 1) if (piece := form[at : at + size]) in bare]


def told(events: Sequence[Event]) -> list[Event]:
    red = redactor()
    return [out for event in events for out in red.feed(plain(event))] + red.flush()


def line(**members: object) -> bytes:
    return json.dumps(members).encode()


def acp(told: str, /, **fields: object) -> bytes:
    return line(
        method="session/update", params={"sessionId": "n", "update": {"sessionUpdate": told, **fields}}
    )


def acp_chunk(kind: str) -> Callable[[str], list[bytes]]:
    return lambda text: [acp(kind, content={"type": "text", "text": text})]


NUMBERS = itertools.count()


def acp_tool(text: str) -> list[bytes]:
    content = [{"type": "content", "content": {"type": "text", "text": text}}]
    call = f"run-{next(NUMBERS)}"
    return [
        acp(
            "tool_call",
            toolCallId=call,
            title="run",
            kind="execute",
            status="in_progress",
            rawInput={"command": "x"},
        ),
        acp("tool_call_update", toolCallId=call, status="completed", content=content),
    ]


def acp_command(text: str) -> list[bytes]:
    call = f"run-{next(NUMBERS)}"
    given = {"command": text, "why": {"in": [text]}}
    return [
        acp("tool_call", toolCallId=call, title=text, kind="execute", status="in_progress", rawInput=given)
    ]


def claude(role: str, **block: object) -> list[bytes]:
    return [line(type=role, message={"role": role, "content": [block]})]


def claude_tool(text: str) -> list[bytes]:
    call = f"t{next(NUMBERS)}"
    return [
        *claude("assistant", type="tool_use", id=call, name="Bash", input={"command": "x"}),
        *claude("user", type="tool_result", tool_use_id=call, content=text),
    ]


def claude_input(text: str) -> list[bytes]:
    given = {"file_path": "a", "content": text}
    return claude("assistant", type="tool_use", id=f"t{next(NUMBERS)}", name="Write", input=given)


def codex(**item: object) -> list[bytes]:
    whole = {"id": f"i{next(NUMBERS)}", **item}
    return [line(method="item/completed", params={"threadId": "th", "turnId": "t1", "item": whole})]


def opencode(kind: str, **properties: object) -> bytes:
    return line(event={"type": kind, "properties": {"sessionID": "ses_1", **properties}})


def opencode_text(kind: str) -> Callable[[str], list[bytes]]:
    def lines(text: str) -> list[bytes]:
        name = f"prt_{next(NUMBERS)}"
        begun = {"id": name, "messageID": "msg_1", "type": kind, "text": "", "time": {"start": 1}}
        ended = {**begun, "text": text, "time": {"start": 1, "end": 2}}
        return [
            opencode("message.part.updated", part=begun),
            opencode("message.part.delta", messageID="msg_1", partID=name, field="text", delta=text),
            opencode("message.part.updated", part=ended),
        ]

    return lines


def opencode_tool(text: str) -> list[bytes]:
    name = f"prt_{next(NUMBERS)}"
    part = {"id": name, "messageID": "msg_1", "type": "tool", "tool": "bash", "callID": name}
    state = {"status": "completed", "input": {"command": "x"}, "output": text}
    return [opencode("message.part.updated", part={**part, "state": state})]


ACP_OPENED = [
    line(id="init", result={"agentCapabilities": {}}),
    line(id="new", result={"sessionId": "n"}),
    *(line(id=f"set-{name}", result={}) for name in ("mode", "model")),
]
ACP = {
    "text": acp_chunk("agent_message_chunk"),
    "thoughts": acp_chunk("agent_thought_chunk"),
    "output": acp_tool,
    "commands": acp_command,
}
CODEX_OPENED = [
    line(id="init", result={}),
    line(id="thread", result={"thread": {"id": "th"}, "model": "m"}),
    line(method="turn/started", params={"threadId": "th", "turn": {"id": "t1"}}),
]
OPENCODE_OPENED = [
    line(bridge="ready"),
    line(id="new", status=200, body={"id": "ses_1"}),
    line(id="turn-1", status=204),
    opencode(
        "message.updated", info={"id": "msg_1", "role": "assistant", "modelID": "m", "time": {"created": 1}}
    ),
]
STREAMS: dict[str, tuple[list[bytes], dict[str, Callable[[str], list[bytes]]]]] = {
    **dict.fromkeys(("gemini", "qwen", "copilot"), (ACP_OPENED, ACP)),
    "claude": (
        [],
        {
            "text": lambda text: claude("assistant", type="text", text=text),
            "thoughts": lambda text: claude("assistant", type="thinking", thinking=text),
            "output": claude_tool,
            "inputs": claude_input,
        },
    ),
    "codex": (
        CODEX_OPENED,
        {
            "text": lambda text: codex(type="agentMessage", text=text),
            "pieces": lambda text: [
                line(
                    method="item/agentMessage/delta",
                    params={"threadId": "th", "turnId": "t1", "itemId": "i", "delta": text},
                )
            ],
            "thoughts": lambda text: codex(type="reasoning", summary=[text]),
            "output": lambda text: codex(
                type="commandExecution", command="x", aggregatedOutput=text, exitCode=0
            ),
            "commands": lambda text: codex(type="commandExecution", command=text, exitCode=0),
        },
    ),
    "opencode": (
        OPENCODE_OPENED,
        {"text": opencode_text("text"), "thoughts": opencode_text("reasoning"), "output": opencode_tool},
    ),
    "aider": (
        [b"Aider v0.86.1", b"Model: m with whole edit format", b""],
        {"text": lambda text: [text.encode()]},
    ),
    "demo-first": (
        [line(type="start", session="s", model="m")],
        {
            "text": lambda text: [line(type="text", text=text)],
            "thoughts": lambda text: [line(type="thinking", text=text)],
            "output": lambda text: [line(type="tool_result", id="c", text=text)],
            "nonsense": lambda text: [f"no JSON {text}".encode(), text.encode()],
        },
    ),
}
KINDS = [(agent, kind) for agent, (_, kinds) in STREAMS.items() for kind in kinds]
OF_ONE_KIND = [one for one in KINDS if one[0] not in ("qwen", "copilot")]
"""Without those whose fold of these lines is Gemini's; that it is, a key letter by letter says of each."""


def events_of(
    agent: str, lines: Sequence[bytes], end: ProcessExit | None, assignment: Assignment
) -> list[Event]:
    stream = registry.load(agent).stream(assignment)
    steps = [stream.open(), *(stream.feed(one, 1.0) for one in (*STREAMS[agent][0], *lines))]
    return [event for step in (*steps, *([stream.finish(end, 2.0)] if end else [])) for event in step.events]


def splits(form: str) -> Iterator[tuple[str, str]]:
    return ((form[:at], form[at:]) for at in range(1, len(form)))


@pytest.mark.parametrize(("agent", "kind"), OF_ONE_KIND)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("live", [False, True], ids=["told", "told live"])
def test_a_key_in_two_pieces_of_a_stream_is_readable_in_neither_nor_in_both(agent, kind, key, live):
    """Every split offset, at the end of one message or chunk and at the beginning of the next."""
    say = STREAMS[agent][1][kind]
    assignment = LIVE if live else ASSIGNMENT
    for one, two in splits(key):
        lines = [*say(f"the key is {one}"), *say(f"{two} and no more.")]
        events = events_of(agent, lines, ProcessExit(0), assignment)
        assert "and no more" in json.dumps([event.to_json() for event in events]), "the stream told nothing"
        assert leaks(told(events), key) == [], (one, two)


@pytest.mark.parametrize(("agent", "kind"), KINDS)
def test_a_key_letter_by_letter_is_readable_nowhere(agent, kind):
    for key in KEYS.values():
        lines = [one for letter in key for one in STREAMS[agent][1][kind](letter)]
        events = events_of(agent, [*lines, *STREAMS[agent][1][kind](" and on.")], ProcessExit(0), LIVE)
        assert leaks(told(events), key) == []


@pytest.mark.parametrize(("agent", "kind"), OF_ONE_KIND)
@pytest.mark.parametrize("cut", [8_192, 16_384, 65_536])
def test_a_key_at_any_place_where_hub_cuts_a_text_is_hidden(agent, kind, cut):
    """The sizes of pieces, of one text and of one output, and the middles of these, where what is left out begins."""
    for size, key in itertools.product((cut // 2, cut), KEYS.values()):
        for before in range(1, len(key), 9):
            head = (FILLER * (cut // len(FILLER) + 1))[: size - before]
            text = f"{head}{key}{FILLER * (cut // len(FILLER) + 2)}"
            events = events_of(agent, STREAMS[agent][1][kind](text), ProcessExit(0), ASSIGNMENT)
            assert leaks(told(events), key) == [], before


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("key", [VENDORS, SHORT], ids=["of a vendor", "short"])
@pytest.mark.parametrize("kinds", list(itertools.product((EventType.TEXT, EventType.TOOL_RESULT), repeat=2)))
def test_every_form_in_two_events_of_any_two_kinds_is_hidden(form, key, kinds):
    written = form(key)
    for one, two in splits(written):
        for between in ("", "\n"):
            out = told([Event(kinds[0], f"it: {one}{between}"), Event(kinds[1], f"{two} is it")])
            assert leaks(out, written) == [], (one, two)


@pytest.mark.parametrize("meta", [{"delta": True}, {"more": True}, {}], ids=["live", "goes on", "messages"])
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_a_form_in_any_pieces_is_hidden_and_all_else_is_told(meta, form):
    """Pieces of one to forty letters, as they come; what is no key comes out as it went in."""
    rng = random.Random("pieces")
    written = form(VENDORS)
    for _ in range(30):
        text, pieces = f"begin {FILLER}{written} then {FILLER}end", []
        while text:
            size = rng.randint(1, 40)
            pieces, text = [*pieces, text[:size]], text[size:]
        out = told([Event(EventType.TEXT, piece, meta) for piece in pieces])
        said = "".join(event.content for event in out)
        assert leaks(out, written) == []
        assert said.startswith(f"begin {FILLER}")
        assert said.endswith(f" then {FILLER}end")


def test_the_copy_for_those_who_watch_and_the_text_itself_do_not_disturb_each_other():
    """Pieces of both come in turns: neither ends the other, and neither is told twice."""
    one, two = VENDORS[:20], VENDORS[20:]
    live, more = {"delta": True}, {"more": True}
    out = told([
        Event(EventType.TEXT, f"a {one}", live),
        Event(EventType.TEXT, f"a {one}", more),
        Event(EventType.TEXT, f"{two} b", live),
        Event(EventType.TEXT, f"{two} b"),
        Event(EventType.TOOL_USE, "ls", {"tool": "bash"}),
    ])  # fmt: skip
    for watched in (True, False):
        said = "".join(
            e.content for e in out if e.type is EventType.TEXT and bool(e.meta.get("delta")) is watched
        )
        assert re.fullmatch(r"a \[REDACTED:[^\]]+\] b", said)
    assert out[-1].content == "ls"


def test_a_private_key_over_the_border_of_two_pieces_and_of_a_long_output_is_hidden_to_its_end():
    """Nobody told hub of it: it is known by its first line only, so its text is searched before it is cut."""
    rng = random.Random("pem")
    rows = [
        "".join(rng.choices("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", k=64))
        for _ in range(30)
    ]
    pem = "\n".join(["-----BEGIN PRIVATE KEY-----", *rows, "-----END PRIVATE KEY-----"])
    for place in range(5_000, 9_000, 1_500):
        text = "x " * (place // 2) + pem + " y" * 8_000
        pieces = [text[at : at + 700] for at in range(0, len(text), 700)]
        lines = [one for piece in pieces for one in STREAMS["gemini"][1]["text"](piece)]
        for events in (
            events_of("gemini", lines, ProcessExit(0), LIVE),
            [Event(EventType.TOOL_RESULT, text)],
        ):
            assert not any(leaks(told(events), row) for row in rows[1:])


def test_what_waits_is_little_and_comes_with_the_end_of_the_message():
    """Text is not held from those who watch but for a word, and nothing is held behind a message's end."""
    red, said = redactor(), ""
    for number, word in enumerate((FILLER * 40).split()):
        said += "".join(
            event.content for event in red.feed(Event(EventType.TEXT, f"{word} ", {"delta": True}))
        )
        assert len(said) >= len(" ".join((FILLER * 40).split()[: number + 1])) - 16
    assert "".join(e.content for e in red.feed(Event(EventType.TEXT, f"it ends in {VENDORS[:6]}"))).endswith(
        VENDORS[:6]
    )
    assert red.flush() == []


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("between", [[], [("user", "Go on.")], [("user", "Go on."), ("assistant", "")]])
def test_a_key_in_two_turns_of_another_agents_session_is_readable_in_neither_nor_in_both(key, between):
    """What `hub detect` shows and an adoption takes over: who joins the turns, all or those of one role, reads no key."""
    red = Redactor(KNOWN, b"installation")
    for one, two in splits(key):
        turns = [("assistant", f"the key is {one}"), *between, ("assistant", f"{two} and no more.")]
        shown = red.value({"recentTurns": [{"role": role, "text": text} for role, text in turns]})[
            "recentTurns"
        ]
        assert shown[-1]["text"].endswith(" and no more.")
        assert [turn["role"] for turn in shown] == [role for role, _ in turns]
        for who in ({"user", "assistant"}, {"assistant"}):
            said = [Event(EventType.TEXT, turn["text"]) for turn in shown if turn["role"] in who]
            assert leaks(said, key) == [], (one, two)


@pytest.mark.parametrize("agent", STREAMS)
@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_key_that_standard_error_goes_on_with_or_begins_within_is_readable_nowhere(agent, key):
    """Its end alone is kept, so it may begin anywhere within a key; and a program may write half to each of its outputs."""
    say = STREAMS[agent][1]["text"]
    for one, two in splits(key):
        stream = registry.load(agent).stream(ASSIGNMENT)
        steps = [
            stream.open(),
            *(stream.feed(line, 1.0) for line in (*STREAMS[agent][0], *say(f"it is {one}"))),
        ]
        last = stream.finish(ProcessExit(1, stderr_tail=f"{two} is no key\nand {key[:-1]}"), 2.0)
        red = redactor()
        out = [safe for step in (*steps, last) for event in step.events for safe in red.feed(plain(event))]
        assert leaks([*out, *red.flush()], key) == [], (one, two)
        failure = last.outcome.failure if last.outcome else None
        if failure is not None:
            assert leaks([Event(EventType.TEXT, red.text(failure.text))], key) == []


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
def test_a_key_that_is_broken_over_the_lines_of_a_file_or_a_log_is_hidden_and_its_lines_stay(key):
    """What the diff route, the graph and the daemon's log show: every line on its line."""
    red = Redactor(KNOWN, b"installation")
    for one, two in splits(key):
        text = f"first\nkey: {one}\n    {two}\nlast\n"
        shown = hidden_in_place(red, text)
        assert shown.count("\n") == text.count("\n")
        assert (shown.startswith("first\n"), shown.endswith("\nlast\n")) == (True, True)
        assert leaks([Event(EventType.TEXT, shown)], key) == []
        record = logging.LogRecord("hub", logging.INFO, "f", 1, "%s", (text,), None)
        assert leaks([Event(EventType.TEXT, _Plain(red.text).format(record))], key) == []
