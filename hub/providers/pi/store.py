"""Pi: the sessions it keeps.

Owns: where they lie, and the reading of their entries.
Must not: open a file.

`<home>/sessions/<folder>/<time>_<session>.jsonl`. What surprises: a file is a tree; each entry names its parent, and going
back in the conversation adds a new branch to the end. Only the branch of the last entry counts as recent.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat
from hub.providers.grammar import Grammar, GrammarFold
from hub.providers.jsonline import mapping, text
from hub.providers.places import kept_by, named
from hub.providers.store import LineStore

_INPUT, _OUTPUT = ("input", "cacheRead", "cacheWrite"), ("output",)


def _session(draft: IntelDraft, value: Mapping[str, object]) -> None:
    draft.session_id = text(value.get("id"))
    _model(draft, value)


def _model(draft: IntelDraft, value: Mapping[str, object]) -> None:
    draft.model = text(value.get("modelId")) or draft.model


def _message(draft: IntelDraft, value: Mapping[str, object]) -> str | None:
    message, name = mapping(value.get("message")), text(value.get("id"))
    if message.get("role") in (
        "bashExecution",
        "custom",
        "hookMessage",
        "branchSummary",
        "compactionSummary",
    ):
        return None
    draft.model = text(message.get("model")) or draft.model
    chat.used(draft, name, message.get("usage"), _INPUT, _OUTPUT)
    return chat.message(draft, message, key=name)


_GRAMMAR = Grammar(
    takes={"session": _session, "model_change": _model, "message": _message},
    silent={
        "thinking_level_change",
        "compaction",
        "branch_summary",
        "custom",
        "custom_message",
        "label",
        "session_info",
    },
)


class PiFold(GrammarFold):
    """The entries of one session."""

    def __init__(self, draft: IntelDraft) -> None:
        super().__init__(draft, _GRAMMAR)
        self._parents: dict[str, str] = {}
        self._last = ""

    def gap(self, count: int) -> None:
        """The parents of what follows may lie in what was not read."""
        super().gap(count)
        self._parents.clear()
        self._last = ""

    def record(self, value: Mapping[str, object]) -> None:
        """One entry; where it goes on from an earlier one, what was said since then is off its branch."""
        name, above = text(value.get("id")), text(value.get("parentId"))
        known = above in self._parents or (not above and "parentId" in value)
        if known and above != self._last and name not in self._parents:
            self.draft.forget_turns(but=self._branch(above))
        if name:
            self._parents.setdefault(name, above)
            self._last = name
        super().record(value)

    def _branch(self, name: str) -> set[str]:
        found: set[str] = set()
        while name and name not in found:
            found.add(name)
            name = self._parents.get(name, "")
        return found


SIGNATURE = Signature(
    packages=("@mariozechner/pi-coding-agent", "@earendil-works/pi-coding-agent"),
    title="pi",
    home="PI_CODING_AGENT_DIR",
    default_home=".pi/agent",
    session_options=("--session",),
    helpers="install remove uninstall update list config --version -v --help -h --list-models --export",
    surfaces={"rpc": "program"},
)
"""How its processes look; it writes its name over its arguments. A script of that name may well compute a number."""

STORE = LineStore(
    name="pi",
    where=kept_by(SIGNATURE, ("sessions", "*", "*.jsonl")),
    named=named(after="_"),
    fold=PiFold,
)
