"""What `make` and `just` would have a shell run: the recipes of what they are asked for, and of all that it needs.

Owns: reading a Makefile and a justfile as far as their recipes are plain lines of a shell.
Must not: run anything, look at a file (so what another file includes is not seen), or know a rule.

Variables that the same file or the command sets are filled in. What only `make` or `just` can work out is left as it stands.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence

import attrs

_MOST = 512
"""Recipes that are taken for one command, and names that one recipe may need."""
_ROOM = 262_144
"""Characters that are filled in for one command: variables may stand for each other, and double each time."""
_DEEPEST = 16
_JOINED = re.compile(r"\\\n[ \t]*")
_ASSIGNMENT = re.compile(r"(?:export |override )*([A-Za-z_][\w.-]*)\s*(?:::?:?|[?+!])?=\s*(.*)")
_VARIABLE = re.compile(r"\$\(([\w.-]+)\)|\$\{([\w.-]+)\}|\$([@<^$])")
_SHELL = re.compile(r"\$\(shell\s")
_QUIET = "@-+ \t"
"""What may stand before a line of a recipe and is no part of it."""
_HEAD = re.compile(r"@?([A-Za-z_][\w-]*)(?=\s|\Z)")
_SET = re.compile(r"(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*(.*)")
_ALIAS = re.compile(r"alias\s+([\w-]+)\s*:=\s*([\w-]+)")
_FILLED = re.compile(r"\{\{\s*([\w-]+)\s*\}\}")
_NAME = re.compile(r"[A-Za-z_][\w-]*")


@attrs.define
class _Recipe:
    """What one target or recipe needs, and its lines."""

    needs: list[str] = attrs.Factory(list)
    lines: list[str] = attrs.Factory(list)


@attrs.define
class _Filler:
    """Puts in what variables stand for, as long as there is room."""

    left: int = _ROOM

    def __call__(self, line: str, values: Mapping[str, str]) -> str:
        for _ in range(_DEEPEST):
            before, line = line, _VARIABLE.sub(lambda found: self._value(found, values), line)
            if line == before:
                break
        return line.replace("$$", "$")

    def _value(self, found: re.Match[str], values: Mapping[str, str]) -> str:
        value = values.get(found[1] or found[2] or found[3])
        if value is None or len(value) > self.left:
            return found[0]
        self.left -= len(value)
        return value


def of_make(text: str, words: Sequence[str]) -> str:
    """What `make` with these words, targets and `NAME=value`, has a shell run; what it runs only to read the file, too."""
    values = {"RM": "rm -f", "MAKE": "make"}
    recipes: dict[str, _Recipe] = {}
    under: list[_Recipe] = []
    outside: list[str] = []
    filled = _Filler()
    for line in _JOINED.sub(" ", text).split("\n"):
        if line.startswith("\t"):
            for recipe in under:
                recipe.lines.append(line)
        elif found := _ASSIGNMENT.fullmatch(line):
            values[found[1]] = found[2]
            outside.append(line)
        elif rule := _rule(line):
            targets, needs, recipe_line = rule
            under = [recipes.setdefault(name, _Recipe()) for name in filled(targets, values).split()]
            for recipe in under:
                recipe.needs += filled(needs, values).split()
                recipe.lines += [recipe_line] if recipe_line else []
        elif line.strip():
            outside.append(line)
    given = dict(word.split("=", 1) for word in words if "=" in word)
    values |= given
    asked = [word for word in words if "=" not in word]
    asked = asked or [name for name in recipes if not name.startswith(".")][:1]
    lines = [line for line in outside if _SHELL.search(line)]
    for name, recipe in _needed(recipes, asked):
        own = values | {"@": name, "<": " ".join(recipe.needs[:1]), "^": " ".join(recipe.needs)}
        lines += [filled(line.lstrip(_QUIET), own) for line in recipe.lines]
    return _told(_SHELL.sub("$(", line) for line in lines)


def of_just(text: str, words: Sequence[str]) -> str:
    """What `just` with these words, recipes, what they are given and `name=value`, has a shell run."""
    values: dict[str, str] = {}
    recipes: dict[str, _Recipe] = {}
    aliases: dict[str, str] = {}
    under = _Recipe()
    for line in text.split("\n"):
        if line[:1] in (" ", "\t"):
            under.lines.append(line.strip())
        elif found := _ALIAS.match(line):
            aliases[found[1]] = found[2]
        elif found := _SET.fullmatch(line.strip()):
            values[found[1]] = found[2].strip("\"'")
        else:
            head, colon, needs = line.partition(":")
            if colon and not needs.startswith("=") and (found := _HEAD.match(head)):
                under = recipes[found[1]] = _Recipe(_NAME.findall(needs))
    values |= dict(word.split("=", 1) for word in words if "=" in word)
    asked = [name for word in words if (name := aliases.get(word, word)) in recipes] or [*recipes][:1]
    lines = []
    for _, recipe in _needed(recipes, asked):
        if not recipe.lines or not recipe.lines[0].startswith("#!") or "sh" in recipe.lines[0]:
            lines += [
                _FILLED.sub(lambda name: values.get(name[1], name[0]), line.lstrip(_QUIET))
                for line in recipe.lines
            ]
    return _told(lines)


def _needed(recipes: Mapping[str, _Recipe], asked: Iterable[str]) -> list[tuple[str, _Recipe]]:
    """The recipes of these names and of all that they need, each once."""
    waiting, seen = deque(asked), set[str]()
    found: list[tuple[str, _Recipe]] = []
    while waiting and len(seen) < _MOST:
        name = waiting.popleft()
        if name not in seen:
            seen.add(name)
            for recipe in _named(recipes, name):
                found.append((name, recipe))
                waiting += recipe.needs[:_MOST]
    return found


def _named(recipes: Mapping[str, _Recipe], name: str) -> list[_Recipe]:
    """The recipe of this name, else those whose pattern it fits: `%.html`."""
    if name in recipes:
        return [recipes[name]]
    patterns = [pattern.split("%") for pattern in recipes if pattern.count("%") == 1]
    return [
        recipes["%".join(ends)] for ends in patterns if name.startswith(ends[0]) and name.endswith(ends[1])
    ]


def _rule(line: str) -> tuple[str, str, str] | None:
    """The targets of a rule, what they need, and what follows on its line; None: it is none."""
    targets, colon, rest = line.partition(":")
    if not colon or not targets.strip() or targets[0].isspace() or "=" in targets or "#" in targets:
        return None
    needs, _, recipe = rest.removeprefix(":").partition(";")
    return targets.rstrip("& \t"), needs, recipe


def _told(lines: Iterable[str]) -> str:
    return "\n".join(line for line in lines if line and not line.startswith("#"))
