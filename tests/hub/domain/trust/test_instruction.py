"""Which files are instructions for agents, and what they call themselves."""

import pytest

from hub.domain.trust.instruction import MAX_TITLE, kind_of, title_of


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("AGENTS.md", "agents_md"),
        ("api/AGENTS.md", "agents_md"),
        ("CLAUDE.local.md", "claude_md"),
        (".claude/CLAUDE.md", "claude_md"),
        ("GEMINI.md", "gemini_md"),
        (".cursor/rules/style.mdc", "cursor_rule"),
        ("web/.cursor/rules/style.mdc", "cursor_rule"),
        (".cursorrules", "cursor_rule"),
        (".github/copilot-instructions.md", "copilot_instructions"),
        (".github/instructions/py.instructions.md", "copilot_instructions"),
        (".windsurfrules", "editor_rule"),
        (".clinerules/a.md", "editor_rule"),
        (".claude/skills/tdd/SKILL.md", "skill"),
        ("README.md", ""),
        ("agents.md", ""),
        ("skills/tdd/SKILL.md", ""),
        (".claude/skills/SKILL.md", ""),
        (".cursor/rules/a/b.mdc", ""),
    ],
)
def test_the_place_tells_the_kind(path, kind):
    assert (kind_of(path) or "") == kind


@pytest.mark.parametrize(
    ("text", "path", "title"),
    [
        ("---\nname: tdd\ndescription: x\n---\n# Other\n", "a/SKILL.md", "tdd"),
        ("---\ndescription: x\n---\n# House rules\n", "AGENTS.md", "House rules"),
        ("intro\n## How we work\n", "AGENTS.md", "How we work"),
        ("no heading", "docs/AGENTS.md", "AGENTS.md"),
        ("", ".claude/skills/tdd/SKILL.md", "tdd"),
        ("", "SKILL.md", "SKILL.md"),
        ("# \x1b[31mred\x1b[0m\n", "AGENTS.md", "red"),
        ("# \u200b\n", "AGENTS.md", "AGENTS.md"),
    ],
)
def test_the_title_is_the_names_then_the_headings_then_the_files(text, path, title):
    assert title_of(text, path) == title


def test_a_title_is_short():
    assert len(title_of("# " + "x" * 500, "AGENTS.md")) == MAX_TITLE
