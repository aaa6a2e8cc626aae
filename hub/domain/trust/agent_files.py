"""The files of a project that an agent takes orders from when it starts: hooks, tool servers, plugins, variables.

Owns: the table of them, agent by agent, and what of a file is shown.
Must not: open a file.

Agents ask their own user before they obey such a file, and hub starts them without that question. So hub asks. Texts for
the model alone (`AGENTS.md`, rules) are none of these, unless another user has put them above the project.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise

FOLDERS: Mapping[str, str] = {
    ".claude": "Claude Code",
    ".claude-plugin": "Claude Code",
    ".codex": "Codex",
    ".codex-plugin": "Codex",
    ".gemini": "Gemini CLI",
    ".opencode": "OpenCode",
    ".qwen": "Qwen Code",
    ".copilot": "Copilot",
    ".github/agents": "Copilot",
    ".github/copilot": "Copilot",
    ".github/extensions": "Copilot",
    ".github/hooks": "Copilot",
    ".github/plugin": "Copilot",
    ".github/skills": "Copilot",
    ".agent": "Antigravity",
    ".agents": "several agents",
    ".amazonq": "Amazon Q",
    ".amp": "Amp",
    ".augment": "Auggie",
    ".cline": "Cline",
    ".clinerules": "Cline",
    ".codebuddy": "CodeBuddy",
    ".continue": "Continue",
    ".crush/commands": "Crush",
    ".crush/skills": "Crush",
    ".cursor": "Cursor",
    ".factory": "Droid",
    ".goose": "Goose",
    ".iflow": "iFlow",
    ".junie": "Junie",
    ".kilo": "Kilo Code",
    ".kilocode": "Kilo Code",
    ".kimi": "Kimi",
    ".kiro": "Kiro",
    ".openhands": "OpenHands",
    ".pi": "Pi",
    ".qoder": "Qoder",
    ".roo": "Roo Code",
    ".vibe": "Vibe",
    ".windsurf": "Windsurf",
}
"""Every file below such a folder counts, wherever in the project it is."""
FILES: Mapping[str, str] = {
    ".mcp.json": "Claude Code and others",
    ".github/mcp.json": "Copilot",
    ".github/lsp.json": "Copilot",
    "lsp.json": "Copilot",
    ".lsp.json": "Qwen Code",
    ".vscode/mcp.json": "Copilot",
    "opencode.json": "OpenCode",
    "opencode.jsonc": "OpenCode",
    ".aider.conf.yml": "Aider",
    ".aider.model.settings.yml": "Aider",
    ".aider.model.metadata.json": "Aider",
    "crush.json": "Crush",
    ".crush.json": "Crush",
    "kilo.json": "Kilo Code",
    "kilo.jsonc": "Kilo Code",
}
_PLAIN = tuple(name for name in FILES if not name.startswith("."))
VARIABLES = ".env"
"""Aider, Gemini CLI and Qwen Code take their own settings from it, and so their commands and servers."""
_BLANK = "[\t\v\f \xa0\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff]"
"""What the readers of such files take for a blank: a mark of byte order too."""
_ENDS = re.compile("\r\n?|[\u2028\u2029]")
"""What they take for the end of a line besides."""
_QUOTED = r"\"(?>(?:[^\"\\]|\\[\s\S])*)\"|'(?>(?:[^'\\]|\\[\s\S])*)'|`[^`]*`"
"""A value that may have several lines."""
_OBEYED = re.compile(
    rf"^{_BLANK}*(?:export{_BLANK}+)?("
    r"(?:AIDER|ANTHROPIC|AZURE|CLAUDE|CODEX|COPILOT|DEEPSEEK|GEMINI|GOOGLE|GOOSE|GROQ|HUB|KIMI|LITELLM"
    r"|MISTRAL|NODE|OLLAMA|OPENAI|OPENCODE|OPENROUTER|QWEN|DASHSCOPE|XAI"
    r"|LD|DYLD|GIT|SSH|NPM_CONFIG|XDG|BUN|DENO|RIPGREP|CURL|SSL|REQUESTS|PERL5?|RUBY|DOCKER|PROMPT)_[A-Z0-9_]*"
    r"|(?:SANDBOX|SEATBELT|PYTHON|PERL5|RUBY|LESS)[A-Z0-9_]*|[A-Z0-9_]*JAVA(?:_TOOL)?_OPTIONS"
    r"|AWS_(?:CONFIG_FILE|SHARED_CREDENTIALS_FILE|CA_BUNDLE|[A-Z]*_?PROFILE|(?:BEDROCK|CONTAINER|ENDPOINT|WEB_IDENTITY)[A-Z0-9_]*)"
    r"|(?:CLOUDSDK|OPENSSL|OTEL_EXPORTER|PIP|UV|VERTEX(?:AI)?)_[A-Z0-9_]*|[A-Z0-9_]+_API_BASE"
    r"|DOTNET_STARTUP_HOOKS|GCONV_PATH|GO(?:FLAGS|ENV)|MAKEFLAGS|RUSTC_(?:WORKSPACE_)?WRAPPER|SSLKEYLOGFILE"
    r"|(?:HTTPS?|ALL|NO)_PROXY|PATH|HOME|SHELL|EDITOR|VISUAL|[A-Z]*PAGER|BROWSER|BASH_ENV|ENV|ZDOTDIR|IFS|PS[0-4]"
    rf"){_BLANK}*[=:](?={_BLANK}*({_QUOTED}))?.*$",
    re.IGNORECASE | re.MULTILINE,
)
TEXTS: Mapping[str, str] = {
    "AGENTS.md": "several agents",
    "AGENTS.override.md": "Codex",
    "CLAUDE.md": "Claude Code",
    "CLAUDE.local.md": "Claude Code",
    "GEMINI.md": "Gemini CLI",
    "QWEN.md": "Qwen Code",
}
"""Words for the model, which start nothing by themselves; but a stranger's are not those of the project."""
_TEXTS = frozenset({*map(str.lower, TEXTS), "readme.md", "license"})
"""Words, in a project or beside an agent's settings. Further down it may be the name of anything: of a subagent, say."""
_NOTHING = frozenset({".gitignore", ".gitkeep"})
_KEPT = (".db", ".db-shm", ".db-wal", ".jsonl", ".lock", ".log", ".pid", ".sqlite")
"""What agents themselves write beside their settings, and no agent obeys."""
COPIES = ".claude/worktrees"
"""Whole checkouts, made by Claude Code."""
_RULES = re.compile(
    r"(?:^|/)(?:\.[\w-]+/(?:rules|steering|memories)|\.clinerules)/.*\.mdc?$|(?:^|/)\.clinerules$"
)
_SAID = ("args", "cmd", "command", "export", "helper", "notify", "path", "prompt", "refresh", "url")
"""How the names of settings end by which a program is run or spoken to, whatever their agent puts before."""
_DEEP = 12
_MANY = 8


def reader_of(path: str) -> str:
    """Which agent takes orders from the file of this path in a project; "" for none.

    Args:
        path: Relative to the root, with `/`. Letters count alike whether small or capital: some disks do not tell.
    """
    whole = path.lower()
    if "/." not in whole and not whole.startswith(".") and not whole.endswith(_PLAIN):
        return ""  # nearly every file of a project: there may be a hundred thousand
    parts = whole.split("/")
    name = parts[-1]
    if (
        name in _NOTHING
        or (name in _TEXTS and not _is_below(parts))
        or name.endswith(_KEPT)
        or whole.startswith((f"{COPIES}/", ".hub/"))
    ):
        return ""
    if _RULES.search(whole):
        return ""
    for at, part in enumerate(parts):
        pair = "/".join(parts[at : at + 2])
        # A link may stand for the folder itself, so the last part counts too.
        if found := FOLDERS.get(part) or FOLDERS.get(pair):
            return found
    return (
        FILES.get("/".join(parts[-2:])) or FILES.get(name) or ("several agents" if whole == VARIABLES else "")
    )


def _is_below(parts: list[str]) -> bool:
    """Whether a file lies deeper than right beside an agent's settings."""
    pairs = ("/".join(pair) for pair in pairwise(parts[:-1]))
    return any(part in FOLDERS for part in parts[:-2]) or any(pair in FOLDERS for pair in pairs)


def obeyed(text: str) -> dict[str, str]:
    """The variables of a `.env` by which an agent is told what to run, or where to send its work.

    By name: the line, and the others where the value has several.
    """
    found = _OBEYED.finditer(_ENDS.sub("\n", text))
    return {one[1]: f"{one[0].strip()}{(one[2] or '').partition(chr(10))[2]}" for one in found}


def inside(path: str, data: bytes) -> str:
    """What a file names that is run or spoken to, in a few words; "" where nothing is found, or it cannot be read."""
    if posixpath.splitext(path)[1] not in (".json", ".jsonc", ".toml"):
        return ""
    text = data.decode("utf-8", "replace")
    try:
        value = _toml(text) if path.endswith(".toml") else json.loads(text)
    except (ValueError, RecursionError):
        return ""
    found = list(dict.fromkeys(_said(value, _DEEP)))
    more = f", and {len(found) - _MANY} more" if len(found) > _MANY else ""
    return "; ".join(found[:_MANY]) + more


def _toml(text: str) -> object:
    import tomllib  # few have such a file

    return tomllib.loads(text)


def _said(value: object, deep: int) -> Iterator[str]:
    """Commands with their arguments, and addresses."""
    if deep == 0:
        return
    if isinstance(value, Mapping):
        words = [_words(each) for key, each in value.items() if _tells(key)]
        if line := " ".join(filter(None, words)):
            yield line
        for each in value.values():
            yield from _said(each, deep - 1)
    elif isinstance(value, list):
        for each in value:
            yield from _said(each, deep - 1)


def _tells(key: object) -> bool:
    return str(key).lower().replace("_", "").endswith(_SAID)


def _words(value: object) -> str:
    if isinstance(value, str):
        return value
    return " ".join(value) if isinstance(value, list) and all(isinstance(each, str) for each in value) else ""
