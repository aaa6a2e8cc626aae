"""Antigravity: the transcripts that its editor and its command line keep.

Owns: where they lie, and the reading of their steps.
Must not: open a file.

`~/.gemini/antigravity*/brain/<session>/.system_generated/logs/transcript.jsonl`, and beside it the plan, `task.md`. What
surprises: what the user typed stands inside `<USER_REQUEST>`; a step of the model's that is no answer is the result of
a tool, whose name its type is; there are no tokens and no model. The folder is known only from `history.jsonl`, which
has the prompts of all sessions. The conversation itself lies in an undocumented binary form, and is not read.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from functools import partial

from hub.domain.detection.intel import Limits, StoreHit, Unreadable
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat, jsonline, records
from hub.providers.grammar import Grammar, by_type
from hub.providers.jsonline import items, mapping, text
from hub.providers.places import kept_by, named
from hub.providers.store import Files, LineStore

_LOG = ("antigravity*", "brain", "*", ".system_generated", "logs", "transcript.jsonl")
_USER, _ANSWER = "USER_INPUT", "PLANNER_RESPONSE"


def _kind(value: Mapping[str, object]) -> str:
    return by_type(value) if value.get("type") in (_USER, _ANSWER) else text(value.get("source"))


def _step(role: str, draft: IntelDraft, value: Mapping[str, object]) -> None:
    words = text(value.get("content"))
    name = f"{value.get('step_index')}"
    draft.said(role, chat.inside(words, "USER_REQUEST") if role == "user" else words, key=name)
    for call in map(mapping, items(value.get("tool_calls"))):
        chat.called(draft, call)


def _beside(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
    session = hit.path.partition("/.system_generated/")[0]
    plan = _end_of(files, hit, f"{session}/task.md", limits)
    if plan:
        draft.planned(records.checklist(plan))
    prompts = _end_of(files, hit, f"{session.partition('/brain/')[0]}/history.jsonl", limits)
    for line in prompts.splitlines():
        told = jsonline.read(line.encode()) or {}
        if told.get("conversationId", "") in ("", hit.session_id) and (
            told.get("conversationId") or text(told.get("display")).strip() == draft.prompt.strip()
        ):
            draft.cwd = text(told.get("workspace")) or draft.cwd


def _end_of(files: Files, hit: StoreHit, path: str, limits: Limits) -> str:
    """The last part of a file beside the session; "" where there is none."""
    with contextlib.suppress(Unreadable), files.open(hit.root, path, limits) as source:
        return source.at(max(0, source.size - limits.tail), limits.tail).decode("utf-8", "replace")
    return ""


SIGNATURE = Signature(
    executables=("agy",),
    program="agy",
    default_home=".gemini",
    helpers="login logout update mcp --version -v --help -h",
)
"""How the processes of its command line look."""

STORE = LineStore(
    name="antigravity",
    where=kept_by(SIGNATURE, _LOG),
    named=named(3),
    fold=Grammar(
        kind=_kind,
        takes={_USER: partial(_step, "user"), _ANSWER: partial(_step, "assistant")},
        silent={"SYSTEM", "MODEL", "USER_IMPLICIT"},
        key="",
    ).fold,
    after=_beside,
)
