"""What a transcript tells becomes a contract's intent: the user's words as the goal, everything else as data."""

from __future__ import annotations

import attrs
from hypothesis import example, given
from hypothesis import strategies as st

from hub.domain.detection.adoption import (
    Opening,
    events,
    goal,
    intent_texts,
    lifted,
    opening_prompt,
    redacted,
    resumable,
    seen_work,
)
from hub.domain.detection.intel import SessionIntel, StoredTurn, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.event import EventType
from hub.domain.intent.fold import Intent, IntentFold, Touched


def told(*after) -> SessionIntel:
    """A transcript that begins so, and goes on with these: words of the agent, or what is done to the draft."""
    draft = IntelDraft()
    draft.cwd, draft.model = "/w", "m-1"
    draft.said("user", "Write a.py")
    draft.skill("deploy")
    draft.mcp("docs")
    for one in after:
        if isinstance(one, str):
            draft.said("assistant", one)
        else:
            one(draft)
    return draft.finish(StoreHit(provider="claude", path="/s"))


def planned(*steps):
    return lambda draft: draft.planned(steps)


def ran(command, code, text=""):
    def do(draft):
        draft.began(command, "Bash", command=command)
        draft.ended(command, text, exit_code=code)

    return do


def edited(path, *, failed=False):
    def do(draft):
        draft.began(path, "Edit", path=path)
        draft.ended(path, "no such text", failed=failed)
        if not failed:
            draft.touched(path)

    return do


def order(text):
    return lambda draft: draft.said("user", text)


WHOLE = (
    "Decision: keep the table.\nThe schema must not change.\nDone: the old index.",
    planned(("one", "completed"), ("two", "pending")),
    edited("/w/a.py"),
    edited("/w/b/c.py", failed=True),
    ran("make test", 2, "boom: two tests"),
    ran("ls", 0),
    order("Keep it short."),
    *(f"Word {number}." for number in range(20)),
    "Next step: mention it in the guide.",
)


def again(intent: Intent, turns) -> Intent:
    """What a session knows whose log holds these events."""
    fold = IntentFold(intent.initial_prompt, "/another/folder")
    for number, event in enumerate(events(intent, turns), 1):
        fold.feed(number, event)
    return fold.intent()


def texts(items):
    return [item.text for item in items]


def test_the_intent_is_all_of_the_transcripts_and_names_no_event():
    """Decision: a transcript has no place in hub's log, so nothing drawn from it may point there.

    Most of this was said longer ago than the 16 turns that are shown.
    """
    found = lifted(told(*WHOLE), "/w")
    assert found.initial_prompt == "Write a.py"
    assert (texts(found.plan), texts(found.tasks_remaining)) == (["one", "two"], ["two"])
    assert texts(found.do_not_redo) == ["one", "the old index."]
    assert texts(found.decisions) == ["keep the table."]
    assert texts(found.constraints) == ["The schema must not change.", "The user said: Keep it short."]
    assert [(one.command, one.exit_code) for one in found.commands] == [("make test", 2), ("ls", 0)]
    assert texts(found.failed_attempts) == [
        "Edit b/c.py ended with an error: no such text",
        "make test ended with exit status 2: boom: two tests",
    ]
    assert found.next_action.text == "mention it in the guide."
    assert (texts(found.skills_loaded), texts(found.mcps), found.model.text) == (["deploy"], ["docs"], "m-1")
    assert found.files == (Touched("a.py", written=True, source=0),)
    for field in attrs.fields(Intent):
        value = getattr(found, field.name)
        for item in value if isinstance(value, tuple) else (value,):
            assert getattr(item, "source", 0) == 0


def test_a_transcript_without_a_plan_says_nothing_about_one():
    found = lifted(told(), "")
    assert (found.plan, found.tasks_remaining, found.next_action) == ((), (), None)
    assert lifted(SessionIntel(initial_prompt="Write a.py"), "/w").model is None


def test_what_the_newest_turns_say_themselves_is_told_once_and_the_task_only_as_such():
    intel = told("Decision: keep the table.", order("Keep it short."), "Done: the index.")
    found = list(events(lifted(intel, "/w"), intel.recent_turns))
    said = [event.content for event in found if event.type is EventType.TEXT]
    assert said == ["Decision: keep the table.", "Keep it short.", "Done: the index."]
    assert all(event.meta["adopted"] for event in found)


moves = st.sampled_from(
    [
        "Decision: x", "Next: y", "Next up: z.md", "Done: y.", "It must not break.", "Now let me run it.",
        "Plan:\n1. one\n2. two", "Step 1 is done.", "Nothing.", *(f"Word {number}." for number in range(9)),
        planned(("one", "pending"), ("two", "completed")), planned(("one", "completed")),
        edited("/w/a.py"), edited("/w/a.py", failed=True), order("Be quick."), order("Never push."),
        ran("make test", 1, "no"), ran("make test", 0), ran("make test && ls", 0), ran("ls > z.md", None),
        ran("which x", 1),
    ]
)  # fmt: skip


KEPT = (
    "plan",
    "tasks_remaining",
    "decisions",
    "constraints",
    "do_not_redo",
    "failed_attempts",
    "skills_loaded",
    "mcps",
)


@given(st.lists(moves, max_size=30))
@example([*WHOLE])
def test_no_transcript_loses_anything_on_its_way_into_the_log(sequence):
    """The next session knows all of it from its own log: its later handoffs are drawn from that alone."""
    intel = told(*sequence)
    first = lifted(intel, "/w")
    later = again(first, intel.recent_turns)
    for name in KEPT:
        assert sorted(texts(getattr(later, name))) == sorted(texts(getattr(first, name))), name
    assert {(c.command, c.exit_code, c.failed) for c in later.commands} == {
        (c.command, c.exit_code, c.failed) for c in first.commands
    }
    assert [(f.path, f.written) for f in later.files] == [(f.path, f.written) for f in first.files]
    assert later.model.text == first.model.text
    if first.next_action is not None:
        assert later.next_action.text == first.next_action.text


def test_the_goal_is_the_first_prompt_else_the_first_turn_of_the_users():
    assert goal(told("Hello.")) == "Write a.py"
    turns = (StoredTurn("assistant", "Hello."), StoredTurn("user", " Go\x1b[2J on. "))
    assert goal(SessionIntel(recent_turns=turns)) == "Go on."
    assert goal(SessionIntel(recent_turns=turns[:1])) == ""


def test_redacted_texts_take_the_place_of_the_agents():
    """Every text of the intent too: a command line is where secrets stand."""
    intel = told(
        "Decision: use hunter2.", ran("curl -u me:hunter2 x", 1, "hunter2 is wrong"), edited("/w/hunter2")
    )
    secret = intent_texts(intel.intent)
    assert sum("hunter2" in text for text in secret) >= 4
    shown = {
        "model": "m", "initialPrompt": "p", "plan": ["x"], "tasksRemaining": [], "filesTouched": ["f"], "skills": [],
        "mcps": [], "recentTurns": [{"role": "user", "text": str(number)} for number in range(2)],
        "intent": [text.replace("hunter2", "[REDACTED]") for text in secret],
    }  # fmt: skip
    found = redacted(intel, shown)
    assert (found.initial_prompt, found.plan, found.files_touched) == ("p", ("x",), ("f",))
    assert [(turn.role, turn.text) for turn in found.recent_turns] == [("user", "0"), ("assistant", "1")]
    assert "hunter2" not in str(lifted(found, "/w"))
    assert texts(found.intent.decisions) == ["use [REDACTED]."]
    assert found.intent.commands[0].exit_code == 1
    assert redacted(attrs.evolve(intel, intent=None), shown).intent is None


def test_a_program_is_opened_with_its_own_session_where_it_has_one():
    opening = Opening(("-i", "{prompt}"), resume=("--resume", "{session}"))
    assert opening.arguments(prompt="p {brief}", brief="/b", session="s-1") == ["--resume", "s-1"]
    assert opening.arguments(prompt="p {brief}", brief="/b") == ["-i", "p {brief}"]
    assert Opening(("--read", "{brief}")).arguments(prompt="p", brief="/b", session="s") == ["--read", "/b"]
    assert "\n" not in opening_prompt("/b")


def test_a_session_id_that_could_be_an_option_or_a_path_is_given_to_nobody():
    """Security: a store's text becomes an argument of a program."""
    assert resumable("01a1fe0c-897b-7642")
    assert not any(map(resumable, ("", "--yolo", "../x", "a b", "a\n", "a" * 200)))


def test_what_the_transcript_tells_beside_the_intent():
    """Where it worked, what it wrote, its last turns; none of the user's, whose words are the goal or an order."""
    intel = told("I look.", lambda draft: draft.said("user", "Be quick."), *(f"Turn {n}." for n in range(9)))
    intel = attrs.evolve(intel, files_touched=("/w/a.py", "/elsewhere/b.py"))
    seen = seen_work(intel, lifted(intel, "/w"), "/w")
    assert [(one.kind, one.text) for one in seen] == [
        ("folder", "/w"),
        ("wrote", "a.py"),
        ("wrote", "/elsewhere/b.py"),
        *(("turn", f"Turn {n}.") for n in range(3, 9)),
    ]
    assert seen_work(told(), lifted(told(), ""), "") == ()
