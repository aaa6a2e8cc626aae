"""What `make` and `just` would have a shell run: the recipes of what they are asked for, and of all that it needs.

Owns: reading a Makefile and a justfile as far as their recipes are plain lines of a shell.
Must not: run anything, look at a file (so what another file includes is not seen), or know a rule.

Variables that the same file or the command sets are filled in. What only `make` or `just` can work out is left as it stands.
Tests: tests/hub/domain/permission/test_recipes.py
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

import attrs

_MOST = 512
"""Recipes that are taken for one command, and variables that are filled in for one line."""
_LONGEST = 65_536
_JOINED = re.compile(r"\\\n[ \t]*")
_ASSIGNMENT = re.compile(r"(?:export |override )*([A-Za-z_][\w.-]*)\s*(?:::?:?|[?+!])?=\s*(.*)")
_RULE = re.compile(r"([^\s:=#][^:=#]*?)\s*&?::?(?!=)\s*([^;]*)(?:;(.*))?")
_VARIABLE = re.compile(r"\$\(([\w.-]+)\)|\$\{([\w.-]+)\}|\$([@<^$])")
_SHELL = re.compile(r"\$\(shell\s")
_QUIET = "@-+ \t"
"""What may stand before a line of a recipe and is no part of it."""
_RECIPE = re.compile(r"@?([A-Za-z_][\w-]*)((?:\s+[^:=]|=)[^:]*)?\s*:(?!=)(.*)")
_SET = re.compile(r"(?:export\s+)?([A-Za-z_][\w-]*)\s*:=\s*(.*)")
_ALIAS = re.compile(r"alias\s+([\w-]+)\s*:=\s*([\w-]+)")
_FILLED = re.compile(r"\{\{\s*([\w-]+)\s*\}\}")
_NAME = re.compile(r"[A-Za-z_][\w-]*")


@attrs.define
class _Recipe:
    """What one target or recipe needs, and its lines."""

    needs: list[str] = attrs.Factory(list)
    lines: list[str] = attrs.Factory(list)


def of_make(text: str, words: Sequence[str]) -> str:
    """What `make` with these words, targets and `NAME=value`, has a shell run; what it runs only to read the file, too."""
    values = {"RM": "rm -f", "MAKE": "make"}
    recipes: dict[str, _Recipe] = {}
    under: list[_Recipe] = []
    outside: list[str] = []
    for line in _JOINED.sub(" ", text).split("\n"):
        if line.startswith("\t"):
            for recipe in under:
                recipe.lines.append(line)
        elif found := _ASSIGNMENT.fullmatch(line):
            values[found[1]] = found[2]
            outside.append(line)
        elif found := _RULE.fullmatch(line):
            needs = _filled(found[2], values).split()
            under = [recipes.setdefault(name, _Recipe()) for name in _filled(found[1], values).split()]
            for recipe in under:
                recipe.needs += needs
                recipe.lines += [found[3]] if found[3] else []
        elif line.strip():
            outside.append(line)
    given = dict(word.split("=", 1) for word in words if "=" in word)
    values |= given
    asked = [word for word in words if "=" not in word]
    asked = asked or [name for name in recipes if not name.startswith(".")][:1]
    lines = [line for line in outside if _SHELL.search(line)]
    for name, recipe in _needed(recipes, asked):
        own = values | {"@": name, "<": " ".join(recipe.needs[:1]), "^": " ".join(recipe.needs)}
        lines += [_filled(line.lstrip(_QUIET), own) for line in recipe.lines]
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
        elif found := _RECIPE.fullmatch(line):
            under = recipes[found[1]] = _Recipe(_NAME.findall(found[3]))
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
    waiting, seen = [*asked], set[str]()
    found: list[tuple[str, _Recipe]] = []
    while waiting and len(seen) < _MOST:
        name = waiting.pop(0)
        if name not in seen:
            seen.add(name)
            for recipe in _named(recipes, name):
                found.append((name, recipe))
                waiting += recipe.needs
    return found


def _named(recipes: Mapping[str, _Recipe], name: str) -> list[_Recipe]:
    """The recipe of this name, else those whose pattern it fits: `%.html`."""
    if name in recipes:
        return [recipes[name]]
    patterns = [pattern.split("%") for pattern in recipes if pattern.count("%") == 1]
    return [
        recipes["%".join(ends)] for ends in patterns if name.startswith(ends[0]) and name.endswith(ends[1])
    ]


def _filled(line: str, values: Mapping[str, str]) -> str:
    """The line with what its variables stand for, and what those of these stand for."""
    for _ in range(_MOST):
        found = next((one for one in _VARIABLE.finditer(line) if _key(one) in values), None)
        if found is None or len(line) > _LONGEST:
            break
        line = line[: found.start()] + values[_key(found)] + line[found.end() :]
    return line.replace("$$", "$")


def _key(found: re.Match[str]) -> str:
    return found[1] or found[2] or found[3]


def _told(lines: Iterable[str]) -> str:
    return "\n".join(line for line in lines if line and not line.startswith("#"))
