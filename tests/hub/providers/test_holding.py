"""What makes each agent ask before everything it does, and which settings of its user's no setting of hub's outranks."""

from __future__ import annotations

import json
from pathlib import Path

import attrs
import pytest

from hub.api.tables import parse_config
from hub.domain.config.model import ApprovalRule
from hub.domain.event import EventType
from hub.domain.permission.rules import unenforceable
from hub.providers.acp.agent import configured
from hub.providers.base import Assignment, Ending
from hub.providers.opencode.asks import rules
from hub.providers.registry import load_all

PROVIDERS = load_all()
ASSIGNMENT = Assignment("d-1", "s-1", "task", Path("/w"), Path("/run"), asks=True)


def loose(name: str, files: dict[str, str], tool: str = "*", **options: object) -> str:
    """Why the provider, given these files, is not started under a rule about a tool; a pattern may end with `*.rules`."""

    def texts(pattern: str) -> list[str]:
        folder, star, end = pattern.partition("*")
        fits = [
            path
            for path in files
            if (path.startswith(folder) and path.endswith(end) if star else path == pattern)
        ]
        return [files[path] for path in fits]

    found = PROVIDERS[name].loose(attrs.evolve(ASSIGNMENT, options=options), {"HOME": "/home/u"}, texts)
    return unenforceable([ApprovalRule(tool=tool, decision="deny")], name, found)


# --- Claude Code ------------------------------------------------------------------------------------------


def answer(stream, **response):
    body = {"request_id": "init", "response": {}, **response}
    return stream.feed(json.dumps({"type": "control_response", "response": body}).encode(), 1.0)


def test_claude_gets_its_task_once_it_has_taken_the_hook():
    """A prompt that came before the hook could run a tool before it."""
    stream = PROVIDERS["claude"].stream(ASSIGNMENT)
    [write] = stream.open().writes
    hook = json.loads(write.data)["request"]["hooks"]["PreToolUse"][0]
    assert "matcher" not in hook
    assert hook["timeout"] > 1_000_000
    [write] = answer(stream, subtype="success").writes
    assert (write.key, b"task" in write.data) == ("prompt", True)
    assert answer(stream, subtype="success").writes == ()


def test_no_message_makes_claude_read_a_file_that_no_tool_asked_for():
    """`@path` is read before any tool is called; an address of mail stays what it is."""
    task = 'see @d/secret.txt, @"a b" and\n(@x) of me@example.com'
    stream = PROVIDERS["claude"].stream(attrs.evolve(ASSIGNMENT, prompt=task))
    [prompt] = answer(stream, subtype="success").writes
    [reply] = stream.reply("@y", "r-1")
    texts = [json.loads(write.data)["message"]["content"][0]["text"] for write in (prompt, reply)]
    assert texts == [task.replace("@", "\u2060@").replace("me\u2060@", "me@"), "\u2060@y"]
    free = PROVIDERS["claude"].stream(attrs.evolve(ASSIGNMENT, prompt=task, asks=False)).open().writes[0]
    assert json.loads(free.data)["message"]["content"][0]["text"] == task


def test_claude_is_not_given_a_task_where_it_does_not_take_the_hook():
    stream = PROVIDERS["claude"].stream(ASSIGNMENT)
    step = answer(stream, subtype="error", error="unknown subtype")
    assert step.writes == ()
    assert step.outcome.ending is Ending.FAILED
    assert "cannot be made to ask" in step.outcome.text


def test_claudes_hook_is_answered_at_once_and_tells_where_the_shell_stands():
    stream = PROVIDERS["claude"].stream(ASSIGNMENT)
    told = {"tool_name": "Bash", "tool_use_id": "t1", "cwd": "/w/d"}
    request = {"subtype": "hook_callback", "callback_id": "every-tool", "input": told}
    line = {"type": "control_request", "request_id": "r1", "request": request}
    [write] = stream.feed(json.dumps(line).encode(), 1.0).writes
    decision = json.loads(write.data)["response"]["response"]["hookSpecificOutput"]
    assert decision["permissionDecision"] == "ask"
    asked = {
        "subtype": "can_use_tool",
        "tool_name": "Bash",
        "tool_use_id": "t1",
        "input": {"command": "cat x"},
    }
    [event] = stream.feed(json.dumps({**line, "request_id": "r2", "request": asked}).encode(), 1.0).events
    assert (event.type, event.meta["command"], event.meta["cwd"]) == (EventType.WAITING, "cat x", "/w/d")


# --- Codex ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "text", "why"),
    [
        ("rules/default.rules", 'prefix_rule(pattern=["cat"], decision="allow")', "its own rules"),
        ("rules/more.rules", 'prefix_rule(pattern=["cat"])', "its own rules"),
        ("rules/a.rules", 'prefix_rule(pattern=["rm"], decision = "forbidden")\n# prefix_rule(["x"])', ""),
        ("rules/a.rules", "prefix_rule(pattern=['rm'], decision='prompt')", ""),
        ("config.toml", '[mcp_servers.a]\ncommand = "x"', "its MCP server a"),
        ("config.toml", '[mcp_servers.a]\ndefault_tools_approval_mode = "approve"', "its MCP server a"),
        ("config.toml", '[mcp_servers.a]\ndefault_tools_approval_mode = "prompt"', "reads resources"),
        (
            "config.toml",
            '[mcp_servers.a]\ndefault_tools_approval_mode = "prompt"\n[mcp_servers.a.tools.t]\napproval_mode = "approve"',
            "its MCP server a",
        ),
        ("config.toml", "[mcp_servers.a]\nenabled = false", ""),
        ("config.toml", "=", "cannot be read"),
        ("config.toml", 'model = "x"', ""),
    ],
)
def test_settings_that_let_codex_act_unasked_are_named(file, text, why):
    found = loose("codex", {f"/home/u/.codex/{file}": text})
    assert why in found if why else found == ""


def test_codex_reads_resources_unasked_unless_no_server_has_any_or_no_rule_is_about_them():
    """`read_mcp_resource` is a tool of the program itself: it asks in no approval mode, and nothing switches it off."""
    files = {"/home/u/.codex/config.toml": '[mcp_servers.a]\ndefault_tools_approval_mode = "prompt"'}
    assert "its MCP server a" in loose("codex", files)
    assert "its MCP server a" in loose("codex", files, "codex.read_mcp_resource")
    assert loose("codex", files, "exec_command") == ""
    assert loose("codex", files, mcp_resources=True) == ""
    off = {name: f"{text}\nenabled = false" for name, text in files.items()}
    assert loose("codex", off) == ""


def test_codex_under_rules_leaves_the_projects_settings_and_the_tools_that_never_ask():
    argv = " ".join(
        PROVIDERS["codex"].launch(attrs.evolve(ASSIGNMENT, options={"approval_policy": "never"})).argv
    )
    assert 'projects={"/w"={trust_level="untrusted"}}' in argv
    assert "features.view_image=false" in argv
    assert "trust_level" not in " ".join(PROVIDERS["codex"].launch(attrs.evolve(ASSIGNMENT, asks=False)).argv)


def elicited(stream, **meta):
    params = {"serverName": "s", "_meta": {"tool_name": "t", "tool_params": {"path": "x"}, **meta}}
    line = {"id": 7, "method": "mcpServer/elicitation/request", "params": params}
    return stream.feed(json.dumps(line).encode(), 1.0)


@pytest.mark.parametrize(("approved", "action"), [(True, "accept"), (False, "decline")])
def test_codex_asks_for_tools_of_the_users_own(approved, action):
    stream = PROVIDERS["codex"].stream(ASSIGNMENT)
    [event] = elicited(stream, codex_approval_kind="mcp_tool_call").events
    assert (event.meta["tool"], event.meta["texts"]) == ("s.t", ["x"])
    [write] = stream.answer(event.meta["approvalId"], approved, "")
    assert json.loads(write.data)["result"]["action"] == action


def test_codex_hears_no_to_every_other_form():
    step = elicited(PROVIDERS["codex"].stream(ASSIGNMENT))
    assert json.loads(step.writes[0].data)["result"] == {"action": "decline"}


# --- Gemini CLI -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"mcpServers": {"a": {"command": "x", "trust": true}}}', True),
        ('{"mcpServers": {"a": {"command": "x", "tr\\u0075st": true}}}', True),
        ('{"m\\u0063pServers": {"a": {"trust": 1}}} // x', True),
        ('{/* "a" */ "mcpServers": {"a": {"url": "http://x"}}} // "trust": true', False),
        ('{"mcpServers": {"a": {"trust": false}}}', False),
        ('{"mcpServers": ', True),
        ("[]", False),
        ("{}", False),
    ],
)
@pytest.mark.parametrize("place", ["/home/u", "/w"])
def test_an_mcp_server_that_geminis_settings_trust_is_named(place, text, why):
    """The user's settings and the repository's: no policy makes it ask for such a tool."""
    assert bool(loose("gemini", {f"{place}/.gemini/settings.json": text})) is why


def test_gemini_without_its_policy_is_a_failed_start():
    stream = PROVIDERS["gemini"].stream(ASSIGNMENT)
    line = b"[PolicyConfig] Policy file error in gemini-policy.toml:"
    step = stream.feed_stderr(line, 1.0)
    assert step.outcome is not None
    assert step.close_stdin
    assert (
        PROVIDERS["gemini"].stream(attrs.evolve(ASSIGNMENT, asks=False)).feed_stderr(line, 1.0).outcome
        is None
    )


@pytest.mark.parametrize(
    ("number", "title", "said", "meta"),
    [
        ("grep_search__1", "'x' within d e", "", {"within": ["d e"], "paths": ["d e"]}),
        ("grep_search__1", "'x'", "", {"within": ["."], "paths": ["."]}),
        ("run_shell_command__1", "cat x", "[in d] (look)", {"command": "cat x", "cwd": "d"}),
        ("list_directory__1", "d", "", {"paths": ["d"]}),
        ("glob__1", "'*.x' within d", "", {"paths": ["*.x"]}),
        (
            "web_fetch__1",
            'Processing prompt: "http://h/a"',
            "",
            {"texts": ['Processing prompt: "http://h/a"', "http://h/a"]},
        ),
        ("web_fetch__1", 'Processing prompt: "see the..."', "", {"unseen": True}),
        ("mcp_s_t__1", "t (s MCP Server)", '{"path": "d/x"}', {"texts": ["d/x"]}),
    ],
)
def test_what_gemini_puts_in_words_is_read_from_them(number, title, said, meta):
    """It sends no input of a call; a long prompt is cut, and what is behind the cut is not allowed unseen."""
    stream = PROVIDERS["gemini"].stream(ASSIGNMENT)
    kind = "execute" if "shell" in number else "other"
    content = [{"type": "content", "content": {"type": "text", "text": said}}] if said else []
    call = {"toolCallId": number, "title": title, "kind": kind, "content": content}
    line = {"jsonrpc": "2.0", "id": 3, "method": "session/request_permission", "params": {"toolCall": call}}
    event = stream.feed(json.dumps(line).encode(), 1.0).events[-1]
    assert event.type is EventType.WAITING
    assert meta.items() <= event.meta.items()


# --- OpenCode ---------------------------------------------------------------------------------------------


def rule(permission, pattern, action):
    return {"permission": permission, "pattern": pattern, "action": action}


@pytest.mark.parametrize(
    ("ruleset", "held"),
    [
        ([rule("*", "*", "allow"), rule("*", "*", "ask")], True),
        (
            [rule("*", "*", "ask"), rule("bash", "*", "deny"), rule("external_directory", "/t/*", "allow")],
            True,
        ),
        ([rule("*", "*", "ask"), rule("bash", "cat *", "allow")], False),
        ([rule("*", "*", "ask"), rule("*", "*", "allow")], False),
        ([rule("bash", "*", "ask")], False),
        ([], False),
    ],
)
def test_opencode_starts_only_subagents_that_ask_for_everything(ruleset, held):
    """The last rule that matches decides; a subagent takes over no `ask` of the session that starts it."""
    made = rules([{"name": "x", "permission": ruleset}, {"permission": ruleset}, "odd"])
    assert made[:2] == [rule("*", "*", "ask"), rule("task", "*", "deny")]
    assert made[2:] == ([rule("task", "x", "ask")] if held else [])


def opencode(**fields):
    stream = PROVIDERS["opencode"].stream(attrs.evolve(ASSIGNMENT, **fields))
    [write] = stream.feed(b'{"bridge": "ready"}', 1.0).writes
    assert json.loads(write.data)["path"] == "/agent"
    [write] = told(stream, "agents", []).writes
    return stream, json.loads(write.data)


def told(stream, name, body, status=200):
    return stream.feed(json.dumps({"id": name, "status": status, "body": body}).encode(), 1.0)


def test_opencodes_session_asks_for_everything_by_rules_of_its_own():
    stream, asked = opencode()
    assert asked["body"]["permission"] == rules([])
    [write] = told(stream, "new", {"id": "ses_1", "permission": rules([])}).writes
    assert "prompt_async" in json.loads(write.data)["path"]


def test_an_old_session_of_opencode_is_put_under_rules_before_it_goes_on():
    stream, asked = opencode(resume_id="ses_1")
    assert asked["path"] == "/session/ses_1"
    [write] = told(stream, "load", {"id": "ses_1"}).writes
    assert (json.loads(write.data)["method"], json.loads(write.data)["body"]["permission"]) == (
        "PATCH",
        rules([]),
    )
    step = told(stream, "restrict", {"id": "ses_1", "permission": [rule("x", "*", "allow"), *rules([])]})
    assert "prompt_async" in json.loads(step.writes[0].data)["path"]
    assert step.events[0].meta["resumed"] is True


@pytest.mark.parametrize("kept", [None, [], [*rules([]), rule("*", "*", "allow")]])
def test_opencode_that_keeps_no_rules_of_a_session_is_given_no_task(kept):
    stream, _ = opencode()
    step = told(stream, "new", {"id": "ses_1", "permission": kept})
    assert step.writes == ()
    assert step.outcome.ending is Ending.FAILED


def test_opencode_that_tells_no_agents_is_given_no_task():
    stream = PROVIDERS["opencode"].stream(ASSIGNMENT)
    stream.feed(b'{"bridge": "ready"}', 1.0)
    assert told(stream, "agents", "no such path", 404).outcome is not None


def event(stream, kind, **properties):
    told = {"event": {"type": kind, "properties": {"sessionID": "ses_1", **properties}}}
    return stream.feed(json.dumps(told).encode(), 1.0)


def test_a_request_of_opencode_that_comes_before_its_input_waits_for_it():
    """A tool of the user's own tells nothing in its request, and the call's input comes right behind it."""
    stream, _ = opencode()
    told(stream, "new", {"id": "ses_1", "permission": rules([])})
    event(stream, "message.updated", info={"id": "m", "role": "assistant"})
    request = {"id": "per_1", "permission": "s_t", "patterns": ["*"], "metadata": {}, "tool": {"callID": "c"}}
    assert event(stream, "permission.asked", **request).events == ()
    part = {"id": "p", "messageID": "m", "type": "tool", "tool": "s_t", "callID": "c"}
    state = {"status": "running", "input": {"path": "d/x"}}
    [use, asked] = event(stream, "message.part.updated", part={**part, "state": state}).events
    assert (use.type, asked.type, asked.meta["approvalId"]) == (
        EventType.TOOL_USE,
        EventType.WAITING,
        "per_1",
    )
    assert asked.meta["texts"] == ["d/x"]
    [again] = event(stream, "permission.asked", **{**request, "id": "per_2"}).events
    assert again.meta["input"] == {"path": "d/x"}
    assert stream.answer("per_1", False, "")


def test_opencodes_own_permission_table_gives_way_to_rules():
    options = {"permission": "allow", "config": {"permission": {"bash": "allow"}}, "env": {}}
    launch = PROVIDERS["opencode"].launch(attrs.evolve(ASSIGNMENT, options=options))
    assert json.loads(launch.env["OPENCODE_CONFIG_CONTENT"])["permission"] == "ask"
    assert launch.env["OPENCODE_DISABLE_PROJECT_CONFIG"] == "1"


# --- Qwen Code, Copilot, agents of the user's own ---------------------------------------------------------


def test_qwen_asks_for_its_reads_and_starts_no_other_agent():
    launch = PROVIDERS["qwen"].launch(ASSIGNMENT)
    held = json.loads(launch.files["qwen-defaults.json"])["permissions"]
    assert {"run_shell_command", "read_file", "grep_search", "glob", "mcp__*", "web_fetch", "edit"} <= set(
        held["ask"]
    )
    assert "agent" in held["deny"]
    free = PROVIDERS["qwen"].launch(attrs.evolve(ASSIGNMENT, asks=False))
    assert "permissions" not in json.loads(free.files["qwen-defaults.json"])


def test_copilot_has_the_shell_in_the_place_of_tools_that_never_ask():
    argv = PROVIDERS["copilot"].launch(ASSIGNMENT).argv
    assert {"view", "rg", "glob", "task"} <= set(argv[argv.index("--excluded-tools") :])
    assert "--excluded-tools" not in PROVIDERS["copilot"].launch(attrs.evolve(ASSIGNMENT, asks=False)).argv


@pytest.mark.parametrize(
    ("option", "held"),
    [("", False), ("options = { ask = true }\n", True), ("options = { ask = false }\n", False)],
)
def test_an_agent_of_the_users_own_is_held_where_its_user_says_that_it_asks(option, held):
    config = parse_config(f'[providers.mine]\nkind = "acp"\ncommand = ["mine"]\n{option}[[approvals]]\n')
    settings = config.provider("mine")
    why = unenforceable(config.approvals, "mine", configured("mine", settings).unasked(settings.options))
    assert (why == "") is held
    assert held or "ask = true" in why


@pytest.mark.parametrize(
    ("name", "held"), [("aider", False), ("claude", True), ("demo-first", True), ("copilot", True)]
)
def test_who_can_be_held_to_a_rule(name, held):
    why = unenforceable(parse_config("[[approvals]]\n").approvals, name, PROVIDERS[name].unasked({}))
    assert (why == "") is held
