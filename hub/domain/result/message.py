"""What a session's result is called when its user takes it: the commit's message, its trailers, a branch's name.

Owns: those words, and which names of files no agent meant to hand in.
Must not: run git, or know where a result goes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

import attrs

from hub.domain.config.reader import Config
from hub.domain.session import SessionRecord
from hub.domain.text.quoted import line
from hub.domain.text.safe import clean, clip, headline

_SUBJECT = 72
_BODY = 4000
_SLUG = 40
_LINE = 200
_NEVER_WORKED = frozenset({"dispatch_failed", "denied", "auth"})
"""How an attempt ended that nothing came of."""
CO_AUTHORS: Final[Mapping[str, str]] = {
    "claude": "Claude <noreply@anthropic.com>",
    "codex": "Codex <noreply@openai.com>",
}
"""How the makers of agents sign work of theirs; who is not here is named under an address that is nobody's."""
_LEFT_BEHIND = re.compile(
    r"(?:^|/)(?:__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.hypothesis|\.nyc_output|htmlcov)(?:/|$)"
    r"|\.py[co]$|(?:^|/)(?:\.coverage(?:\.[^/]*)?|\.DS_Store)$"
)


@attrs.frozen(kw_only=True)
class CommitStory:
    """What is said of a session in the commit that its user takes."""

    session_id: str
    task: str
    """Without secrets."""
    agents: Sequence[str]
    """Who worked, in turn."""
    verified: bool | None = None
    verify: Sequence[str] = ()
    co_authors: Sequence[str] = ()


def workers(record: SessionRecord) -> tuple[str, ...]:
    """Who worked on a session's task, in turn; each once."""
    tried = (left.provider for left in record.tried if left.failure not in _NEVER_WORKED)
    return tuple(dict.fromkeys(name for name in (*tried, record.provider) if name))


def signed(told: CommitStory, config: Config, display_name: Callable[[str], str]) -> CommitStory:
    """The same with agents' names as people know them, and with those of them as co-authors whom the user wants named."""
    authors = [co_author(name, display_name(name), config.provider(name).co_author) for name in told.agents]
    return attrs.evolve(told, agents=tuple(map(display_name, told.agents)), co_authors=tuple(authors))


def message(told: CommitStory) -> str:
    """The whole commit message: the task, who did it, and the trailers."""
    task = clean(told.task).strip()
    subject = headline(task, _SUBJECT) or f"Work of {told.session_id}"
    rest = task if len(headline(task, len(task) or 1)) > _SUBJECT else task.partition("\n")[2].strip()
    parts = [subject, clip(rest, _BODY), _done(told), _trailers(told)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _done(told: CommitStory) -> str:
    who = f"Done by {', then '.join(told.agents)}." if told.agents else ""
    checks = "; ".join(line(command, _LINE) for command in told.verify)
    word = "Verified" if told.verified else "Not verified"
    said = f"{word}: {checks}" if checks and told.verified is not None else ""
    return "\n".join(part for part in (who, said) if part)


def _trailers(told: CommitStory) -> str:
    authors = dict.fromkeys(line(author, _LINE) for author in told.co_authors)
    return "\n".join(
        [f"Hub-Session: {told.session_id}", *(f"Co-authored-by: {author}" for author in authors if author)]
    )


def co_author(name: str, display_name: str, configured: str | None) -> str:
    """Who an agent is in a trailer; "" where its user wants it named nowhere."""
    if configured is not None:
        return configured
    return CO_AUTHORS.get(name) or f"{display_name} <{name}@hub.localhost>"


def slug(task: str) -> str:
    """A branch's name for a task: `add-json-to-the-list-command`; "" where nothing of it can be in one."""
    words = re.findall(r"[a-z0-9]+", clean(task).partition("\n")[0].lower())
    made = ""
    for word in words:
        longer = f"{made}-{word}" if made else word[:_SLUG]
        if len(longer) > _SLUG:
            break
        made = longer
    return made


def left_behind(paths: Iterable[str]) -> list[str]:
    """Those of new files that programs leave behind and no agent meant to hand in: bytecode, caches, coverage."""
    return [path for path in paths if _LEFT_BEHIND.search(path)]
