"""What is an instruction for agents, by its place; and what it calls itself.

Owns: the table of places, and the title of a text.
Must not: open a file.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fnmatch import fnmatchcase
from typing import Literal

from hub.domain.text.safe import clean, clip

InstructionKind = Literal[
    "agents_md",
    "claude_md",
    "gemini_md",
    "cursor_rule",
    "copilot_instructions",
    "editor_rule",
    "skill",
    "profile_skill",
]
Table = Sequence[tuple[str, InstructionKind]]

ANYWHERE: Table = (
    ("AGENTS.md", "agents_md"),
    ("AGENTS.override.md", "agents_md"),
    ("CLAUDE.md", "claude_md"),
    ("CLAUDE.local.md", "claude_md"),
    ("GEMINI.md", "gemini_md"),
    (".cursorrules", "cursor_rule"),
    (".windsurfrules", "editor_rule"),
    (".clinerules", "editor_rule"),
    (".rules", "editor_rule"),
)
"""Names that count in every folder: agents read the file of the folder they work in, too."""
PLACED: Table = (
    (".claude/CLAUDE.md", "claude_md"),
    (".cursor/rules/*.mdc", "cursor_rule"),
    (".cursor/rules/*.md", "cursor_rule"),
    (".github/copilot-instructions.md", "copilot_instructions"),
    (".github/instructions/*.instructions.md", "copilot_instructions"),
    (".windsurf/rules/*.md", "editor_rule"),
    (".clinerules/*.md", "editor_rule"),
    (".claude/skills/*/SKILL.md", "skill"),
    (".agents/skills/*/SKILL.md", "skill"),
    (".codex/skills/*/SKILL.md", "skill"),
    (".gemini/skills/*/SKILL.md", "skill"),
    (".opencode/skills/*/SKILL.md", "skill"),
)
"""Patterns below the project or any of its folders; a `*` is one name."""
USER: Table = (
    (".claude/CLAUDE.md", "claude_md"),
    (".codex/AGENTS.md", "agents_md"),
    (".codex/AGENTS.override.md", "agents_md"),
    (".gemini/GEMINI.md", "gemini_md"),
    (".config/opencode/AGENTS.md", "agents_md"),
    (".claude/skills/*/SKILL.md", "skill"),
    (".agents/skills/*/SKILL.md", "skill"),
    (".codex/skills/*/SKILL.md", "skill"),
    (".config/opencode/skills/*/SKILL.md", "skill"),
)
"""Patterns below the user's home."""
MAX_TITLE = 120

_HEADING = re.compile(r"^#{1,6}[ \t]+(\S.*)$", re.MULTILINE)
_NAMED = re.compile(r"""^(?:name|title)[ \t]*:[ \t]*["']?([^"'\n]+)["']?[ \t]*$""", re.MULTILINE)
_FRONT = re.compile(r"\A---[ \t]*\n(.*?)\n---[ \t]*$", re.DOTALL | re.MULTILINE)


def kind_of(path: str) -> InstructionKind | None:
    """The kind of the file at `path`, relative to the project and with slashes; None when it is none."""
    parts = path.split("/")
    for name, kind in ANYWHERE:
        if parts[-1] == name:
            return kind
    for pattern, kind in PLACED:
        wanted = pattern.split("/")
        if len(parts) >= len(wanted) and all(map(fnmatchcase, parts[-len(wanted) :], wanted)):
            return kind
    return None


def title_of(text: str, path: str) -> str:
    """The name in a text's front matter, else its first heading, else its file's name; of a skill its folder's."""
    front = _FRONT.match(text)
    found = (_NAMED.search(front[1]) if front else None) or _HEADING.search(text)
    *folders, name = path.split("/")
    plain = folders[-1] if name == "SKILL.md" and folders else name
    return clip(clean(found[1]).strip() if found else plain, MAX_TITLE) or plain
