"""What a project may do before its user trusted it: every setting, and what it lets the project do.

Owns: the one table of settings by what they do, what of a `hub.toml` needs the user's word and in which words, the
tables that are left without it, and how two sets differ.
Must not: open a file, ask anybody, or know the agents' own files (`hub.domain.trust.agent_files` does).

Whoever clones a repository has not read its `hub.toml`. A setting that only orders what hub does anyway is read; one
that names a program, an address, a variable or a login is read once the user has agreed to it; and what concerns more
than the project stands in the user's own configuration or nowhere.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any

import attrs

from hub.domain.config.schema import SettingProblem
from hub.domain.text.safe import visible

Raw = Mapping[str, Any]
Digests = Mapping[str, str]
"""Key of an item -> its digest: a set that can be agreed to."""


class Does(StrEnum):
    """What a setting of `hub.toml` lets the project do."""

    READS = "reads"
    """Nothing that hub would not do anyway: it is read without being asked for."""
    RUNS = "runs"
    SENDS = "sends"
    OPENS = "opens"
    """A way in, or a guard that is taken down."""
    YOURS = "yours"
    """More than one project may decide: it is read from the user's own configuration alone."""


_YOURS = (Does.YOURS, "")
_READS = (Does.READS, "")
SETTINGS: Mapping[str, tuple[Does, str]] = {
    "server.port": _READS,
    "server.host": _YOURS,
    "server.token": _YOURS,
    "server.socket": _YOURS,
    "server.allowed_origins": _YOURS,
    "session.chain": _READS,
    "session.concurrent": _READS,
    "session.threshold": _READS,
    "session.maxHandoffs": _READS,
    "session.onLimit": _READS,
    "session.verify": (Does.RUNS, "checks the work with"),
    "session.maxCost": (Does.OPENS, "sets, in place of yours, what a session may cost, maxCost"),
    "session.maxTokens": (Does.OPENS, "sets, in place of yours, what a session may use, maxTokens"),
    "session.verifyTimeout": _READS,
    "session.verifyTries": _READS,
    "session.pauseGrace": _READS,
    "session.stopGrace": _READS,
    "session.resumeTimeout": _READS,
    "session.silentAfter": _READS,
    "session.orphanGrace": _READS,
    "session.retries": _READS,
    "worktree.setup": (Does.RUNS, "sets up each worktree with"),
    "worktree.setupTimeout": _READS,
    "worktree.copy": (Does.SENDS, "gives agents copies of your own files"),
    "worktree.link": (Does.OPENS, "lets agents work in your own files"),
    "providers.*.enabled": _READS,
    "providers.*.declaredCap": _READS,
    "providers.*.concurrency": _READS,
    "providers.*.quotaEndpoint": _YOURS,
    "providers.*.quotaUrl": _YOURS,
    "providers.*.model": _READS,
    "providers.*.baseUrl": (Does.SENDS, "sends the work and the key of {1} to"),
    "providers.*.program": (Does.RUNS, "starts in place of {1}"),
    "providers.*.script": (Does.RUNS, "lets {1} do what is written in"),
    "providers.*.env": (Does.SENDS, "sets for {1}, which may send its work elsewhere"),
    "providers.*.options": (Does.RUNS, "starts {1} with the options"),
    "providers.*.accounts.label": _READS,
    "providers.*.accounts.configDir": (Does.OPENS, "uses a login of {1} in"),
    "providers.*.accounts.active": _READS,
    "providers.*.accounts.concurrency": _READS,
    "providers.*.accounts.env": (Does.SENDS, "sets for {1}, which may send its work elsewhere"),
    "providers.*.kind": (Does.RUNS, "adds the agent {1}, which speaks"),
    "providers.*.command": (Does.RUNS, "starts as the agent {1}"),
    "providers.*.displayName": _READS,
    "providers.*.coAuthor": _READS,
    "providers.*.keyNames": (Does.SENDS, "gives {1} your keys"),
    "providers.*.homeEnv": (Does.SENDS, "tells {1} the place of a login in"),
    "providers.*.baseUrlEnv": (Does.SENDS, "tells {1} an address in"),
    "providers.*.modelEnv": (Does.SENDS, "tells {1} its model in"),
    "profiles.name": _READS,
    "profiles.chain": _READS,
    "profiles.kinds": _READS,
    "profiles.skills": _READS,
    "profiles.contextHint": _READS,
    "pipelines.name": _READS,
    "pipelines.nodes.id": _READS,
    "pipelines.nodes.provider": _READS,
    "pipelines.nodes.task": _READS,
    "pipelines.nodes.dependsOn": _READS,
    "pipelines.nodes.fallback": _READS,
    "pipelines.nodes.verify": (Does.RUNS, "checks the work of {1}, {3} with"),
    "terminal.command": _YOURS,
    "approvals": (Does.OPENS, "sets, in place of yours, what agents may do without asking"),
    "vision.enabled": _READS,
    "vision.provider": (Does.SENDS, "sends pictures with the key of"),
    "vision.model": _READS,
    "vision.baseUrl": (Does.SENDS, "sends pictures to"),
    "vision.maxPixels": _READS,
    "redaction.detection": (
        Does.OPENS,
        "switches off the search for secrets that nobody told hub, detection",
    ),
    "detect.ambient": _READS,
    "detect.interval": _READS,
    "notify.on": _READS,
    "notify.bell": _READS,
    "notify.desktop": _READS,
    "notify.command": _YOURS,
    "notify.urls": _YOURS,
}
"""Every setting by its place in `hub.toml`, what it does, and how that is said. A number stands for a part of the
place: `providers.claude.baseUrl` has 1 for `claude`."""
_NEW = (Does.RUNS, "sets")
"""A setting that this table has not: none is safe because nobody thought of it."""
KEYS = "file:.hub/.env"
_NAMES = ("name", "label", "id")
"""By which key an element of an array of tables is known, so that its place does not change with its neighbours."""
_GAP = re.compile(r"[^\S\n]{4,}")
_SHOWN = 1000


@attrs.frozen
class Item:
    """One thing that needs the user's word."""

    does: Does
    key: str = attrs.field(converter=visible)
    """Where it stands: `session.verify`, or `file:.mcp.json`."""
    text: str = attrs.field(converter=visible)
    """What it would do, in one line; it may hold what the project wrote, secrets included."""
    digest: str
    """SHA-256 of the whole value."""


@attrs.frozen
class _Leaf:
    place: str
    path: tuple[str | int, ...]
    names: tuple[str, ...]
    value: Any


def items(tables: Raw) -> list[Item]:
    """What of a project's tables needs the user's word.

    Args:
        tables: As parsed and validated.
    """
    found = []
    for leaf in _leaves(tables):
        does, words = SETTINGS.get(leaf.place, _NEW)
        if does in (Does.RUNS, Does.SENDS, Does.OPENS) and not _idle(leaf):
            key = ".".join(leaf.names)
            text = f"{words.format(*leaf.names)}: {_shown(leaf.value)}"
            found.append(Item(does, key, text, digest([key, leaf.value])))
    return found


def keys(values: Mapping[str, str]) -> list[Item]:
    """The same of the keys in a project's `.hub/.env`: whoever put them there sees what is done with them."""
    names = ", ".join(sorted(values))
    text = f"works with the keys in .hub/.env, whose owner sees what you send: {names}"
    return [Item(Does.SENDS, KEYS, text, digest(values))] if values else []


def restricted(tables: Raw) -> dict[str, Any]:
    """The tables without all that needs the user's word; an agent of the project's own is left out whole."""
    kept = _without(tables, "")
    for name, table in tables.get("providers", {}).items():
        if table.get("kind"):
            del kept["providers"][name]
    return kept


def misplaced(tables: Raw, home: str, own: str) -> Iterator[SettingProblem]:
    """What stands in a project's `hub.toml` and is read from the user's own configuration alone.

    Args:
        tables: As parsed and validated.
        home: What `~` stands for.
        own: The folder in which hub itself makes accounts' directories.
    """
    for leaf in _leaves(tables):
        does, _ = SETTINGS.get(leaf.place, _NEW)
        outside = leaf.place.endswith(".configDir") and leaf.value and not _within(leaf.value, home, own)
        if does is Does.YOURS or outside:
            yield SettingProblem(leaf.path, "is read from your own configuration alone, not from a project's")


def digest(value: object) -> str:
    """The SHA-256 of a TOML value; equal values have equal ones, however they are written."""
    import hashlib  # it loads OpenSSL, and most projects set nothing of the kind

    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def digests(found: Iterable[Item]) -> dict[str, str]:
    """The set they make. Two of one key, such as nodes of one name, are one item with a digest of both."""
    made: dict[str, str] = {}
    for item in found:
        made[item.key] = digest([made[item.key], item.digest]) if item.key in made else item.digest
    return made


def agreed(found: Iterable[Item], to: Digests) -> bool:
    """Whether the user's word covers them: the same settings and no other, and no file but those he knows.

    A setting that is gone is a change too, for it may have been a guard; a file that is gone runs nothing.
    """
    now = digests(found)
    settings = {key: value for key, value in to.items() if not key.startswith("file:")}
    return now.items() <= to.items() and settings.keys() <= now.keys()


def followed(to: Digests, before: Raw, after: Raw) -> dict[str, str]:
    """The set after the user has changed his tables through hub: with that change and nothing else."""
    old, new = digests(items(before)), digests(items(after))
    kept = {key: value for key, value in to.items() if key in new or key not in old}
    return {**kept, **{key: value for key, value in new.items() if old.get(key) != value}}


def gone(found: Iterable[Item], to: Digests) -> list[str]:
    """The keys of what was agreed to and is there no more."""
    return sorted(to.keys() - digests(found).keys())


def _leaves(
    table: Raw, place: str = "", path: tuple[str | int, ...] = (), names: tuple[str, ...] = ()
) -> Iterator[_Leaf]:
    """Every setting there is in the tables, by its place in `SETTINGS`."""
    for key, value in table.items():
        at = _place(place, key)
        here, called = (*path, key), (*names, key)
        if at not in SETTINGS and isinstance(value, Mapping):
            yield from _leaves(value, at, here, called)
        elif at not in SETTINGS and _tables(value):
            for index, element in enumerate(value):
                name = next((str(element[n]) for n in _NAMES if n in element), str(index))
                yield from _leaves(element, at, (*here, index), (*called, name))
        else:
            yield _Leaf(at, here, called, value)


def _place(place: str, key: str) -> str:
    return f"{place}.{'*' if place == 'providers' else key}".lstrip(".")


def _tables(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, Mapping) for each in value)


def _idle(leaf: _Leaf) -> bool:
    """Whether the value does nothing; an empty list of rules does: it takes the user's own away."""
    if leaf.place == "redaction.detection":
        return leaf.value is True
    return leaf.place != "approvals" and not leaf.value


def _without(table: Raw, place: str) -> dict[str, Any]:
    kept: dict[str, object] = {}
    for key, value in table.items():
        at = _place(place, key)
        if at in SETTINGS:
            if SETTINGS[at][0] is Does.READS:
                kept[key] = value
        elif isinstance(value, Mapping):
            kept[key] = _without(value, at)
        elif _tables(value):
            kept[key] = [_without(element, at) for element in value]
    return kept


def _within(folder: str, home: str, own: str) -> bool:
    whole = f"{home}/{folder[2:]}" if folder.startswith("~/") else folder
    return posixpath.normpath(whole).startswith(f"{own}/") and ".." not in whole.split("/")


def _shown(value: object) -> str:
    """A value in one line. What could push a part of it out of sight is said instead."""
    if isinstance(value, str):
        text = value
    elif isinstance(value, Mapping):
        text = ", ".join(f"{key}={_inner(each)}" for key, each in value.items())
    elif isinstance(value, Sequence):
        text = "; ".join(_inner(each) for each in value) or "nothing"
    else:
        text = json.dumps(value, default=str)
    flat = _GAP.sub(lambda gap: f" [{len(gap[0])} blanks] ", visible(text.replace("\n", " [new line] ")))
    more = len(flat) - _SHOWN
    return f"{flat[:_SHOWN]} [and {more} characters more]" if more > 0 else flat


def _inner(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, default=str, ensure_ascii=False)
