"""What the user wrote, out of the blocks in which the editor sends it.

Owns: which blocks hub takes, and how each reads as text: an agent is given its task as text.
Must not: open a file or an address that a block names.
"""

from __future__ import annotations

import re
from pathlib import PurePath
from urllib.parse import unquote, urlsplit

from hub.domain.jsonvalue import JsonObject
from hub.wire.frames import INVALID_PARAMS, RefusedError

_TICKS = re.compile("`+")


def text_of(blocks: object, root: PurePath) -> str:
    """The prompt as one text.

    Args:
        blocks: As the editor sends them.
        root: The project: agents work in a tree of their own, so its files are named from there.

    Raises:
        RefusedError: There is no text, or a block is of a kind that was not announced.
    """
    if not isinstance(blocks, list):
        raise RefusedError(INVALID_PARAMS, "prompt is a list of content blocks")
    text = "".join(_block(block if isinstance(block, dict) else {}, root) for block in blocks).strip()
    if not text:
        raise RefusedError(INVALID_PARAMS, "The prompt has no text.")
    return text


def _block(block: JsonObject, root: PurePath) -> str:
    match block:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "resource_link", "uri": str(uri)}:
            return _place(uri, root)
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            return f"\n\n{_place(uri, root)}:\n{fenced(text)}\n"
        case {"type": "resource", "resource": {"uri": str(uri)}}:
            return _place(uri, root)
    kind = str(block.get("type", "a block without a type"))[:40]
    raise RefusedError(INVALID_PARAMS, f"hub takes text, links and files in a prompt, not {kind}.")


def _place(uri: str, root: PurePath) -> str:
    """A file by its path, within the project from its root; anything else as it is."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or not parts.path:
        return uri
    path = PurePath(unquote(parts.path))
    line = f":{parts.fragment}" if parts.fragment else ""
    return f"{path.relative_to(root) if path.is_relative_to(root) else path}{line}"


def fenced(text: str) -> str:
    """The text within a fence that it cannot close."""
    ticks = "`" * max(3, 1 + max(map(len, _TICKS.findall(text)), default=0))
    return f"{ticks}\n{text.rstrip()}\n{ticks}"
