"""A tool server over standard input and output, in the standard library: one tool, and a record of every call of it.

python tool_server.py RECORD ANSWER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {
    "name": "note",
    "description": "Takes a note.",
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "command": {"type": "string"}},
        "required": ["path"],
    },
}


def answer(method: str, params: dict[str, Any], record: Path, words: str) -> dict[str, Any] | None:
    """The result of one request; None where the server does not serve it."""
    match method:
        case "initialize":
            about = {"name": "notes", "version": "1"}
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": about,
            }
        case "tools/list":
            return {"tools": [TOOL]}
        case "tools/call":
            with record.open("a") as file:
                file.write(json.dumps(params) + "\n")
            return {"content": [{"type": "text", "text": words}]}
    return None


def main() -> None:
    """Answers until its input ends."""
    record, words = Path(sys.argv[1]), sys.argv[2]
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" not in asked:
            continue
        result = answer(asked["method"], asked.get("params") or {}, record, words)
        told = (
            {"result": result} if result is not None else {"error": {"code": -32601, "message": "not served"}}
        )
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **told}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
