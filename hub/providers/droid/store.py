"""Factory's Droid: the sessions it keeps.

Owns: where they lie, and the reading of their records.
Must not: open a file.

`~/.factory/sessions/<folder>/<session>.jsonl`, and beside it `<session>.settings.json` with the model and the tokens of
the whole session. What surprises: what the program tells the model comes as the user, in blocks of the user's own message or
in a message before it; the thinking tokens are among the output tokens; a model of the user's own goes by its alias.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.detection.intel import Limits, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat
from hub.providers.grammar import Grammar
from hub.providers.jsonline import count, mapping, text
from hub.providers.places import kept_by, named
from hub.providers.records import checklist, todos
from hub.providers.store import Files, LineStore, beside

_OWN = ("<system-reminder>", "<system-notification>")
_INPUT = ("inputTokens", "cacheCreationTokens", "cacheReadTokens")
_OUTPUT = ("outputTokens",)


def _start(draft: IntelDraft, value: Mapping[str, object]) -> None:
    draft.session_id = text(value.get("id"))


def _message(draft: IntelDraft, value: Mapping[str, object]) -> str | None:
    message = mapping(value.get("message"))
    draft.model = text(message.get("modelId")) or text(message.get("model")) or draft.model
    return chat.message(draft, message, user=lambda said: "" if said.lstrip().startswith(_OWN) else said)


def _todos(draft: IntelDraft, value: Mapping[str, object]) -> None:
    """The plan in force: a list of steps, or a Markdown list in a string."""
    listed = mapping(value.get("todos")).get("todos", value.get("todos"))
    draft.planned(checklist(listed) if isinstance(listed, str) else todos(listed) or ())


def _settings(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
    """The model, and the sums: a message has no figures of its own."""
    told = beside(files, hit, hit.path.removesuffix(".jsonl") + ".settings.json", limits)
    draft.model = draft.model or text(told.get("model"))
    used = mapping(told.get("tokenUsage"))
    if used:
        draft.total(*(sum(count(used.get(name)) for name in names) for names in (_INPUT, _OUTPUT)))


SIGNATURE = Signature(
    executables=("droid",),
    packages=("@factory/cli",),
    home="FACTORY_HOME_OVERRIDE",
    default_home=".factory",
    below=".factory",
    session_options=("--resume", "-r", "--session-id", "-s"),
    helpers="mcp update plugin computer --version -v --help -h",
    surfaces={"acp": "editor", "daemon": "server"},
)
"""How its processes look: a launcher of Node's, and the program itself."""

STORE = LineStore(
    name="droid",
    where=kept_by(SIGNATURE, ("sessions", "*", "*.jsonl"), ("sessions", "*.jsonl")),
    named=named(),
    fold=Grammar(
        takes={"session_start": _start, "message": _message, "todo_state": _todos},
        silent={"session_settings", "session_end", "compaction_state", "agent_turn_outcome"},
    ).fold,
    after=_settings,
)
