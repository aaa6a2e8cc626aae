"""A conversation of an editor with a real daemon: prompt, permission, cancel, wall, handoff, load, restarts."""

import json

import pytest

from tests.faults.harness import git, project
from tests.hub.acp.kit import ALLOW, REJECT, editor, opened
from tests.hub.cli.command import hub
from tests.waiting import Gate, until

LIMIT = {"limit": {"resetsIn": 3600}}
DONE = {"done": "made it"}


def write(path="made.txt", text="made\n"):
    return {"write": {"path": path, "text": text}}


@pytest.fixture
def work(tmp_path):
    with project(tmp_path) as made:
        yield made


def ready(work, *steps, second=(), **more):
    work.script("demo-first", *steps)
    work.script("demo-second", *second or ({"say": "going on"}, DONE))
    work.configure(**more)
    return work.start()


def test_a_prompt_is_worked_on_and_shown(work):
    """Text, thought, tool calls with places and diff, the acceptance commands, and how it ended."""
    ready(
        work,
        {"think": "hm"},
        {"say": "I write it."},
        write(),
        {"run": "echo out; exit 3"},
        DONE,
        session='verify = ["test -f made.txt"]\n',
    )
    with editor(work) as ed:
        session = ed.new()
        answer = ed.prompt("make it")
    assert answer["result"]["stopReason"] == "end_turn"
    assert ed.words("agent_thought_chunk").strip() == "hm"
    assert "I write it." in ed.words()
    assert "made it" in ed.words()
    assert "Done, and the acceptance commands say so." in ed.words()
    assert ed.words("user_message_chunk") == "", "the editor shows its own prompt"
    assert {"sessionUpdate": "session_info_update", "title": "make it"} in ed.updates
    tree = work.hub / "worktrees" / session
    calls = list(ed.calls().values())
    by_title = {call["title"]: call for call in calls}
    wrote = by_title["write made.txt"]
    assert (wrote["kind"], wrote["status"]) == ("edit", "completed")
    assert wrote["locations"] == [{"path": str(tree / "made.txt")}]
    assert {"type": "diff", "path": str(tree / "made.txt"), "oldText": None, "newText": "made\n"} in wrote[
        "content"
    ]
    ran = by_title["run echo out; exit 3"]
    assert (ran["kind"], ran["status"], ran["rawOutput"]) == ("execute", "failed", {"exitCode": 3})
    assert by_title["verify: test -f made.txt"]["status"] == "completed"
    assert calls[-1]["title"].startswith(f"Changes on hub/{session}: 1 file changed")
    assert git(work.root, "show", f"hub/{session}:made.txt") == "made"


def test_a_question_ends_the_turn_and_the_next_prompt_answers_it(work):
    ready(work, {"ask": "Which one?"}, write(), DONE)
    with editor(work) as ed:
        ed.new()
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
        assert "Which one?" in ed.words()
        assert not work.ended()
        assert ed.prompt("that one")["result"]["stopReason"] == "end_turn"
    assert work.ended()["sessionState"] == "completed"
    assert len(work.starts()) == 1, "it was a reply, to the same agent"
    assert ed.words("user_message_chunk") == ""


@pytest.mark.parametrize(("answer", "status"), [(None, "completed"), (REJECT, "failed")])
def test_a_permission_is_asked_with_the_whole_command(work, answer, status):
    command = "rm -rf " + "very/long/" * 40 + "build"
    api = ready(work, {"approve": command}, DONE)
    with editor(work) as ed:
        session = ed.new()
        if answer:
            ed.permit = lambda _: answer
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
    [asked] = [one["params"] for one in ed.asked]
    assert asked["sessionId"] == session
    assert asked["toolCall"]["rawInput"] == {"command": command}
    assert command in asked["toolCall"]["content"][0]["content"]["text"]
    assert {option["kind"] for option in asked["options"]} >= {"allow_once", "reject_once"}
    assert ed.calls()[asked["toolCall"]["toolCallId"]]["status"] == status
    assert api.get("/api/approvals") == []


def test_a_permission_that_is_given_elsewhere_is_asked_no_longer(work):
    api = ready(work, {"approve": "rm -rf build"}, DONE)
    with editor(work) as ed:
        ed.new()

        def elsewhere(asked):
            api.post(f"/api/approvals/{asked['toolCall']['toolCallId']}", {"approved": True})

        ed.permit = elsewhere
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
    assert [(one["method"], one["params"]) for one in ed.told] == [
        ("$/cancel_request", {"requestId": ed.asked[0]["id"]})
    ]


def test_the_wall_and_the_handoff_are_notes_and_the_work_goes_on(work):
    ready(work, write(), LIMIT, second=({"say": "going on"}, write("more.txt"), DONE))
    with editor(work) as ed:
        session = ed.new()
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
    said = ed.words()
    wall = said.index("handing the work over: the usage limit is reached")
    handed = said.index("demo-second goes on with the work.")
    assert wall < handed < said.rindex("going on") < said.index("made it")
    assert said.count("goes on with the work") == 1
    assert git(work.root, "show", f"hub/{session}:more.txt") == "made"


def test_load_comes_back_after_a_restart_of_everything(work):
    """The same words and calls in the same order; what is not over goes on from there."""
    ready(work, {"say": "First."}, write(), {"ask": "Which one?"}, {"say": "Thanks."}, DONE)
    with editor(work) as ed:
        session = ed.new()
        ed.prompt("make it")
    live, calls = ed.words(), ed.calls()
    work.kill()
    work.start()
    with editor(work) as again:
        loaded = again.load(session)["result"]
        assert {option["id"] for option in loaded["configOptions"]} == {"agent", "profile"}
        assert again.words("user_message_chunk") == "make it"
        assert again.words() == live
        assert set(calls) <= set(again.calls())
        before = len(again.updates)
        assert again.prompt("that one")["result"]["stopReason"] == "end_turn"
        told = again.updates[before:]
    assert "Thanks." in again.words()
    assert not any(update["sessionUpdate"] == "user_message_chunk" for update in told)
    assert work.ended()["sessionState"] == "completed"


def test_what_is_resumed_is_not_told_again_but_known(work):
    """Who goes on with the work of whom is said in a conversation that the editor shows already."""
    ready(work, {"say": "First."}, {"ask": "Which one?"}, LIMIT)
    with editor(work) as ed:
        session = ed.new()
        ed.prompt("make it")
    with editor(work) as again:
        again.session = session
        assert "result" in again.ask("session/resume", sessionId=session, cwd=str(work.root), mcpServers=[])
        assert again.updates == []
        assert again.prompt("that one")["result"]["stopReason"] == "end_turn"
    assert "demo-second goes on with the work." in again.words()


def test_a_daemon_killed_in_the_middle_of_a_turn_is_started_again_and_nothing_is_doubled(work, tmp_path):
    with Gate(tmp_path / "gate") as gate:
        ready(work, {"say": "Before."}, {"run": gate.command}, {"say": "After."}, DONE)
        with editor(work) as ed:
            ed.new()
            turn = ed.say("make it")
            ed.until(lambda update: update.get("title") == f"run {gate.command}")
            killed = work.daemon.pid
            work.kill()
            until(lambda: work.announced() not in (0, killed), "the editor's agent starts another daemon")
            gate.open()
            assert ed.answer_to(turn)["result"]["stopReason"] == "end_turn"
    said = ed.words()
    assert [said.count(words) for words in ("Before.", "After.", "made it")] == [1, 1, 1]
    assert len(work.starts()) == 1


def test_a_prompt_after_the_end_goes_on_with_the_work(work, tmp_path):
    """The next session begins where the one before ended, its agent is told what was asked before; one conversation."""
    ready(work, write(), DONE)
    with editor(work) as ed:
        session = ed.new()
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
        work.script("demo-first", {"run": "cat made.txt"}, write("more.txt"), DONE)
        assert ed.prompt("and more")["result"]["stopReason"] == "end_turn"
        assert ed.words("user_message_chunk") == ""
        live = ed.words()
        rows = ed.ask("session/list")["result"]["sessions"]
    assert [row["sessionId"] for row in rows] == [session]
    assert git(work.root, "show", f"hub/{session}-2:made.txt") == "made"
    assert git(work.root, "show", f"hub/{session}-2:more.txt") == "made"
    assert next(call for call in ed.calls().values() if call["title"] == "run cat made.txt")["rawOutput"] == {
        "exitCode": 0
    }
    with editor(work) as again:
        again.load(session)
        assert again.words("user_message_chunk") == "make itand more"
        assert again.words() == live
        work.script("demo-first", write("third.txt"), DONE)
        assert again.prompt("and a third")["result"]["stopReason"] == "end_turn"
    assert git(work.root, "show", f"hub/{session}-3:more.txt") == "made"


def test_cancel_ends_the_turn_keeps_the_work_and_the_next_prompt_goes_on_from_there(work, tmp_path):
    with Gate(tmp_path / "gate") as gate:
        ready(work, write(), {"run": gate.command}, DONE)
        with editor(work) as ed:
            session = ed.new()
            turn = ed.say("make it")
            ed.until(lambda update: update.get("title") == f"run {gate.command}")
            ed.notify("session/cancel", sessionId=session)
            assert ed.answer_to(turn)["result"]["stopReason"] == "cancelled"
            assert work.ended()["sessionState"] == "stopped"
            assert git(work.root, "show", f"hub/{session}:made.txt") == "made"
            work.script("demo-first", write("more.txt"), DONE)
            assert ed.prompt("no, this")["result"]["stopReason"] == "end_turn"
    assert git(work.root, "show", f"hub/{session}-2:made.txt") == "made"
    assert git(work.root, "show", f"hub/{session}-2:more.txt") == "made"


def test_the_session_goes_on_without_the_editor_and_a_new_one_comes_back_to_it_live(work, tmp_path):
    with Gate(tmp_path / "gate") as gate:
        api = ready(
            work, {"say": "Before."}, {"run": gate.command}, {"ask": "And now?"}, {"say": "After."}, DONE
        )
        with editor(work) as ed:
            session = ed.new()
            ed.say("make it")
            ed.until(lambda update: update.get("title") == f"run {gate.command}")
            assert ed.leave() == 0
        assert api.get("/api/status")["sessionState"] == "running"
        with editor(work) as again:
            again.load(session)
            assert "Before." in again.words()
            assert "And now?" not in again.words()
            gate.open()
            again.until(lambda update: "And now?" in str(update))
            api.post("/api/session/reply", {"reply": "said in another face"})
            again.until(lambda update: "After." in str(update))
            again.until(
                lambda update: str(update.get("title", "")).startswith("Changes") or "Done" in str(update)
            )
    assert again.words("user_message_chunk") == "make itsaid in another face"
    assert again.words().count("Before.") == again.words().count("After.") == 1


def test_what_waits_for_a_permission_is_asked_again_after_a_load(work):
    api = ready(work, {"approve": "rm -rf build"}, DONE)
    with editor(work) as ed:
        session = ed.new()
        ed.permit = lambda _: None
        ed.say("make it")
        until(lambda: api.get("/api/approvals"), "it is asked")
        assert ed.leave() == 0
    with editor(work) as again:
        again.load(session)
        again.until(lambda update: "made it" in str(update))
    assert [one["params"]["toolCall"]["rawInput"] for one in again.asked] == [{"command": "rm -rf build"}]


def test_always_holds_for_the_very_same_command(work):
    ready(work, {"approve": "make"}, {"approve": "make"}, {"approve": "make install"}, DONE)
    with editor(work) as ed:
        ed.new()
        ed.permit = lambda _: {"outcome": {"outcome": "selected", "optionId": "allow_always"}}
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
    assert [one["params"]["toolCall"]["rawInput"]["command"] for one in ed.asked] == ["make", "make install"]


def test_cancel_while_a_permission_is_asked(work):
    """The editor answers its open question with `cancelled`: nothing is allowed by that."""
    ready(work, {"approve": "rm -rf build"}, {"run": "touch allowed"}, DONE)
    with editor(work) as ed:
        session = ed.new()

        def cancel(_):
            ed.notify("session/cancel", sessionId=session)
            return {"outcome": {"outcome": "cancelled"}}

        ed.permit = cancel
        assert ed.prompt("make it")["result"]["stopReason"] == "cancelled"
    assert work.ended()["sessionState"] == "stopped"
    assert "allowed" not in git(work.root, "ls-tree", "--name-only", f"hub/{session}")


def test_what_begins_while_another_works_waits_for_its_turn_and_can_be_cancelled(work, tmp_path):
    with Gate(tmp_path / "gate") as gate:
        api = ready(work, {"run": gate.command}, DONE)
        first = api.post("/api/run", {"task": "first"})["sessionId"]
        with editor(work) as ed:
            session = ed.new()
            turn = ed.say("second")
            ed.until(lambda update: "waits for its turn, as number 1" in str(update))
            ed.notify("session/cancel", sessionId=session)
            assert ed.answer_to(turn)["result"]["stopReason"] == "cancelled"
            assert ed.words().count("waits for its turn") == 1, "the log tells it, and so nobody else does"
            gate.open()
            until(work.ended, "the first ends")
            assert work.ended()["sessionId"] == first
            assert work.ended()["sessionState"] == "completed"
            work.script("demo-first", write(), DONE)
            assert ed.prompt("now")["result"]["stopReason"] == "end_turn"
            assert ed.prompt("and again")["result"]["stopReason"] == "end_turn"
    assert git(work.root, "show", f"hub/{session}-3:made.txt") == "made"


def test_an_editor_that_cannot_ask_decides_nothing(work):
    """What waits goes on waiting for another face."""
    api = ready(work, {"approve": "rm -rf build"}, DONE)
    with editor(work) as ed:
        ed.new()
        ed.permit = lambda _: None
        turn = ed.say("make it")
        while not ed.asked:
            ed.take(ed.read())
        ed.send({"jsonrpc": "2.0", "id": ed.asked[0]["id"], "error": {"code": -32601, "message": "no"}})
        [waiting] = api.get("/api/approvals")
        api.post(f"/api/approvals/{waiting['id']}", {"approved": True})
        assert ed.answer_to(turn)["result"]["stopReason"] == "end_turn"


def test_an_agent_that_attacks_whoever_looks_reaches_no_editor(work):
    """Toad is a terminal: no update has what a terminal acts on."""
    evil = "a\x1b]52;c;ZXZpbA==\x07b\x1b[2Jc\x9b31m\u202ee\u200b\r\x7f"
    name = "n\x1b[2J\x9b1m\u202e.txt"
    script = (
        {"say": evil},
        {"think": evil},
        {"write": {"path": name, "text": evil}},
        {"run": f"printf '{evil}'"},
    )
    ready(
        work,
        *script,
        {"approve": evil},
        {"limit": {"resetsIn": 3600, "text": evil}},
        second=({"ask": evil}, DONE),
    )
    with editor(work) as ed:
        ed.new()
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
    wire = json.dumps([*ed.updates, *ed.asked], ensure_ascii=False)
    assert "\\u001b" not in wire
    assert not set(wire) & set("\x07\x9b\u202e\u200b\x7f")


def test_a_refusal_to_begin_is_said_with_the_next_step_and_the_session_stays_usable(work):
    ready(work, DONE)
    with editor(work) as ed:
        ed.new()
        config = work.root / "hub.toml"
        config.write_text(config.read_text() + "\nbroken = [")
        error = ed.prompt("make it")["error"]
        assert error["data"]["code"] == "config_invalid"
        work.configure()
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
    assert "made it" in ed.words()


def test_a_session_that_is_opened_twice_is_told_once(work):
    api = ready(work, {"ask": "Which?"}, {"say": "After."}, DONE)
    with editor(work) as ed:
        session = ed.new()
        ed.prompt("make it")
        ed.load(session)
        ed.load(session)
        before = len(ed.updates)
        api.post("/api/session/reply", {"reply": "that"})
        ed.until(lambda update: str(update.get("title", "")).startswith("Changes") or "Done" in str(update))
        assert ed.ask("session/list")["result"]["sessions"], "nothing more was on its way"
    told = str(ed.updates[before:])
    assert (told.count("After."), told.count("made it")) == (1, 1)


def test_two_editors_have_one_conversation(work):
    """Both are asked and told; one answers, and what one goes on with the other sees, and does not begin again."""
    ready(work, {"approve": "make"}, DONE)
    with editor(work) as ed, opened(work.root, work.environ()) as other:
        session = ed.new()
        ed.permit = lambda _: None
        turn = ed.say("make it")
        while not ed.asked:
            ed.take(ed.read())
        other.hello()
        assert "result" in other.load(session)
        other.until(lambda update: "made it" in str(update))
        assert ed.answer_to(turn)["result"]["stopReason"] == "end_turn"
        [put_away] = ed.told
        assert put_away["params"] == {"requestId": ed.asked[0]["id"]}
        work.script("demo-first", write(), DONE)
        assert other.prompt("and more")["result"]["stopReason"] == "end_turn"
        work.script("demo-first", {"run": "cat made.txt"}, DONE)
        third = ed.prompt("and a third")
        assert third.get("result", third).get("stopReason") == "end_turn", third
        assert ed.words("user_message_chunk") == "and more"
        other.until(lambda update: "and a third" in str(update))
    assert git(work.root, "show", f"hub/{session}-3:made.txt") == "made"


def test_what_is_cancelled_before_its_first_word_is_cancelled(work):
    ready(work, write(), DONE)
    with editor(work) as ed:
        session = ed.new()
        turn = ed.say("make it")
        ed.notify("session/cancel", sessionId=session)
        assert ed.answer_to(turn)["result"]["stopReason"] == "cancelled"
        assert ed.prompt("now")["result"]["stopReason"] == "end_turn"
    assert "made it" in ed.words()


def test_a_daemon_that_has_gone_between_two_prompts_is_started_for_the_next(work):
    ready(work, {"ask": "Which?"}, DONE)
    with editor(work) as ed:
        ed.new()
        ed.prompt("make it")
        work.kill()
        assert ed.prompt("that")["result"]["stopReason"] == "end_turn"
    assert ed.words().count("Which?") == 1
    assert work.ended()["sessionState"] == "completed"


def test_an_answer_reaches_the_next_daemon_where_the_one_that_asked_has_gone(work):
    ready(work, {"approve": "make"}, DONE)
    with editor(work) as ed:
        ed.new()

        def killing(_):
            work.kill()
            return ALLOW

        ed.permit = killing
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
    assert work.ended()["sessionState"] == "completed"
    assert "made it" in ed.words()
    assert len(work.starts()) == 1


def test_a_verify_that_fails_is_a_call_that_failed_with_its_output(work):
    """The work goes back to the same agent, and the turn goes on."""
    check = "echo looked; test -f made.txt"
    ready(
        work,
        {"done": "too early"},
        session=f'verify = ["{check}"]\nverifyTries = 1\n',
        second=(write(), DONE),
    )
    with editor(work) as ed:
        ed.new()
        assert ed.prompt("make it")["result"]["stopReason"] == "end_turn"
    calls = [call for call in ed.calls().values() if call["title"].startswith("verify: ")]
    assert [call["status"] for call in calls][-1] == "completed"
    assert {call["status"] for call in calls[:-1]} == {"failed"}
    assert len(calls) >= 2
    assert "looked" in str(calls[0]["content"])
    assert "the acceptance commands say so" in ed.words()


def test_what_was_begun_in_another_face_is_answered_here_and_taken_on_the_command_line(work):
    api = ready(work, {"approve": "make"}, write(), {"ask": "Which one?"}, write("more.txt"), DONE)
    session = api.post("/api/run", {"task": "begun on the page"})["sessionId"]
    [waiting] = until(lambda: api.get("/api/approvals"), "it is asked")
    api.post(f"/api/approvals/{waiting['id']}", {"approved": True})
    until(lambda: api.get("/api/status")["needsInput"], "the agent asks")
    with editor(work) as ed:
        assert [row["sessionId"] for row in ed.ask("session/list")["result"]["sessions"]] == [session]
        ed.load(session)
        assert ed.words("user_message_chunk") == "begun on the page"
        assert "Which one?" in ed.words()
        assert ed.asked == [], "that was answered long ago"
        assert ed.prompt("that one")["result"]["stopReason"] == "end_turn"
        assert f"Take it: hub take {session}" in str(ed.updates[-1]["content"])
    git(work.root, "add", ".")
    git(work.root, "commit", "-q", "--allow-empty", "-m", "mine")
    done = hub("take", session, cwd=work.root, env=work.environ())
    assert done.returncode == 0, done.stderr
    assert (work.root / "more.txt").read_text() == "made\n"


def test_an_unknown_session_is_not_found(work):
    ready(work, DONE)
    with editor(work) as ed:
        assert ed.load("s-1-nothing")["error"]["code"] == -32002
        assert ed.load("../../etc")["error"]["code"] == -32002
        answer = ed.ask("session/prompt", sessionId="s-1-x", prompt=[{"type": "text", "text": "x"}])
        assert answer["error"]["code"] == -32002


def test_one_prompt_at_a_time(work, tmp_path):
    with Gate(tmp_path / "gate") as gate:
        ready(work, {"run": gate.command}, DONE)
        with editor(work) as ed:
            ed.new()
            turn = ed.say("make it")
            assert ed.prompt("and that")["error"]["code"] == -32600
            gate.open()
            assert ed.answer_to(turn)["result"]["stopReason"] == "end_turn"
