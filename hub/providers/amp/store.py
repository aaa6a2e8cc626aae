"""Amp: the threads it keeps.

Owns: where they lie, and the reading of one.
Must not: open a file.

`<data>/amp/threads/T-<id>.json`, one document a thread. What surprises: input tokens come in three figures that add up
(new, written to a cache, read from one); the folder is a URI.
"""

from __future__ import annotations

from collections.abc import Mapping

from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat
from hub.providers.jsonline import items, mapping, text
from hub.providers.places import kept_by, named
from hub.providers.store import DocumentStore

_INPUT = ("inputTokens", "cacheCreationInputTokens", "cacheReadInputTokens")
_OUTPUT = ("outputTokens",)


def _thread(value: Mapping[str, object], draft: IntelDraft) -> None:
    if not isinstance(value.get("messages"), list):
        draft.unknown(",".join(sorted(value)))
        return
    draft.session_id = text(value.get("id"))
    draft.cwd = _folder(mapping(mapping(value.get("env")).get("initial")))
    for number, one in enumerate(map(mapping, items(value["messages"]))):
        name = text(one.get("messageId")) or str(one.get("messageId", number))
        used = mapping(one.get("usage"))
        draft.model = text(used.get("model")) or draft.model
        chat.used(draft, name, used, _INPUT, _OUTPUT)
        draft.took(chat.message(draft, one, key=name))


def _folder(initial: Mapping[str, object]) -> str:
    trees = (text(mapping(tree).get("uri")) for tree in items(initial.get("trees")))
    uri = next((tree for tree in trees if tree.startswith("file://")), "")
    from urllib.parse import unquote  # most have no such agent

    return unquote(uri.removeprefix("file://")) or text(initial.get("cwd"))


SIGNATURE = Signature(
    executables=(".amp/bin/amp",),
    packages=("@ampcode/cli", "@sourcegraph/amp"),
    home="XDG_DATA_HOME",
    default_home=".local/share/amp",
    below="amp",
    helpers="login logout update mcp tools permissions skill review --version -V --help -h",
)
"""How its processes look. Its name alone is also an editor's."""

STORE = DocumentStore(
    name="amp", where=kept_by(SIGNATURE, ("threads", "T-*.json")), named=named(), fold=_thread
)
