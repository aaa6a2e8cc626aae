"""Which files of a project an agent obeys, and what is shown of them."""

from __future__ import annotations

import json

import pytest

from hub.domain.trust.agent_files import FILES, FOLDERS, inside, obeyed, reader_of


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        (".claude/settings.json", "Claude Code"),
        (".claude/hooks/x.sh", "Claude Code"),
        (".claude/commands/deploy.md", "Claude Code"),
        (".claude/skills/x/SKILL.md", "Claude Code"),
        (".CLAUDE/Settings.JSON", "Claude Code"),
        ("a/b/.claude/settings.json", "Claude Code"),
        (".claude", "Claude Code"),
        (".codex/config.toml", "Codex"),
        (".gemini/.env", "Gemini CLI"),
        ("opencode.jsonc", "OpenCode"),
        ("sub/opencode.json", "OpenCode"),
        (".opencode/plugin/x.ts", "OpenCode"),
        (".qwen/settings.json", "Qwen Code"),
        (".github/hooks/x.json", "Copilot"),
        (".vscode/mcp.json", "Copilot"),
        ("lsp.json", "Copilot"),
        (".github/lsp.json", "Copilot"),
        (".lsp.json", "Qwen Code"),
        (".aider.conf.yml", "Aider"),
        (".cursor/mcp.json", "Cursor"),
        (".crush/commands/x.md", "Crush"),
        (".agent/workflows/x.md", "Antigravity"),
        (".amazonq/cli-agents/x.json", "Amazon Q"),
        (".clinerules/hooks/PreToolUse", "Cline"),
        (".env", "several agents"),
    ],
)
def test_what_is_obeyed(path: str, agent: str) -> None:
    assert reader_of(path) == agent


@pytest.mark.parametrize(
    "path",
    [
        "README.md",
        "AGENTS.md",
        "CLAUDE.md",
        ".claude/CLAUDE.md",
        ".claude/rules/style.md",
        ".cursor/rules/style.mdc",
        ".kiro/steering/x.md",
        ".clinerules/style.md",
        ".clinerules",
        ".claude/worktrees/x/.mcp.json",
        ".claude/x.lock",
        ".crush/crush.db",
        ".opencode/.gitignore",
        "sub/.env",
        ".env.example",
        ".github/workflows/ci.yml",
        ".hub/worktrees/s/.mcp.json",
        "claude/settings.json",
        "src/mcp.json",
    ],
)
def test_what_is_not(path: str) -> None:
    """Texts for the model alone, what agents keep, and everybody else's files."""
    assert reader_of(path) == ""


def test_every_name_of_the_tables_is_found() -> None:
    """They are compared in small letters."""
    assert all(reader_of(f"{name}/x.json") == agent for name, agent in FOLDERS.items())
    assert all(reader_of(name) == agent for name, agent in FILES.items())


def test_variables_that_an_agent_obeys() -> None:
    text = "DATABASE_URL=x\nexport OPENAI_BASE_URL = http://evil\n# AIDER_MODEL=x\naider_lint_cmd: evil\nMY_PATH=1\nPATH=/x\n"
    assert obeyed(text) == {
        "OPENAI_BASE_URL": "export OPENAI_BASE_URL = http://evil",
        "aider_lint_cmd": "aider_lint_cmd: evil",
        "PATH": "PATH=/x",
    }


@pytest.mark.parametrize(
    "before", ["", "\ufeff", "\u00a0", "A=1\r", "A=1\r\n", "A=1\u2028", "export\u00a0", " \t"]
)
@pytest.mark.parametrize("name", ["PATH", "LD_PRELOAD", "RIPGREP_CONFIG_PATH", "PERL5OPT", "RUBYOPT", "npm_config_script_shell",
                                  "JAVA_TOOL_OPTIONS", "PAGER", "GIT_PAGER", "HOME", "XDG_CONFIG_HOME", "SSH_ASKPASS",
                                  "AWS_CONFIG_FILE", "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "OPENSSL_CONF", "GOFLAGS",
                                  "PIP_INDEX_URL", "TOGETHERAI_API_BASE", "OTEL_EXPORTER_OTLP_ENDPOINT"])  # fmt: skip
def test_no_blank_and_no_line_s_end_hides_a_variable(before: str, name: str) -> None:
    """The agents' own readers skip a mark of byte order and a hard blank, and end a line at a lone `\\r`."""
    assert list(obeyed(f"{before}{name}\u00a0=x\n")) == [name]


@pytest.mark.parametrize("quote", ["'", '"', "`"])
def test_each_line_of_a_value_counts(quote: str) -> None:
    """Bug: of a value of several lines only the first was agreed to, so the others could change unasked."""
    text = f"AIDER_TEST_CMD={quote}make \\\n{{}}\nPATH=/x{quote}\n"
    one, other = obeyed(text.replace("{}", "test")), obeyed(text.replace("{}", "evil"))
    assert list(one) == list(other) == ["AIDER_TEST_CMD", "PATH"]
    assert one["AIDER_TEST_CMD"] != other["AIDER_TEST_CMD"]
    assert obeyed("A=1\nDATABASE_URL=x\nAWS_REGION=y\n") == {}


@pytest.mark.parametrize(
    "path",
    [".claude/agents/claude.md", ".claude/agents/README.md", "a/.opencode/agent/agents.md", ".github/agents/readme.md",
     ".claude/commands/license"],
)  # fmt: skip
def test_a_subagent_is_found_whatever_its_name(path: str) -> None:
    """Its head may name hooks and tool servers; one that was called like a text for the model was passed over."""
    assert reader_of(path)
    assert reader_of(f"x/{path.rsplit('/', maxsplit=1)[-1]}") == "", "elsewhere it is a text"


@pytest.mark.parametrize(
    ("path", "text", "shown"),
    [
        (
            "a.json",
            {"hooks": {"X": [{"hooks": [{"type": "command", "command": "evil --now"}]}]}},
            "evil --now",
        ),
        ("a.json", {"mcpServers": {"x": {"command": "npx", "args": ["-y", "x"]}}}, "npx -y x"),
        ("a.json", {"mcp": {"x": {"url": "http://x"}, "y": {"command": ["a", "b"]}}}, "http://x; a b"),
        ("a.json", {"mcpServers": {"x": {"url": "http://x", "headersHelper": "evil"}}}, "http://x evil"),
        ("a.json", {"awsAuthRefresh": "evil", "env": {"ANTHROPIC_BASE_URL": "http://x"}}, "evil; http://x"),
        ("a.json", {"x": [{"command": 5}, {"args": [1]}]}, ""),
        ("a.json", [{"command": "same"}, {"command": "same"}], "same"),
        ("a.json", [{"command": str(n)} for n in range(10)], "0; 1; 2; 3; 4; 5; 6; 7, and 2 more"),
        ("a.md", {"command": "x"}, ""),
    ],
)
def test_what_a_file_runs_is_shown(path: str, text: object, shown: str) -> None:
    assert inside(path, json.dumps(text).encode()) == shown


def test_what_cannot_be_read_shows_nothing() -> None:
    """The file is named all the same."""
    deep = b'{"a":' * 100_000
    nested = b'{"a":' * 20 + b'{"command": "x"}' + b"}" * 20
    for data in (b"{", b"\xff\xfe", deep, nested):
        assert inside("a.json", data) == ""
    assert inside("a.toml", b'[mcp_servers.x]\ncommand = "evil"\n') == "evil"
    assert inside("a.toml", b'openai_base_url = "http://x"\nmodel = "y"\n') == "http://x"
    assert inside("a.toml", b"[") == ""
