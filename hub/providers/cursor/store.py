"""Cursor: the transcripts that its agents keep, of the editor and of the command line, and the editor's database.

Owns: where they lie, and the reading of a transcript.
Must not: open a file, or read the database (`editor.py` does).

`<home>/projects/<folder>/agent-transcripts/<session>/<session>.jsonl`, in older versions without the inner folder. What
surprises: there are no ids, times or tokens, and the model is not named; what the user typed stands inside
`<user_query>`; the project's folder is told by `.workspace-trusted` only, for its name cannot be turned back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from hub.domain.detection.intel import Limits, Place, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat
from hub.providers.cursor import editor
from hub.providers.grammar import Grammar, by_type
from hub.providers.homes import home_of
from hub.providers.jsonline import mapping, text
from hub.providers.places import kept_by, named
from hub.providers.store import DatabaseStore, Files, KindStore, LineStore, beside

_TRANSCRIPTS = ("projects", "*", "agent-transcripts")


def _kind(value: Mapping[str, object]) -> str:
    return text(value.get("role")) or by_type(value)


def _message(draft: IntelDraft, value: Mapping[str, object]) -> str | None:
    said = {"role": value.get("role"), "content": mapping(value.get("message")).get("content")}
    return chat.message(draft, said, user=partial(chat.inside, tag="user_query"))


def _project(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
    project = hit.path.partition("/agent-transcripts/")[0]
    draft.cwd = text(beside(files, hit, f"{project}/.workspace-trusted", limits).get("workspacePath"))


def _editors(home: str, env: Mapping[str, str], _folders: Sequence[str]) -> Sequence[Place]:
    settings = home_of(home, env, "XDG_CONFIG_HOME", ".config")
    editors = (f"{settings}/Cursor", f"{home}/.cursor-server/data")
    return [Place(f"{root}/User/globalStorage", ("state.vscdb",)) for root in editors]


SIGNATURE = Signature(
    executables=("cursor-agent",),
    packages=("cursor-agent/versions",),
    program="cursor-agent",
    home="CURSOR_DATA_DIR",
    default_home=".cursor",
    session_options=("--resume",),
    helpers="login logout status whoami about update models mcp ls create-chat install-shell-integration "
    "--version -v --help -h --list-models",
)
"""How the processes of its command line look: a Node of its own that runs a script beside it. The editor is no session's."""

STORE = KindStore(
    {
        "transcript": LineStore(
            name="cursor",
            where=kept_by(SIGNATURE, (*_TRANSCRIPTS, "*", "*.jsonl"), (*_TRANSCRIPTS, "*.jsonl")),
            named=named(),
            fold=Grammar(
                kind=_kind,
                takes={"user": _message, "assistant": _message},
                silent={"turn_ended", "system", "tool"},
            ).fold,
            after=_project,
        ),
        "editor": DatabaseStore(
            name="cursor", where=_editors, listed=editor.listed, fold=editor.conversation
        ),
    }
)
