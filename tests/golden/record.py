"""Records a session of a real agent program for the golden suite.

    python -m tests.golden.record claude rounding FOLDER

Owns: the run against the model server of the tests, and what is kept of it: the agent's output, its own store, and
how far both had come at each moment.
Must not: label anything. What a session's facts are, a person says, in `facts.toml`.

A moment is when the agent asks its model for the next answer, and the end: at the first a usage limit would strike.
Aider asks too seldom, so its moments are also lines of its output.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs

from hub.domain.accounts.account import Account
from hub.domain.event import EventType
from hub.providers import registry
from hub.providers.base import Assignment
from tests.agents import PROGRAMS, base_env, cache_dir, program_path
from tests.drive import Run, drive
from tests.golden.kept import Keeper
from tests.golden.stories import STORIES, Steps, Story
from tests.model_server import Call, ModelServer, Seen, Turn

SETTLE = 1.0
"""Seconds in which an agent that waits for its model has written what it has to write."""
LONGEST = 900
"""Characters of a string that are kept: beyond it are the agent's own prompts and lists."""
MOST = 40
PATIENCE = 1200.0
NOISE = frozenset(
    {
        "cache_creation",
        "diagnostics",
        "displayName",
        "fallback_credit",
        "internal_chat_message_metadata_passthrough",
        "iterations",
        "last_token_usage",
        "originator",
        "output_tokens_details",
        "rate_limits",
        "renderOutputAsMarkdown",
        "server_tool_use",
        "systemPrompt",
        "toolUseSummary",
        "turn_attribution",
    }
)
"""Members that say nothing of the work and are long or repeated."""
DISPLAY = ("description", "resultDisplay")
"""Of Gemini CLI's calls: what it showed of them."""
WRITERS = ("claude", "codex", "qwen")
"""They offer their models no list of tasks in the mode that hub runs them in: TaskCreate is "disabled for this session"."""
HOME = "/home/dev"
STORES = {
    "claude": ("projects/*/*.jsonl", "tasks/*/*.json"),
    "codex": ("sessions/*/*/*/*.jsonl",),
    "gemini": (".gemini/tmp/*/chats/session-*", ".gemini/tmp/*/.project_root", ".gemini/projects.json"),
    "opencode": ("**/opencode.db",),
    "qwen": ("**/projects/*/chats/*.jsonl",),
    "copilot": ("session-state/*/events.jsonl",),
    "aider": ("aider.chat.md",),
}
"""What is kept of the account's folder; of Aider, which has none, of the dispatch's."""


@attrs.define
class Tools:
    """The agent's own tools, as the stories use them."""

    agent: str
    repo: Path

    _known: dict[str, str] = attrs.field(factory=dict)

    def plan(self, steps: Steps) -> list[Call]:
        """What brings the list of tasks into this state; nothing for an agent that has none."""
        before, self._known = self._known, dict(steps)
        changed = [(step, state) for step, state in steps if before.get(step, "pending") != state]
        numbers = {step: str(number) for number, (step, _) in enumerate(steps, 1)}
        if self.agent == "copilot":
            values = ", ".join(f"('{numbers[step]}', '{step}', '{step}.')" for step, _ in steps)
            asked = [] if before else [f"INSERT INTO todos (id, title, description) VALUES {values}"]
            states = {"completed": "done"}
            asked += [
                f"UPDATE todos SET status = '{states.get(state, state)}' WHERE id = '{numbers[step]}'"
                for step, state in changed
            ]
            return [_native("sql", {"description": "Track the work", "query": ";\n".join(asked) + ";"})]
        return [] if self.agent in WRITERS else [Call("plan", {"items": [list(step) for step in steps]})]

    def written(self, steps: Steps) -> str:
        """A list with boxes, of an agent that has no tool for one."""
        if self.agent not in WRITERS:
            return ""
        return "\n".join(f"- [{'x' if state == 'completed' else ' '}] {step}" for step, state in steps)

    def read(self, path: str) -> list[Call]:
        """The tool that an agent must have read a file with."""
        names = {
            "claude": ("Read", "file_path"),
            "qwen": ("read_file", "file_path"),
            "opencode": ("read", "filePath"),
        }
        if self.agent not in names:
            return []
        tool, member = names[self.agent]
        return [_native(tool, {member: str(self.repo / path)})]

    def overwrite(self, path: str, old: str, new: str) -> list[Call]:
        """Its tool for writing, where that may write what is there; else the one for editing."""
        if self.agent == "copilot":
            old, new = (
                "".join(f"{mark}{line}\n" for line in text.splitlines())
                for mark, text in (("-", old), ("+", new))
            )
            patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n{old}{new}*** End Patch\n"
            return [_native("apply_patch", patch)]
        return [Call("write", {"path": path, "text": new})]


def _native(name: str, arguments: dict[str, Any]) -> Call:
    return Call("native", {"name": name, "arguments": arguments})


@attrs.define
class Recorder:
    """One recording under way, below `root`."""

    agent: str
    story: Story
    root: Path
    keeper: Keeper = attrs.field(init=False)
    lines: int = 0

    def __attrs_post_init__(self) -> None:
        folder = "dispatch" if self.agent == "aider" else "account"
        self.keeper = Keeper(self.root / folder, STORES[self.agent])

    def run(self) -> Run:
        """The whole session."""
        for name in ("repo", "account", "home", "dispatch"):
            (self.root / name).mkdir(parents=True)
        for path, text in self.story.files.items():
            (self.root / "repo" / path).write_text(text)
        for args in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
            subprocess.run(["git", *args], cwd=self.root / "repo", env=base_env(self.root), check=True)
        with ModelServer() as models:
            turns = self.story.turns(Tools(self.agent, self.root / "repo"))
            models.script("key", *(self._asked(turn) for turn in turns))
            env = {**base_env(self.root / "home"), **models.proxy_env()}
            provider = registry.load(self.agent)
            run = drive(provider, self._assignment(models), env, on_line=self._line, timeout=PATIENCE)
            print("tools:", *_offered(models.mains("key")[0].body))
            print("asked for", len(models.mains("key")), "answers of", len(turns))
        self.keeper.moment(self.lines)
        return run

    def _asked(self, turn: Turn) -> Callable[[Seen], Turn]:
        def answer(_: Seen) -> Turn:
            time.sleep(SETTLE)
            self.keeper.moment(self.lines)
            return turn

        return answer

    def _line(self, _line: bytes, run: Run) -> None:
        self.lines = len(run.lines)
        if self.agent == "aider" and self.lines % 6 == 0:
            self.keeper.moment(self.lines)

    def _assignment(self, models: ModelServer) -> Assignment:
        agent = PROGRAMS[self.agent]
        return Assignment(
            dispatch_id="d-1",
            session_id="s-1",
            prompt=self.story.task,
            worktree=self.root / "repo",
            run_dir=self.root / "dispatch",
            program=str(program_path(self.agent)),
            model=agent.model,
            base_url=getattr(models, agent.url),
            account=Account("test", str(self.root / "account"), {agent.key: "key"}),
            options={"env": agent.env, **self.story.options},
        )


def _offered(body: Any) -> list[str]:
    """Names of the tools that a request offers, in any vendor's form."""
    tools = [part for tool in body.get("tools") or [] for part in tool.get("functionDeclarations", [tool])]
    return [str(tool.get("name") or tool.get("function", tool).get("name")) for tool in tools]


def alike(text: str, root: Path) -> str:
    """The text without this machine: its folder is the home of nobody, its programs lie where they usually do."""
    python = Path(sys.base_prefix) / "bin"
    for here, there in ((root, HOME), (cache_dir(), "/opt/agents"), (python, "/usr/bin")):
        text = text.replace(str(here), there).replace(str(here).replace("/", "-"), there.replace("/", "-"))
    # Whatever else lies in a temporary folder; Gemini CLI's own folder has that name too.
    return text.replace("/tmp/", "/run/").replace(".gemini/run/", ".gemini/tmp/")


def trimmed(line: str) -> str:
    """One line of JSON with its long strings and lists cut; any other line as it is."""
    try:
        value = json.loads(line)
    except ValueError:
        return line
    if isinstance(value, dict) and str(value.get("type")).startswith("api-request"):
        value = {key: item for key, item in value.items() if not isinstance(item, dict)}
    return (
        json.dumps(_cut(value), ensure_ascii=False, separators=(",", ":"))
        if isinstance(value, dict)
        else line
    )


def _cut(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= LONGEST else value[:60] + " [cut]"
    if isinstance(value, list):
        return [_cut(item) for item in value[:MOST]]
    return (
        {
            key: _cut(item)
            for key, item in value.items()
            if key not in NOISE and not (key in DISPLAY and "displayName" in value)
        }
        if isinstance(value, dict)
        else value
    )


def main(agent: str, name: str, into: str) -> None:
    """Records the story and writes it to the folder."""
    root, folder = Path("/tmp/golden") / agent, Path(into)
    shutil.rmtree(root, ignore_errors=True)
    recorder = Recorder(agent, STORIES[name], root)
    run = recorder.run()
    shutil.rmtree(folder / "store", ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    stream = [trimmed(alike(line.decode(), root)) for line in run.lines]
    (folder / "stream.jsonl").write_text("".join(f"{line}\n" for line in stream))
    moments = [
        {"stream": moment.lines, "store": {alike(k, root): list(v) for k, v in moment.files.items()}}
        for moment in recorder.keeper.moments
    ]
    (folder / "moments.json").write_text("[\n" + ",\n".join(map(json.dumps, moments)) + "\n]\n")
    for path, lines in recorder.keeper.texts.items():
        to = folder / "store" / alike(path, root)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text("".join(f"{trimmed(alike(line, root))}\n" for line in lines))
    print(f"{len(moments)} moments, {len(stream)} lines, outcome {run.outcome.ending}")
    print({key: value for key, value in run.launch.env.items() if str(root) in value})
    for event in run.of(EventType.ERROR):
        print("error:", event.content)


if __name__ == "__main__":
    main(*sys.argv[1:])
