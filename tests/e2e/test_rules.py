"""Rules hold for the real programs: what is denied never runs and what is asked for waits, by whatever tool, and whatever
their own settings and the repository's allow.

Judged from outside: what the model was told, what a web page and a tool server were asked for, and what is on the branch.
"""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs
import pytest
import tomlkit

from tests.faults.harness import git
from tests.model_server import FOR_EVER, Call, Seen, Turn
from tests.model_server.wire import working_directory
from tests.waiting import until

pytestmark = pytest.mark.agents

LONG = 300.0
"""Seconds: these programs start slowly, and each of a dozen calls is a request."""
SECRET = "CANARY-of-the-file"
FOUND = "CANARY-of-the-tool"
SERVER = Path(__file__).with_name("tool_server.py")
RULES = """
[[approvals]]
command = "d/secret.txt"
decision = "deny"
reason = "the secret stays here"

[[approvals]]
command = "{page}*"
decision = "deny"

[[approvals]]
tool = "*note*"

[[approvals]]
command = "touch*"
"""


@pytest.fixture
def page() -> Iterator[tuple[str, list[str]]]:
    """A web page, and every request for it."""
    asked: list[str] = []

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/", asked
        server.shutdown()


def claude(account: Path, root: Path, server: list[str]) -> None:
    """All that its settings have to let it act unasked, in the user's and in the repository's."""
    names = ["Bash", "Read", "Grep", "WebFetch", "Agent", "mcp__notes", "mcp__notes__note"]
    loose = {
        "permissions": {"allow": names, "defaultMode": "bypassPermissions"},
        "disableAllHooks": True,
        "enableAllProjectMcpServers": True,
    }
    put(root / ".claude" / "settings.json", loose)
    put(account / "settings.json", loose)
    put(root / ".mcp.json", {"mcpServers": {"notes": {"command": server[0], "args": server[1:]}}})


def codex(account: Path, root: Path, server: list[str]) -> None:
    rules = root / ".codex" / "rules" / "default.rules"
    rules.parent.mkdir(parents=True)
    rules.write_text('prefix_rule(pattern=["cat"], decision="allow")\n')
    (account / "config.toml").write_text(
        f'approval_policy = "never"\n[mcp_servers.notes]\ncommand = "{server[0]}"\nargs = {json.dumps(server[1:])}\n'
        f'default_tools_approval_mode = "prompt"\n[projects."{root}"]\ntrust_level = "trusted"\n'
    )


def gemini(account: Path, root: Path, server: list[str]) -> None:
    loose = '[[rule]]\ntoolName = "*"\ndecision = "allow"\npriority = 999\n'
    for place in (account, root):
        policies = place / ".gemini" / "policies"
        policies.mkdir(parents=True)
        (policies / "loose.toml").write_text(loose)
    settings = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "tools": {"allowed": ["read_file"]}}
    put(account / ".gemini" / "settings.json", {**settings, "mcpServers": {"notes": served(server)}})
    put(root / ".gemini" / "settings.json", {"tools": {"allowed": ["run_shell_command(cat)", "grep_search"]}})


def opencode(account: Path, root: Path, server: list[str]) -> None:
    names = ("bash", "read", "grep", "glob", "webfetch", "task", "notes_note")
    loose = {"permission": {"*": "ask", **dict.fromkeys(names, "allow")}}
    loose["agent"] = {"build": {"permission": {"bash": "allow", "read": "allow"}}}
    put(root / "opencode.json", loose)
    mcp = {"notes": {"type": "local", "command": server, "enabled": True}}
    put(account / "config" / "opencode" / "opencode.json", {**loose, "mcp": mcp})


def qwen(account: Path, root: Path, server: list[str]) -> None:
    names = ["run_shell_command", "read_file", "grep_search", "web_fetch", "mcp__notes__note", "agent"]
    loose = {"permissions": {"allow": names, "ask": [], "deny": []}, "tools": {"approvalMode": "yolo"}}
    put(root / ".qwen" / "settings.json", loose)
    put(account / "settings.json", {**loose, "mcpServers": {"notes": {**served(server), "trust": True}}})


def copilot(account: Path, root: Path, server: list[str]) -> None:
    mcp = {"notes": {"type": "local", **served(server), "tools": ["*"]}}
    put(account / "mcp-config.json", {"mcpServers": mcp})
    put(account / "config.json", {"trusted_folders": [str(root)]})


def served(server: list[str]) -> dict[str, object]:
    return {"command": server[0], "args": server[1:]}


def put(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def shell(command: str) -> Call:
    return Call("shell", {"command": command})


def native(tool: str, **arguments: object) -> Call:
    return Call("native", {"name": tool, "arguments": arguments})


CALLS: Mapping[str, tuple[Callable[[Path, Path, list[str]], None], list[Call]]] = {
    "claude": (
        claude,
        [
            native("Read", file_path="@/d/secret.txt"),
            native("WebFetch", url="!page", prompt="what does it say"),
            native("mcp__notes__note", path="./d/secret.txt"),
            native("mcp__notes__note", path="fine", command="cat ./d/secret.txt"),
            native("mcp__notes__note", path="fine"),
            native("Agent", description="look", prompt="look", subagent_type="general-purpose"),
        ],
    ),
    "codex": (
        codex,
        [
            shell("curl -s !page"),
            native("tool_search", query="note", limit=3),
            native("note", path="./d/secret.txt"),
            native("note", path="fine", command="cat ./d/secret.txt"),
            native("note", path="fine"),
        ],
    ),
    "gemini": (
        gemini,
        [
            native("read_file", file_path="@/d/secret.txt"),
            native("grep_search", pattern="CANARY", dir_path="d"),
            native("web_fetch", prompt="read !page please"),
            native("mcp_notes_note", path="./d/secret.txt"),
            native("mcp_notes_note", path="fine", command="cat ./d/secret.txt"),
            native("mcp_notes_note", path="fine"),
        ],
    ),
    "opencode": (
        opencode,
        [
            native("read", filePath="@/d/../d/secret.txt"),
            native("grep", pattern="CANARY"),
            native("webfetch", url="!page", format="text"),
            native("notes_note", path="./d/secret.txt"),
            native("notes_note", path="fine", command="cat ./d/secret.txt"),
            native("notes_note", path="fine"),
            native("task", description="look", prompt="look", subagent_type="general"),
        ],
    ),
    "qwen": (
        qwen,
        [
            native("read_file", file_path="@/d/secret.txt"),
            native("grep_search", pattern="CANARY"),
            native("web_fetch", url="!page", prompt="read it"),
            native("tool_search", query="note"),
            native("mcp__notes__note", path="./d/secret.txt"),
            native("mcp__notes__note", path="fine", command="cat ./d/secret.txt"),
            native("mcp__notes__note", path="fine"),
            native("agent", description="look", prompt="look", subagent_type="general-purpose"),
        ],
    ),
    "copilot": (
        copilot,
        [
            native("view", path="@/d/secret.txt"),
            native("web_fetch", url="!page"),
            native("notes-note", path="./d/secret.txt"),
            native("notes-note", path="fine", command="cat ./d/secret.txt"),
            native("notes-note", path="fine"),
        ],
    ),
}
"""How each program is set, and what its model calls beside the shell; those of a subagent come right behind it."""
SHELL = [
    shell("cat d/secret.txt"),
    shell("cd . && cat ./d/sec*.txt | head -1"),
    shell("grep -r CANARY ."),
    shell("git log -p"),
    shell("""python3 -c "print(open('d/' + 'secret.txt').read())" no.txt"""),
    shell("cat d/$(echo secret).txt # no.txt"),
    shell("mv d e && cat e/*"),
    shell("sh look.sh"),
    shell("touch no.txt"),
    shell("touch yes.txt"),
]
"""What a rule can read it denies; what nobody can read is asked about, and those that name `no.txt` get a no."""


def turn(call: Call, page: str) -> Callable[[Seen], Turn]:
    """The call, with the names of where the agent works and of the page."""

    def made(seen: Seen) -> Turn:
        text = (
            json.dumps(call.args).replace('"@/', f'"{working_directory(seen.text)}/').replace("!page", page)
        )
        return Turn.tools(Call(call.verb, json.loads(text)))

    return made


def in_turn(calls: list[Call], page: str) -> Callable[[Seen], Turn]:
    """A model that calls one after the other, by what of it the request holds.

    Codex gives an answer up that is on its way while it is told why something was denied, and asks once more.
    """

    def made(seen: Seen) -> Turn:
        done = sum(item.get("type") in {"function_call", "tool_search_call"} for item in seen.body["input"])
        wanted = turn(calls[done], page)(seen) if done < len(calls) else Turn.text("That is all.")
        return attrs.evolve(wanted, repeat=FOR_EVER)

    return made


@pytest.mark.parametrize("name", CALLS)
def test_what_is_denied_never_runs_and_what_is_asked_waits(team, page, name):
    """One process, every tool: a shell's command, a read, a search over it, a page, a tool of the user's, a subagent's."""
    address, visits = page
    setting, calls = CALLS[name]
    team.hire(name)
    root, account, notes = team.made.root, team.tmp / f"{name}-default", team.tmp / "notes"
    (root / "d").mkdir()
    (root / "d" / "secret.txt").write_text(f"{SECRET}\n")
    (root / "look.sh").write_text("# as the project's own script\ncat d/secret.txt\n")
    setting(account, root, [sys.executable, str(SERVER), str(notes), FOUND])
    config = root / "hub.toml"
    config.write_text(config.read_text() + RULES.format(page=address))
    if name == "codex":
        edited = tomlkit.parse(config.read_text())
        edited["providers"]["codex"].setdefault("options", {})["mcp_resources"] = True
        config.write_text(tomlkit.dumps(edited))
    git(root, "add", "-f", ".")
    git(root, "commit", "-qm", "what the agent finds")
    script = [*calls, *SHELL]
    if name == "codex":
        team.script(name, in_turn(script, address))
    else:
        team.script(name, *(turn(call, address) for call in script), *[Turn.text("That is all.")] * 3)

    api = team.start(HUB_TRUST="1")
    api.post("/api/run", {"task": "Look around, also into @d/secret.txt and the rest."})
    asked: list[str] = []

    def ended() -> object:
        for one in api.get("/api/approvals"):
            asked.append(one["action"])
            assert not notes.exists() or len(asked) > 1, "it waits before it runs"
            api.post(f"/api/approvals/{one['id']}", {"approved": "no.txt" not in one["action"]})
        return team.made.ended()

    record = until(ended, "the session ends", LONG)
    assert record["sessionState"] == "completed"
    told = "\n".join(json.dumps(seen.body) for seen in team.models.requests())
    assert SECRET not in told
    assert "the secret stays here" in told
    assert visits == []
    assert [json.loads(line)["arguments"] for line in notes.read_text().splitlines()] == [{"path": "fine"}]
    assert FOUND in told
    assert len([action for action in asked if "note" in action]) == 1
    assert [action.rpartition(" ")[2] for action in asked if "touch" in action] == ["no.txt", "yes.txt"]
    assert [word for word in ("python3 -c", "$(echo secret)") if any(word in action for action in asked)] == [
        "python3 -c",
        "$(echo secret)",
    ]
    assert not any("git log" in action or "mv d" in action for action in asked)
    files = team.made.show(f"hub/{record['sessionId']}^{{tree}}").decode()
    assert "yes.txt" in files
    assert "no.txt" not in files
