"""Aider: the sessions it keeps.

Owns: where they lie, and the reading of the newest session in such a file.
Must not: open a file.

`.aider.chat.history.md` in the folder it works in, or where `AIDER_CHAT_HISTORY_FILE` says: Markdown, all sessions one
after the other, so the newest is what stands after the last `# aider chat started at`. Lines of the user begin with
`#### `, those of the program with `> `; the rest is the model's. A file of this name is no session's only record: what
a model wrote may look like any of these lines.

Tests: tests/hub/providers/test_stores.py
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import attrs

from hub.domain.detection.intel import Limits, Place, StoreHit
from hub.domain.detection.intel_fold import IntelDraft
from hub.domain.detection.processes import Signature
from hub.domain.text.patterns import late
from hub.providers.aider import checks
from hub.providers.lines import Source
from hub.providers.store import Files, PlacedStore

SIGNATURE = Signature(
    program="aider",
    helpers="--version --help -h --models --list-models",
)
"""How its processes look: a script of Python's; its history lies in the folder it works in."""
_FILE = ".aider.chat.history.md"
_STARTED = b"# aider chat started at "
_MODEL = late(r"^(?:Main model|Model): (\S+)")
_EDITED = late(r"^Applied edit to (.+)")
_TOKENS = late(r"^Tokens: ([\d.,]+k?) sent,(?: [\d.,]+k? cache \w+,)* ([\d.,]+k?) received")
_OUTPUT = late(r"^Added \d+ lines? of output to the chat\.")
_THOUGHT = late(r"<(thinking-content-[0-9a-f]+)>.*?</\1>\s*", re.DOTALL)
_USER, _PROGRAM = "#### ", "> "


class AiderFold:
    """The lines of one session."""

    def __init__(self, draft: IntelDraft) -> None:
        self.draft = draft
        self._role = ""
        self._words: list[str] = []
        self._check = ""
        self._checks = 0

    def line(self, line: str) -> None:
        """One line, without its end. Each is a record: nothing tells where a longer one would begin."""
        if line.startswith(_USER):
            self._speak("user", line[len(_USER) :].rstrip())
        elif line.startswith(_PROGRAM) or line.rstrip() == ">":
            self._program(line[len(_PROGRAM) :].strip())
        elif self._role == "assistant" or line.strip():
            self._speak("assistant", line.rstrip())
        else:
            return
        self.draft.took()

    def end(self) -> None:
        """What was said last is whole."""
        words, self._words = _THOUGHT().sub("", "\n".join(self._words)).strip(), []
        self.draft.said(self._role, words)
        self._role = ""

    def _speak(self, role: str, words: str) -> None:
        if role != self._role:
            self.end()
        self._role = role
        self._words.append(words)

    def _program(self, words: str) -> None:
        self.end()
        if found := _MODEL().match(words):
            self.draft.model = found[1]
        elif found := _EDITED().match(words):
            self.draft.touched(found[1])
        elif _OUTPUT().match(words):
            self._failed()
        elif not self.draft.prompt and (check := checks.command_in(words)):
            self._check = check
        elif found := _TOKENS().match(words):
            sent, received = _figure(found[1]), _figure(found[2])
            self.draft.tokens_exact &= "k" not in found[1] + found[2]
            self.draft.used("", sent, received)

    def _failed(self) -> None:
        """The check of the last edits has failed; what it wrote is not kept."""
        self._checks += 1
        key = f"check-{self._checks}"
        self.draft.began(key, "check", command=self._check)
        self.draft.ended(key, failed=True)


def _figure(words: str) -> int:
    digits = words.replace(",", "").rstrip("k").strip(".")
    try:
        return round(float(digits or 0) * (1000 if words.endswith("k") else 1))
    except ValueError:
        return 0


@attrs.frozen(kw_only=True)
class AiderStore(PlacedStore):
    """One file a folder."""

    def find(self, files: Files, place: Place, since_ns: int) -> Iterator[StoreHit]:
        """One hit a file; its session is the newest in it, and works where it lies."""
        for found in files.walk(place, since_ns):
            yield StoreHit(
                provider=self.name, path=found.path, cwd=place.root, mtime_ns=found.mtime_ns, root=place.root
            )

    def _tell(self, draft: IntelDraft, hit: StoreHit, files: Files, limits: Limits) -> None:
        """The newest session of the file."""
        draft.lifts = True
        fold = AiderFold(draft)
        with files.open(hit.root, hit.path, limits) as source:
            begun, head, rest = _newest(source, limits)
        draft.session_id = head.decode("utf-8", "replace").strip()
        draft.skipped(begun)
        for line in rest.decode("utf-8", "replace").split("\n"):
            fold.line(line)
        fold.end()


def _where(home: str, env: Mapping[str, str], folders: Sequence[str]) -> Sequence[Place]:
    """The folders agents work in, the home directory, and where the environment says."""
    moved = env.get("AIDER_CHAT_HISTORY_FILE", "")
    named = [Place(folder, (_FILE,)) for folder in (*folders, home) if folder.startswith("/")]
    if moved.startswith("/"):
        folder, _, file = moved.rpartition("/")
        named.append(Place(folder or "/", (file,)))
    return named


def _newest(source: Source, limits: Limits) -> tuple[int, bytes, bytes]:
    """The newest session: how many of its bytes were not read, when it started, and its text.

    Earlier sessions are no part of it, so they count as nothing.
    """
    window = min(source.size, limits.tail)
    while True:
        data = source.at(source.size - window, window)
        at = data.rfind(b"\n" + _STARTED) + 1
        if at or data.startswith(_STARTED) or window == source.size:
            head, _, rest = data[at:].partition(b"\n")
            known = head.startswith(_STARTED)
            return 0, head[len(_STARTED) :] if known else b"", rest if known else data
        if window >= limits.record:
            return source.size - window, b"", data.partition(b"\n")[2]
        window = min(source.size, window * 2)


STORE = AiderStore(name="aider", where=_where)
