"""What a transcript tells becomes a contract's intent: the user's words as the goal, everything else as data."""

from __future__ import annotations

from hub.domain.adoption import Opening, events, goal, lifted, opening_prompt, redacted, resumable
from hub.domain.event import EventType
from hub.domain.intel import SessionIntel, Turn

INTEL = SessionIntel(
    initial_prompt="Write a.py",
    model="m-1",
    plan=("one", "two"),
    tasks_remaining=("two",),
    files_touched=("/w/a.py", "/w/b/c.py"),
    skills=("deploy",),
    mcps=("docs",),
    recent_turns=(Turn("user", "Write a.py"), Turn("assistant", "Done."), Turn("user", "Keep it short.")),
)


def test_the_intent_is_the_transcripts_and_names_no_event():
    """Decision: a transcript has no place in hub's log, so nothing drawn from it may point there."""
    found = lifted(INTEL, "/w")
    assert found.initial_prompt == "Write a.py"
    assert [item.text for item in found.plan] == ["one", "two"]
    assert [item.text for item in found.tasks_remaining] == ["two"]
    assert [item.text for item in found.do_not_redo] == ["one"]
    assert [item.text for item in found.constraints] == ["The user said: Keep it short."]
    assert [item.text for item in found.skills_loaded] == ["deploy"]
    assert [item.text for item in found.mcps] == ["docs"]
    assert [file.path for file in found.files] == ["a.py", "b/c.py"]
    assert (found.model.text, found.next_action.text) == ("m-1", "two")
    sources = (*found.plan, *found.constraints, *found.mcps, found.model, found.next_action)
    assert {item.source for item in sources} == {0}


def test_a_transcript_without_a_plan_says_nothing_about_one():
    found = lifted(SessionIntel(initial_prompt="Write a.py"), "/w")
    assert (found.plan, found.tasks_remaining, found.model, found.next_action) == ((), (), None, None)


def test_the_goal_is_the_first_prompt_else_the_first_turn_of_the_users():
    assert goal(INTEL) == "Write a.py"
    turns = (Turn("assistant", "Hello."), Turn("user", " Go\x1b[2J on. "))
    assert goal(SessionIntel(recent_turns=turns)) == "Go on."
    assert goal(SessionIntel(recent_turns=turns[:1])) == ""


def test_events_tell_the_task_only_once():
    told = list(events(INTEL))
    assert [event.content for event in told if event.type is EventType.TEXT] == ["Done.", "Keep it short."]
    assert all(event.meta["adopted"] for event in told)
    assert told[0].meta["tasksRemaining"] == ["two"]


def test_redacted_texts_take_the_place_of_the_agents():
    shown = {
        "model": "m", "initialPrompt": "p", "plan": ["x"], "tasksRemaining": [], "filesTouched": ["f"], "skills": [],
        "mcps": [], "recentTurns": [{"role": "user", "text": str(number)} for number in range(3)],
    }  # fmt: skip
    found = redacted(INTEL, shown)
    assert (found.initial_prompt, found.plan, found.files_touched) == ("p", ("x",), ("f",))
    assert [(turn.role, turn.text) for turn in found.recent_turns] == [
        ("user", "0"),
        ("assistant", "1"),
        ("user", "2"),
    ]


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
