"""Abstract tool calls in each agent's own tools.

Owns: the mapping `Call` -> (tool name, arguments) for the tools a request offers.
Must not: know how a protocol wraps the call.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from .scenario import Call

CUSTOM = "custom"
"""Marks a free-form tool, whose argument is text instead of an object."""

Native = tuple[str, dict[str, Any] | str]


def native(call: Call, offered: Mapping[str, Any], cwd: str) -> Native | None:
    """The call in a tool the agent offers; None when it offers none that fits."""
    if call.verb == "native":
        return call.args["name"], call.args["arguments"]
    if call.verb == "plan":
        return _plan(call.args["items"], offered)
    if call.verb == "shell":
        return _shell(call.args["command"], offered, cwd)
    return _write(call.args["path"], call.args["text"], offered, cwd)


def listing(call: Call) -> str:
    """The call as text, for an agent that has no tools: a file below its path, or a command in a shell's fence."""
    if call.verb == "write":
        return f"{call.args['path']}\n```\n{call.args['text']}```"
    return f"```bash\n{call.args['command']}\n```"


def _write(path: str, text: str, offered: Mapping[str, Any], cwd: str) -> Native | None:
    if "apply_patch" in offered and text.endswith("\n"):
        patch = _patch(path, text)
        return "apply_patch", patch if offered["apply_patch"] == CUSTOM else {"input": patch}
    absolute = str(PurePosixPath(cwd) / path)
    for name in ("Write", "write_file"):
        if name in offered:
            return name, {"file_path": absolute, "content": text}
    if "write" in offered:
        return "write", {"filePath": absolute, "content": text}
    if "create" in offered:
        return "create", {"path": absolute, "file_text": text}
    if offered.get("exec") == CUSTOM and text.endswith("\n"):
        return "exec", f"const r = await tools.apply_patch({json.dumps(_patch(path, text))}); text(r);"
    quoted = shlex.quote(path)
    return _shell(f'mkdir -p "$(dirname {quoted})" && printf %s {shlex.quote(text)} > {quoted}', offered, cwd)


def _patch(path: str, text: str) -> str:
    lines = "".join(f"+{line}\n" for line in text.splitlines())
    return f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"


def _shell(command: str, offered: Mapping[str, Any], cwd: str) -> Native | None:
    forms: dict[str, dict[str, Any]] = {
        "Bash": {"command": command, "description": "run it"},
        "bash": {"command": command, "description": "run it"},
        "exec_command": {"cmd": command, "workdir": cwd, "yield_time_ms": 60000},
        "shell_command": {"command": command, "workdir": cwd},
        "run_shell_command": {"command": command, "description": "run it", "is_background": False},
        "shell": {"command": ["bash", "-lc", command], "workdir": cwd},
    }
    for name, arguments in forms.items():
        if name in offered:
            return name, arguments
    if offered.get("exec") == CUSTOM:
        return "exec", f"const r = await tools.exec_command({{cmd: {json.dumps(command)}}}); text(r.output);"
    return None


def _plan(items: list[list[str]], offered: Mapping[str, Any]) -> Native | None:
    if "TodoWrite" in offered:
        todos = [{"content": text, "status": status, "activeForm": text} for text, status in items]
        return "TodoWrite", {"todos": todos}
    if "todowrite" in offered:
        todos = [{"content": text, "status": status, "priority": "medium"} for text, status in items]
        return "todowrite", {"todos": todos}
    if "TaskCreate" in offered:
        return "TaskCreate", {"subject": items[0][0], "description": items[0][0], "activeForm": items[0][0]}
    if "update_plan" in offered:
        return "update_plan", {"plan": [{"step": text, "status": status} for text, status in items]}
    if "write_todos" in offered:
        return "write_todos", {"todos": [{"description": text, "status": status} for text, status in items]}
    return None
