"""Cline: the sessions of its command line, and the tasks of its extension.

Owns: where they lie, and the reading of a session.
Must not: open a file, or read a task (`hub.providers.tasks` does).

`~/.cline/data/sessions/<session>/<session>.messages.json`, and beside it `<session>.json` with folder and model. What
surprises: what the user typed stands inside `<user_input>`; input tokens have the cached ones in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from hub.domain.detection.intel import Limits, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat, tasks
from hub.providers.jsonline import items, mapping, text
from hub.providers.places import kept_by, named
from hub.providers.store import DocumentStore, Files, KindStore, beside

_INPUT, _OUTPUT = ("inputTokens",), ("outputTokens",)


def _messages(value: Mapping[str, object], draft: IntelDraft) -> None:
    if not isinstance(value.get("messages"), list):
        draft.unknown(",".join(sorted(value)))
    draft.session_id = text(value.get("sessionId"))
    for one in map(mapping, items(value.get("messages"))):
        name = text(one.get("id"))
        draft.model = text(mapping(one.get("modelInfo")).get("id")) or draft.model
        chat.used(draft, name, one.get("metrics"), _INPUT, _OUTPUT)
        draft.took(chat.message(draft, one, key=name, user=partial(chat.inside, tag="user_input")))


def _about(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
    told = beside(files, hit, hit.path.removesuffix(".messages.json") + ".json", limits)
    draft.cwd = text(told.get("cwd"))
    draft.model = draft.model or text(told.get("model"))


SIGNATURE = Signature(
    executables=("cline",),
    program="cline",
    home="CLINE_DATA_DIR",
    default_home=".cline/data",
    store=r"^(?P<home>/.+)/db/sessions\.db$",
    helpers="auth config mcp version update history hub connect doctor dev --version -V --help -h",
    surfaces={"--acp": "editor"},
)
"""How the processes of its command line look; it holds its database open."""

STORE = KindStore(
    {
        "session": DocumentStore(
            name="cline",
            where=kept_by(SIGNATURE, ("sessions", "*", "*.messages.json")),
            named=named(1),
            fold=_messages,
            after=_about,
        ),
        "task": tasks.store("cline", "saoudrizwan.claude-dev"),
    }
)
