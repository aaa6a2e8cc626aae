"""Cursor: the transcripts that its agents keep, of the editor and of the command line.

Owns: where they lie, and the reading of their records.
Must not: open a file.

`<home>/projects/<folder>/agent-transcripts/<session>/<session>.jsonl`, in older versions without the inner folder. What
surprises: there are no ids, times or tokens, and the model is not named; what the user typed stands inside
`<user_query>`; the project's folder is told by `.workspace-trusted` only, for its name cannot be turned back.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from hub.domain.intel import Limits, StoreHit
from hub.domain.intel_fold import Draft
from hub.providers import chat
from hub.providers.grammar import Grammar, by_type
from hub.providers.jsonline import mapping, text
from hub.providers.places import at, named
from hub.providers.store import Files, LineStore, beside

_TRANSCRIPTS = ("projects", "*", "agent-transcripts")


def _kind(value: Mapping[str, Any]) -> str:
    return text(value.get("role")) or by_type(value)


def _message(draft: Draft, value: Mapping[str, Any]) -> str | None:
    said = {"role": value.get("role"), "content": mapping(value.get("message")).get("content")}
    return chat.message(draft, said, user=partial(chat.inside, tag="user_query"))


def _project(hit: StoreHit, draft: Draft, files: Files, limits: Limits) -> None:
    project = hit.path.partition("/agent-transcripts/")[0]
    draft.cwd = text(beside(files, hit, f"{project}/.workspace-trusted", limits).get("workspacePath"))


STORE = LineStore(
    name="cursor",
    where=at(
        ".cursor", (*_TRANSCRIPTS, "*", "*.jsonl"), (*_TRANSCRIPTS, "*.jsonl"), moved_by="CURSOR_DATA_DIR"
    ),
    named=named("cursor"),
    fold=Grammar(
        kind=_kind, takes={"user": _message, "assistant": _message}, silent={"turn_ended", "system", "tool"}
    ).fold,
    after=_project,
)
