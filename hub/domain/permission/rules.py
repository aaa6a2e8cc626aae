"""What the rules of `hub.toml` say to a request.

Owns: the matching of `[[approvals]]`, and which agents cannot be held to them.
Must not: ask anybody, look at a file, or know an agent's protocol.

Rules:
 1. The first rule that matches decides. Where no rule is about an agent's tools, what the agent asks is asked of a
    person; where one is, what no rule matches is allowed: the rules name the exceptions.
 2. A start or a handoff is only held up where a rule says so; no rule is about a budget that is used up.
 3. `ask` and `deny` match what a request may mean: any of its commands, any of its files, by whatever name and behind
    whatever link, a file below a folder that is searched. `allow` matches what it certainly means: every command, and
    every file where it really lies. Rather asked too often.
 4. A pattern without a blank may mean a file: a command is also judged by the files that its words name.
 5. A script of a shell, one of a `package.json`, and what a Makefile or justfile makes are judged by their plain lines too
    where no rule is about their name.
 6. What a rule could mean and nobody can read (code in another language, the value of a variable, the names that a shell
    finds for `*`, a patch) is asked about, unless an earlier rule allows it. It is not denied: it may be harmless, and a
    person can read it.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

import attrs

from hub.domain.approval import MAX_SUBJECT, Action, PermissionRequest, RuleVerdict
from hub.domain.config.model import ApprovalRule
from hub.domain.meta import EventMeta
from hub.domain.permission import commandforms, commandline, cutting, places, reach, unread
from hub.domain.permission.places import Where
from hub.domain.permission.quoting import HOLE
from hub.domain.permission.reach import Shown
from hub.domain.permission.wildcards import endless, found_as, globbed, guessed, like, overlap

_PLACED = re.compile(r"/\S*[*?]")
"""`d/*` allows what lies in a folder, and `d/../x` does not."""
_QUOTES = re.compile(r"[;&|\n`(){}'\"]+")
_BLANK = re.compile(r"\s")
_WILD = re.compile(r"[*?\[]")
_HIDDEN = "[REDACTED"
_MOST = 4_096
MOST_NAMES = 512
"""Names in one request that are looked at; more of them are more than a rule can judge."""


@attrs.frozen
class Named:
    """What a request and the rules name: to be looked for before they are judged."""

    paths: frozenset[str] = frozenset()
    """Absolute, without `.` and `..`."""
    searched: frozenset[str] = frozenset()
    """Folders whose files are read."""
    shown: frozenset[tuple[str, Shown]] = frozenset()
    """(folder, command of git that shows what files held or brings it back)."""


@attrs.frozen
class SeenPath:
    """What the file system says of it. Without an entry a path is what its name says."""

    real: Mapping[str, str] = attrs.field(factory=dict)
    """Path -> where it leads, through every link."""
    below: Mapping[str, Sequence[str] | None] = attrs.field(factory=dict)
    """Searched folder -> the files in it; None = more than were looked at."""
    shown: Mapping[tuple[str, Shown], Sequence[str] | None] = attrs.field(factory=dict)
    """What a command of git shows -> the files of it, absolute; None, or no entry, = nobody can say."""
    files: frozenset[str] = frozenset()
    """Those of the paths that are files: nothing lies below them."""
    folds: bool = False
    """Whether names that differ in case alone are the same."""


def asks(rules: Iterable[ApprovalRule], provider: str) -> bool:
    """Whether an agent of this provider has to be started so that it asks before it acts."""
    return any(Action(rule.action) is Action.TOOL and like(rule.provider, provider) for rule in rules)


def unenforceable(rules: Iterable[ApprovalRule], provider: str, unasked: Mapping[str, str]) -> str:
    """Why an agent of this provider cannot be held to these rules, in the user's words; "" = it can.

    Args:
        rules: Those in force.
        provider: Whose agent.
        unasked: What it does without asking, however it is started: a pattern of tools' names -> why.
    """
    for rule in rules:
        about = Action(rule.action) is Action.TOOL and like(rule.provider, provider)
        if about and rule.decision != "allow":
            for tool, why in unasked.items():
                if overlap(rule.tool.casefold() or "*", tool.casefold()):
                    return why
    return ""


def judge(
    rules: Sequence[ApprovalRule],
    request: PermissionRequest,
    where: Where | None = None,
    seen: SeenPath | None = None,
) -> RuleVerdict | None:
    """What the rules say; see the rules of this module. None: it is nobody's business, and needs no record."""
    subject = _Subject(request, where or Where(), seen or SeenPath())
    found, doubt = _first(rules, subject)
    if found is not None and found.decision != "allow":
        return RuleVerdict(found.decision, found.severity, found.reason, found.timeout)
    about = request.kind is Action.TOOL and asks(rules, request.provider)
    if len(request.subject) >= MAX_SUBJECT or (about and subject.long):
        doubt = "It is too long to be judged by rules."
    elif about and subject.unseen and subject.judged(rules):
        doubt = "A part of it is not told, so no rule can judge all of it."
    elif about and found is None and unread.speaks_for_user(subject.command):
        doubt = "It could give your answer in your place."
    if doubt:
        return RuleVerdict("ask", reason=doubt)
    if found is not None:
        return RuleVerdict("allow", found.severity, found.reason)
    if request.kind is not Action.TOOL:
        return RuleVerdict("ask") if request.kind is Action.BUDGET else None
    return RuleVerdict("allow") if about else RuleVerdict("ask")


def judge_script(
    rules: Sequence[ApprovalRule],
    request: PermissionRequest,
    line: str,
    where: Where,
    seen: SeenPath | None = None,
) -> RuleVerdict | None:
    """What the rules say to a line of a script that the request runs; None = nothing, or a rule is about its name."""
    if _first(rules, _Subject(request, where, SeenPath()))[0] is not None:
        return None
    found, _ = _first(rules, _Subject(of_script(request, line), where, seen or SeenPath()))
    if found is None or found.decision == "allow":
        return None
    return RuleVerdict(
        found.decision, found.severity, found.reason or "A script that it runs does it.", found.timeout
    )


def of_script(request: PermissionRequest, line: str) -> PermissionRequest:
    """The request as it would be if the agent had typed a script's line itself."""
    context: EventMeta = {"command": line, "cwd": request.context.get("cwd", "")}
    return attrs.evolve(request, subject=line[: MAX_SUBJECT - 1], context=context)


def _first(rules: Iterable[ApprovalRule], subject: _Subject) -> tuple[ApprovalRule | None, str]:
    """The first rule that is met, and why one before it might be."""
    doubt = ""
    for rule in rules:
        if subject.matches(rule):
            return rule, doubt
        doubt = doubt or subject.doubts(rule)
    return None, doubt


def named(rules: Iterable[ApprovalRule], request: PermissionRequest, where: Where) -> Named:
    """What has to be looked for before `judge`; nothing where no rule could mean a file."""
    patterns = [
        rule.command for rule in rules if Action(rule.action) is request.kind and may_be_path(rule.command)
    ]
    subject = _Subject(request, where, SeenPath())
    if request.kind is not Action.TOOL or not patterns:
        return Named(frozenset(subject.programs))
    heads = {
        head for pattern in patterns if (head := places.head(places.absolute(pattern, request.folder, where)))
    }
    heads |= {request.folder, where.root} if request.folder else set()
    return Named(
        frozenset((*subject.names[:MOST_NAMES], *heads, *subject.programs)),
        frozenset(subject.searched[:MOST_NAMES]),
        frozenset(subject.shown),
    )


def may_be_path(pattern: str) -> bool:
    """Whether a pattern may mean a file; "" is every text and needs no look."""
    return bool(pattern.strip("*")) and not _BLANK.search(pattern)


class _Subject:
    """A request, taken apart once for all rules."""

    def __init__(self, request: PermissionRequest, where: Where, seen: SeenPath) -> None:
        self._request = request
        self._where = where
        self._seen = seen
        folders = (request.folder, where.root) if request.folder else ()
        self._folders = [place for name in folders for place in (name, seen.real.get(name, name))]
        self.unseen = bool(request.context.get("unseen")) or (
            _HIDDEN in request.subject and "command" in request.context
        )
        """Whether there is more than is told here: secrets are hidden, and some agents leave parts out."""
        self.command = str(request.context.get("command") or "")
        self._folder = posixpath.join(request.folder or "/", str(request.context.get("cwd") or ""))
        told = [request.context.get("path"), *request.context.get("paths", ())]
        self._paths = list(dict.fromkeys(str(path) for path in told if path))
        self._texts = [str(text) for text in request.context.get("texts", ())]
        words = [*commandforms.named(self.command)] if self.command else []
        loose = [text for text in self._texts if len(text) < _MOST and "\n" not in text.strip()]
        self._words = [(word, place) for folder, word in words for place in self._at(folder, word)]
        self._words += [(text, place) for text in loose for place in self._at("", text)]
        self._given = [(path, place) for path in self._paths for place in self._at("", path)]
        within = [("", str(place)) for place in request.context.get("within", ())]
        within += reach.searched(self.command) if self.command else []
        self.names = list(dict.fromkeys(absolute for _, absolute in (*self._given, *self._words)))
        self.long = len(self.names) >= MOST_NAMES or len(self.command.split()) > commandline.LONGEST
        """Whether it is more than rules can judge."""
        self.searched = list(dict.fromkeys(each for one in within for each in self._at(*one)))
        shown = reach.shown(self.command) if self.command else []
        self.shown = list(dict.fromkeys((self._at("", folder)[0], one) for folder, one in shown))
        calls = [call for call in commandline.run(self.command) if "/" in call.words[0]]
        called = [place for call in calls for place in self._at(call.folders[-1], call.words[0])]
        self.programs = list(dict.fromkeys(called))[:MOST_NAMES]
        """Programs that are called by a path: it may be a link to another."""
        self._folds = seen.folds or "nocaseglob" in self.command

    def _at(self, folder: str, name: str) -> tuple[str, ...]:
        here = posixpath.join(self._folder, places.expanded(folder, self._where))
        return places.every(name, here, self._where)

    def judged(self, rules: Iterable[ApprovalRule]) -> bool:
        """Whether a rule that is not met might be, for all that is seen of the request."""
        return any(rule.decision != "allow" and rule.command and self._concerns(rule) for rule in rules)

    def _concerns(self, rule: ApprovalRule) -> bool:
        request = self._request
        about = Action(rule.action) is request.kind and like(rule.provider, request.provider)
        return about and like(rule.tool.casefold(), request.tool.casefold())

    def doubts(self, rule: ApprovalRule) -> str:
        """Why nobody can say whether a rule that is not met is about this request; "" = it is not, or it allows."""
        if rule.decision == "allow" or not self.command or not rule.command or not self._concerns(rule):
            return ""
        return next(self._doubts(rule.command), "")

    def _doubts(self, pattern: str) -> Iterator[str]:
        if self._code:
            yield "It runs code that no rule can read."
        a_path = may_be_path(pattern)
        forms = [form for form in self._open_forms if not a_path or HOLE in form.partition(" ")[0]]
        if any(endless(form) or overlap(guessed(form), pattern) for form in forms):
            yield "Which command it runs is known only when it runs."
        if a_path:
            yield from self._doubts_of_files(pattern, self._meanings(pattern))
        elif any(endless(form) or overlap(globbed(form), pattern) for form in self._wild_forms):
            yield "Which files it names is known only when it runs."

    def _doubts_of_files(self, pattern: str, patterns: Sequence[str]) -> Iterator[str]:
        if re.match(r"(?i)https?:", pattern):
            words = commandforms.open_names(self.command, whole=True)
            if any(places.may_be_asked(word, pattern) for word in words):
                yield "Which address it asks is known only when it runs."
            return
        yield from self._doubts_of_lists()
        ends = [end for end in commandforms.open_names(self.command) if len(end) < _MOST]
        if any(overlap(f"*{globbed(end)}", each) for end in ends for each in patterns) or any(
            overlap(f"*/{globbed(name)}", pattern) for name in commandforms.lost_names(self.command)
        ):
            yield "Which files it names is known only when it runs."

    def _doubts_of_lists(self) -> Iterator[str]:
        if any(self._seen.shown.get(one) is None for one in self.shown):
            yield "It shows or brings back what git keeps, and nobody can say of which files."
        if self._writes:
            yield "It writes files that it does not name."

    @cached_property
    def _code(self) -> bool:
        return unread.runs_code(self.command)

    @cached_property
    def _writes(self) -> bool:
        return unread.writes_unnamed(self.command)

    @cached_property
    def _open_forms(self) -> list[str]:
        return commandforms.open_forms(self.command)

    @cached_property
    def _wild_forms(self) -> list[str]:
        """Commands in which a shell puts names in the place of signs, but for those of their program."""
        forms = ((form.partition(" ")[0], form) for form in commandforms.forms(self.command))
        return [
            form
            for program, form in forms
            if _WILD.search(form) and not _WILD.search(program) and program not in commandline.SAYERS
        ]

    def matches(self, rule: ApprovalRule) -> bool:
        """Whether the rule is about this request."""
        if not self._concerns(rule):
            return False
        if not rule.command:
            return True
        return self._surely(rule.command) if rule.decision == "allow" else self._maybe(rule.command)

    def _surely(self, pattern: str) -> bool:
        """Every command, every file where it really lies; what the shell itself writes only where the pattern says so."""
        if self.command:
            if ">" not in pattern and cutting.written(self.command):
                return pattern == "*"
            if _PLACED.search(pattern) and commandforms.steps_back(self.command):
                return False
            # `make*` means `make x`, and not `make=1 x`, which runs x.
            sets = pattern.startswith("*") or cutting.ASSIGNED.match(pattern)
            parts = cutting.parts(self._request.subject)
            return all(like(pattern, part) and (sets or not cutting.ASSIGNED.match(part)) for part in parts)
        if self._paths:
            return all(self._fits(pattern, self._really(absolute)) for _, absolute in self._given)
        return all(like(pattern, text) for text in self._texts or [self._request.subject])

    def _maybe(self, pattern: str) -> bool:
        request = self._request
        texts = [request.subject, *self._paths, *self._texts]
        # A word may be an address without its scheme where the rule is about one.
        web = pattern.casefold().startswith("http")
        words = dict.fromkeys((*self._texts, *(word for word, _ in self._words)))
        texts += [form for word in words for form in places.addresses(word, bare=web)]
        if self.command:
            texts += [part.strip() for part in _QUOTES.split(cutting.DUPLICATED.sub("", self.command))]
            forms = commandforms.forms(self.command)
            texts += [*forms, *self._behind_links(forms)]
            # Signs in a program's name: whatever it may be.
            if any(found_as(form, pattern) for form in commandforms.signed(self.command)):
                return True
        if self._fits(pattern, texts):
            return True
        if not may_be_path(pattern):
            return False
        patterns = self._meanings(pattern)
        if any(self._means(patterns, name, absolute) for name, absolute in (*self._given, *self._words)):
            return True
        shown = [file for one in self.shown for file in self._seen.shown.get(one) or ()]
        return any(self._finds(patterns, folder) for folder in self.searched) or any(
            self._fits(each, self._places(file)) for each in patterns for file in shown
        )

    def _behind_links(self, forms: Sequence[str]) -> Iterator[str]:
        """The forms of a program that is a link, under the name of what it leads to."""
        for absolute in self.programs:
            real = posixpath.basename(self._seen.real.get(absolute, absolute))
            for form in forms:
                program, blank, rest = form.partition(" ")
                if posixpath.basename(program) == posixpath.basename(absolute) != real:
                    yield f"{real}{blank}{rest}"

    def _means(self, patterns: Sequence[str], name: str, absolute: str) -> bool:
        forms = [name, *self._places(absolute)]
        if any(self._fits(pattern, forms) for pattern in patterns):
            return True
        # A shell puts names in the place of a word with signs in it: any that fits both is one too many.
        return bool(_WILD.search(absolute)) and any(
            overlap(self._folded(globbed(form)), self._folded(pattern))
            for form in forms
            for pattern in patterns
        )

    def _finds(self, patterns: Sequence[str], folder: str) -> bool:
        """Whether a file below a searched folder is meant; of too many files one is."""
        files = self._seen.below.get(folder, ())
        if files is None:
            return True
        names = [name for file in files for name in self._places(file)]
        return any(self._fits(pattern, names) for pattern in patterns)

    def _places(self, absolute: str) -> list[str]:
        """The path's names, and those of where it really lies."""
        return [*self._names_of(absolute), *self._really(absolute)]

    def _really(self, absolute: str) -> list[str]:
        return self._names_of(self._seen.real.get(absolute, absolute))

    def _names_of(self, absolute: str) -> list[str]:
        """The path; one in the agent's copy, or in the project itself, also by its name in both."""
        absolute = posixpath.normpath(absolute)
        inside = next((found for folder in self._folders if (found := places.inside(absolute, folder))), "")
        return [absolute, inside, posixpath.join(self._where.root, inside)] if inside else [absolute]

    def _meanings(self, pattern: str) -> list[str]:
        """The pattern as it stands, and as a place: without `./`, from `~`, through links; a folder means all in it."""
        absolute = places.absolute(pattern, self._request.folder, self._where)
        head = places.head(absolute)
        real = self._seen.real.get(head, head) + absolute[len(head) :] if head else absolute
        found = [pattern, posixpath.normpath(pattern), absolute, real]
        if not self._seen.files.isdisjoint(found):
            return list(dict.fromkeys(found))
        return list(
            dict.fromkeys([*found, *(f"{one.rstrip('/')}/*" for one in found if not one.endswith("*"))])
        )

    def _fits(self, pattern: str, texts: Iterable[str]) -> bool:
        return any(like(self._folded(pattern), self._folded(text)) for text in texts)

    def _folded(self, text: str) -> str:
        return text.casefold() if self._folds else text
