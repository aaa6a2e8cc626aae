"""Gemini CLI: the sessions it keeps.

Owns: where they lie, and the reading of both generations of them.
Must not: open a file.

`<home>/.gemini/tmp/<project>/chats/session-*`: first one JSON document (`.json`), then lines (`.jsonl`). What
surprises: a line with the id of an earlier one replaces it (a message is written once without and once with its tool
calls); a line `$set` patches the session, and one with `messages` brings messages of its own; what the program
itself tells the model comes as the user; how a command ended stands in lines below what it wrote. The folder is a
short name or, in the first generation, the SHA-256 of the project's path; which one it is, `.project_root` in it or
`projects.json` says.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from hub.domain.detection.intel import FoundFile, Limits, StoreHit, Unreadable
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.providers import chat, records
from hub.providers.jsonline import items, mapping, text
from hub.providers.lines import RecordFold
from hub.providers.places import kept_by
from hub.providers.store import DocumentStore, Files, KindStore, LineStore, beside, parent

SIGNATURE = Signature(
    packages=("@google/gemini-cli",),
    program="gemini",
    home="GEMINI_CLI_HOME",
    default_home=".gemini",
    below=".gemini",
    session_options=("-r", "--resume", "--session-id"),
    helpers="mcp extensions skills hooks --version -v --help -h",
    surfaces={"--acp": "editor", "--experimental-acp": "editor"},
)
"""How its processes look: it starts itself once more, as its own child."""
_OWN = ("<session_context>", "This is the Gemini CLI.", "<state_snapshot>")
_SILENT = frozenset({"info", "warning", "error", "about", "help", "stats", "compression"})
_SHELL = "run_shell_command"
_DIGITS = 3
_BELOW = ("Process Group PGID", "Background PIDs", "Signal", "Exit Code", "Error")
"""The lines below what a command wrote, from the last one up, each where there is something to tell."""


class GeminiFold(RecordFold):
    """The records of one session."""

    def __init__(self, draft: IntelDraft) -> None:
        super().__init__(draft)
        self._called: set[str] = set()

    def record(self, value: Mapping[str, object]) -> None:
        """One record: the head, a patch, or a message."""
        if "$set" in value:
            patch = mapping(value["$set"])
            self.messages(patch.get("messages"))
            self.draft.took() if patch.get("messages") else self.draft.ignored()
        elif "$rewindTo" in value:
            self.draft.forget_turns()
            self.draft.took()
        elif "type" in value:
            self._message(value)
        elif "sessionId" in value:
            self.draft.session_id = text(value["sessionId"])
            self.draft.took()
        else:
            self.draft.unknown(",".join(sorted(value)))

    def messages(self, value: object) -> None:
        """Those of a document or of a patch; the record that brings them is counted by itself."""
        for message in items(value):
            self._message(mapping(message))

    def _message(self, value: Mapping[str, object]) -> None:
        kind, name = text(value.get("type")), text(value.get("id"))
        words = records.said(value.get("content"))
        if kind == "gemini":
            self.draft.said("assistant", words, key=name)
            self._answer(value, name)
            self.draft.took()
        elif kind == "user" and words.strip() and not words.startswith(_OWN):
            self.draft.said("user", words, key=name)
            self.draft.took()
        elif kind == "user" or kind in _SILENT:
            self.draft.ignored()
        else:
            self.draft.unknown(kind)

    def _answer(self, value: Mapping[str, object], name: str) -> None:
        self.draft.model = text(value.get("model")) or self.draft.model
        # `input` has the cached ones in it; thoughts are output that is told by itself.
        chat.used(self.draft, name, value.get("tokens"), ("input",), ("output", "thoughts"))
        for call in map(mapping, items(value.get("toolCalls"))):
            self._call(call)

    def _call(self, call: Mapping[str, object]) -> None:
        """A call with its result; each later record of the message says the calls of the earlier ones again."""
        key, tool, status = text(call.get("id")), text(call.get("name")), call.get("status")
        if key and key in self._called:
            return
        if status in ("success", "error", "cancelled"):
            self._called.add(key)
        if status not in ("error", "cancelled"):
            records.called(self.draft, tool, call.get("args"), key)
        records.began(self.draft, key, tool, call.get("args"))
        for part in map(mapping, items(call.get("result"))):
            answer = mapping(mapping(part.get("functionResponse")).get("response"))
            words, code = text(answer.get("output")) or text(answer.get("error")), None
            if tool == _SHELL:
                words, code = _ran(words)
            failed = status == "error"
            self.draft.ended(key, words, exit_code=None if failed else code, failed=failed)
        if status == "success":
            self.draft.settled(key, well=True)


def _ran(words: str) -> tuple[str, int | None]:
    """What a command wrote, and its exit status: one other than 0 is told; None of a command that hub cannot know it of."""
    wrote = words.removeprefix("<untrusted_context>\n").removesuffix("\n</untrusted_context>")
    told = {}
    for name in _BELOW:
        above, mark, said = wrote.rpartition(f"\n{name}: ")
        if mark and "\n" not in said:
            wrote, told[name] = above, said
    code = told.get("Exit Code", "")
    if len(code) <= _DIGITS and code.isascii() and code.isdecimal():
        return wrote.removeprefix("Output: "), int(code)
    ended = wrote.startswith("Output: ") and not code and told.get("Signal", "(none)") == "(none)"
    return wrote.removeprefix("Output: "), 0 if ended else None


def _document(value: Mapping[str, object], draft: IntelDraft) -> None:
    draft.session_id = text(value.get("sessionId"))
    if isinstance(value.get("messages"), list):
        GeminiFold(draft).messages(value["messages"])
    else:
        draft.unknown(",".join(sorted(value)))


def _named(_: FoundFile) -> str:
    """Its records tell."""
    return ""


def _project(hit: StoreHit, draft: IntelDraft, files: Files, limits: Limits) -> None:
    """The project's folder, by the name of the folder the session lies in."""
    slug = parent(hit.path, 2)
    told = f"{hit.root}/tmp/{slug}/.project_root"  # noqa: S108  # Gemini's own folder of this name
    with (
        contextlib.suppress(Unreadable),
        files.open(hit.root, told, limits) as root,
    ):
        draft.cwd = root.at(0, 4096).decode("utf-8", "replace").strip()
    if not draft.cwd:
        known = beside(files, hit, f"{hit.root}/projects.json", limits)
        projects = mapping(known.get("projects")).items()
        draft.cwd = next((path for path, name in projects if slug in (name, _hashed(path))), "")


def _hashed(path: str) -> str:
    from hashlib import sha256  # it loads OpenSSL, for sessions of Gemini's alone

    return sha256(path.encode("utf-8", "replace")).hexdigest()


STORE = KindStore(
    {
        "lines": LineStore(
            name="gemini",
            where=kept_by(SIGNATURE, ("tmp", "*", "chats", "session-*.jsonl")),
            named=_named,
            fold=GeminiFold,
            after=_project,
        ),
        "document": DocumentStore(
            name="gemini",
            where=kept_by(SIGNATURE, ("tmp", "*", "chats", "session-*.json")),
            named=_named,
            fold=_document,
            after=_project,
        ),
    }
)
