"""What an event looks like on a terminal, and a handoff as a picture."""

import attrs
import click
from hypothesis import given
from hypothesis import strategies as st

from hub.api.history import HistoryEntry
from hub.cli.terminal.screen import Screen, block, gauge, line, whole
from hub.cli.terminal.timeline import pictures
from hub.domain.event import Tag
from tests.sample import sample

STATES = ("PAUSING", "SNAPSHOTTED", "ENVELOPE_BUILT", "DISPATCHED", "RESUMING", "RUNNING")


def record(tag="text", msg="hello", **meta):
    """A record of the event log."""
    return {"id": 1, "ts": "12:34:56.789", "tag": tag, "msg": msg, "meta": meta}


def plain(entry):
    """Without colours."""
    return click.unstyle(line(entry))


def test_time_who_and_what():
    """The one line of a record."""
    assert plain(record(provider="claude")) == "12:34:56 claude         hello"
    assert (
        plain({"id": 1, "ts": "12:34:56.789", "tag": "system", "msg": "up"}) == "12:34:56              * up"
    )


def test_every_tag_has_a_look_of_its_own():
    """No record falls through, and marks tell them apart without colours too."""
    marks = {plain(record(tag=str(tag)))[22:24] for tag in Tag}
    assert len(marks) == len(list(Tag))
    assert "? " not in marks


def test_a_quota_is_a_gauge():
    """Used is in per mille, as everywhere."""
    assert "[#######---] 72 % of the 5-hour quota" in plain(
        record("quota", "x", used=720, window="five_hour")
    )
    assert "12,400 tokens in, 910 out" in plain(record("quota", "x", tokensIn=12400, tokensOut=910))
    assert plain(record("quota", "breaker open")).endswith("breaker open")


def test_an_error_tells_its_next_step_on_a_line_of_its_own():
    """The hint stood behind a command's output and was cut off with it."""
    failed = record("error", "It failed.\n" + "\n".join(f"line {n}" for n in range(30)), hint="Mend it.")
    assert plain(failed).endswith("! It failed.")
    first, *below = [click.unstyle(text) for text in block(failed)]
    assert first == plain(failed)
    assert [text.strip() for text in below] == [*(f"line {n}" for n in range(18, 30)), "next: Mend it."]
    assert {text[:24] for text in below} == {" " * 24}, "below the words"
    long = record("error", "It failed.\n" + "x" * 1000, hint="Mend it.")
    assert max(map(len, block(long))) < 200


def test_a_record_is_one_line_unless_it_is_an_error():
    """An agent's own errors and texts are shortened, as ever."""
    for entry in (record("text", "a\nb"), record("error", "a\nb"), record("quota", "x", used=720)):
        assert block(entry) == [line(entry)]


def test_the_whole_of_a_record_has_every_line():
    """What an agent answered could not be read anywhere but in --json."""
    answer = "\n".join(["Here is why:", "", "  1. " + "because " * 50])
    drawn = [click.unstyle(text) for text in whole(record("text", answer))]
    assert drawn[0] == "12:34:56                Here is why:"
    assert drawn[1] == ""
    assert drawn[2] == " " * 24 + "  1. " + ("because " * 50).rstrip()
    verify = record("error", "verify failed (exit 1): make", exitCode=1, output="one\ntwo\n")
    assert [text.strip() for text in whole(verify)[1:]] == ["one", "two"]
    assert whole(record("error", "It failed.", hint="Mend it."))[-1].strip() == "next: Mend it."
    assert click.unstyle(whole(record("text", ""))[0]).rstrip() == "12:34:56"


def test_a_path_begins_where_the_agent_works():
    """The worktree's long path in front of every file told nobody anything."""
    place = "/home/me/app/.hub/worktrees/s-6b01e70b-6a59c25f"
    assert plain(record("tool_use", f"Write {place}/src/a.py")).endswith("> Write src/a.py")
    assert plain(record("tool_result", f"made: {place}/a 'b' {place}/c")).endswith("< made: a 'b' c")
    assert plain(record("text", f"{place}/a")).endswith(f"{place}/a"), "an agent's own words stay"


def test_hub_speaks_of_windows_and_times_as_people_do():
    """Names of the protocol and milliseconds are for programs: `hub logs --json` has them."""
    told = plain(record("quota", "claude/work five_hour 100 % used, resets 2026-11-21T20:46:39.000Z"))
    assert told.endswith("% claude/work 5-hour quota 100 % used, resets 21 Nov 20:46")


def test_why_is_said_once_a_handoff():
    """At its first move; the five that follow have the same reason."""
    first = {"from": "RUNNING", "to": "PAUSING"}
    said = plain(record("handoff", "RUNNING -> PAUSING (five_hour at 100 %)", **first))
    assert said.endswith("= RUNNING -> PAUSING (5-hour quota at 100 %)")
    second = {"from": "PAUSING", "to": "SNAPSHOTTED"}
    said = plain(record("handoff", "PAUSING -> SNAPSHOTTED (five_hour at 100 %)", **second))
    assert said.endswith("= PAUSING -> SNAPSHOTTED")


def test_your_reply_is_shown_once_and_as_yours():
    """It stood there twice, the second time as the agent's echo, and each time as if the agent had said it."""
    screen = Screen()
    said, echo = record(msg="blue", role="user"), record("system", "blue", type="system", role="user")
    assert [plain(one)[24:] for one in (said, echo) if screen.shows(one)] == ["you: blue"]


def test_the_last_words_are_shown_once():
    """Claude Code, Codex and others say them as text, and again as the result of their run."""
    screen = Screen()
    result = record("system", "It is done.", type="result")
    assert screen.shows(record("text", "It is done.", type="text"))
    assert not screen.shows(result)
    assert Screen().shows(result), "an agent that says it only as its result is heard"


def test_pieces_of_text_wait_for_their_whole():
    """A live view is not flooded with tokens."""
    assert Screen().shows(record())
    assert not Screen().shows(record(delta=True))
    assert not Screen().shows(record(amends=7)), "what is told late is summed up in an event of hub's"
    assert not Screen().shows(record("system", "Plan", type="system", plan=["a"], amends=7))
    assert Screen().shows(record("system", "Codex runs in /elsewhere", detected="codex:1"))


@given(st.text(max_size=2000))
def test_any_text_is_one_line_of_bounded_width(text):
    """Whatever an agent says, a record stays a line."""
    said = plain(record(msg=text))
    assert len(said.splitlines()) == 1
    assert len(said) <= 200


@given(st.integers(-100, 2000))
def test_a_gauge_has_always_the_same_width(used):
    """Also for a quota that is overdrawn."""
    assert len(gauge(used)) == 12
    assert gauge(used).count("#") == max(0, min(10, round(used / 100)))


def moves(spans, start=0, reason="the usage limit is reached", session="s-1"):
    """History rows of one handoff that stood so many milliseconds in each state."""
    rows, at, before = [], start, "RUNNING"
    for state, spent in zip(STATES, [*spans, 0], strict=True):
        ts = f"2026-01-01T00:{at // 60000:02}:{at // 1000 % 60:02}.{at % 1000:03}Z"
        move = {"source": before, "target": state, "reason": reason}
        agent = "codex" if state == "RUNNING" else "claude"
        row = sample(HistoryEntry, event="handoff", ts=ts, sessionId=session, move=move, provider=agent)
        rows.append(attrs.evolve(row, account="a"))
        before, at = state, at + spent
    return rows


def test_a_handoff_is_drawn_state_by_state():
    """Each state's own time, and the sum."""
    drawn = [click.unstyle(text) for text in pictures(moves([100, 200, 0, 300, 400]))]
    assert drawn[1] == "handed over in 1000 ms: the usage limit is reached"
    assert [row.split()[0] for row in drawn[2:]] == list(STATES)
    assert [row.split()[-2] for row in drawn[2:-1]] == ["100", "200", "0", "300", "400"]
    assert drawn[-1].endswith(", claude/a -> codex/a")


def test_a_score_below_100_says_why():
    """`fidelity 73` alone sent its reader into the event log."""
    rows = moves([1, 1, 1, 1, 1])
    rows[-1] = attrs.evolve(rows[-1], hfs=73, missing=["files: a.py"], unsupported=["next: done installed."])
    assert [click.unstyle(text) for text in pictures(rows)[-3:]] == [
        "  fidelity 73 of 100:",
        "    not handed over: files: a.py",
        "    said, but nothing shows it: next: done installed.",
    ]


def test_a_handoff_that_nobody_took_is_not_drawn_as_one():
    """A receiver that could not start was "handed over in 84616 ms ... with the next agent"."""
    given_up = moves([100, 200, 0, 300, 84_016])
    given_up[-1] = attrs.evolve(given_up[-1], move=attrs.evolve(given_up[-1].move, abandoned=True))
    assert pictures(given_up) == []


@given(st.lists(st.integers(0, 20_000), min_size=5, max_size=5))
def test_bars_stay_in_their_frame(spans):
    """Whatever the times: equal widths, no bar without a mark."""
    drawn = [click.unstyle(text) for text in pictures(moves(spans))][2:-1]
    bars = [row.split("|")[1] for row in drawn]
    assert {len(bar) for bar in bars} == {36}
    assert all("#" in bar for bar in bars)


def test_only_whole_handoffs_are_drawn():
    """One that was broken off, and one that began before the rows did, are no pictures."""
    whole = moves([1, 1, 1, 1, 1], start=5000, reason="second")
    broken = moves([1, 1, 1, 1, 1])[:3]
    other = sample(HistoryEntry, event="agent_event", ts="2026-01-01T00:00:00.000Z", summary="x")
    drawn = [text for text in pictures([*broken, other, *whole]) if "handed over" in text]
    assert len(drawn) == 1
    assert "second" in drawn[0]
    assert pictures(whole[2:]) == []


def test_two_sessions_hand_over_at_once():
    """Each handoff has its own steps: the one that began later hid the other, and was drawn with its end."""
    mine, other = moves([100, 200, 0, 300, 400]), moves([9, 9, 9, 9, 9], start=50, session="s-2")
    rows = sorted([*mine, *other], key=lambda row: row.ts)
    assert [text.split(":")[0] for text in map(click.unstyle, pictures(rows)) if "handed over" in text] == [
        "handed over in 1000 ms",
        "handed over in 45 ms",
    ]
    assert [text.split(", ")[-1] for text in pictures(rows) if "->" in text] == ["s-1", "s-2"]
