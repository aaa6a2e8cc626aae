"""Texts and plain values to the tables of `hub.toml`, and to what else is written as they are.

Owns: the reading of a configuration, with every problem at its line.
Must not: open a file, or say what a setting may be (`hub.domain.config` does).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any

from hub.api.convert import ProblemsError, structure
from hub.domain.accounts.added import AddedAccounts
from hub.domain.config import profiles, schema
from hub.domain.config.model import PipelineSettings, ProfileSettings
from hub.domain.config.reader import Config, contradictions
from hub.domain.config.schema import SettingProblem, SettingRule, locate, syntax_problem
from hub.domain.config.values import TABLE
from hub.domain.text.patterns import late
from hub.errors import Code, HubError

_DEEPEST = 100
_APART = late(
    r'"""(?:[^"\\]+|\\.|"(?!""))*(?:""")?'
    r"|'''(?:[^']+|'(?!''))*(?:''')?"
    r'|"(?:[^"\\\n]+|\\.)*"?'
    r"|'[^'\n]*'?|#[^\n]*",
    re.DOTALL,
)
"""Texts and comments of TOML, also one that does not end: a point outside of them parts a key or a number."""
_KEY = late(r"[\w-]+(?:[ \t]*\.[ \t]*[\w-]+)*")
_BOOK: Any = Annotated[AddedAccounts, TABLE]
_PIPELINES: Any = Annotated[
    tuple[Annotated[PipelineSettings, TABLE], ...], SettingRule("an array of pipelines")
]


def parse_config(text: str, name: str = "hub.toml") -> Config:
    """Read a configuration.

    Args:
        text: TOML.
        name: What to call the file in a problem.

    Raises:
        HubError: CONFIG_INVALID with `line`, `column` and, for what does not validate, `errors`: one
            `{path, message, line, column}` for each problem, all at once.
    """
    return read_config(parse_toml(text, name), name, text)


def parse_toml(text: str, name: str = "hub.toml") -> dict[str, object]:
    """The raw tables of a text.

    Raises:
        HubError: CONFIG_INVALID with `line` and `column`.
    """
    if not text:
        return {}
    import tomllib  # noqa: PLC0415  # its patterns cost a short command more than most settings

    if line := _deep_line(text):
        raise _unread(name, line, 1, "a key has too many parts")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unread(name, *syntax_problem(error, text)) from error


def _deep_line(text: str) -> int:
    """The line of a key of more parts than any setting has; 0 = none. To `tomllib` each costs as much as all before it."""
    if text.count(".") <= _DEEPEST:
        return 0
    bare = _APART().sub(lambda found: "q" + "\n" * found[0].count("\n"), text)
    deep = (found.start() for found in _KEY().finditer(bare) if found[0].count(".") > _DEEPEST)
    return next((bare.count("\n", 0, at) + 1 for at in deep), 0)


def _unread(name: str, line: int, column: int, words: str) -> HubError:
    errors = [{"path": "", "message": words, "line": line, "column": column}]
    return HubError(
        Code.CONFIG_INVALID, f"{name}:{line}:{column}: {words}", line=line, column=column, errors=errors
    )


def read_config(raw: Mapping[str, object], name: str, text: str | None = None) -> Config:
    """Read raw tables; `text` is where they come from, to tell lines.

    Raises:
        HubError: CONFIG_INVALID; see `parse_config`.
    """
    try:
        found = structure(dict(raw), Config)
    except ProblemsError as error:
        raise invalid(error.found, name, text) from error
    if problems := list(contradictions(found)):
        raise invalid(problems, name, text)
    return found


def invalid(problems: Iterable[SettingProblem], name: str, text: str | None = None) -> HubError:
    """CONFIG_INVALID with every problem and its place; see `parse_config`. There is one at least."""
    problems = list(problems)
    places = [locate(text, p.path) if text is not None else (0, 0) for p in problems]
    ranked = sorted(zip(places, problems, strict=True), key=lambda pair: pair[0])
    errors = [
        {"path": problem.where, "message": problem.text, "line": line, "column": column}
        for (line, column), problem in ranked
    ]
    (line, column), first = ranked[0]
    place = f":{line}:{column}" if line else ""
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    detail = f"{name}{place}: {first.where} {first.text}{more}"
    return HubError(Code.CONFIG_INVALID, detail, line=line, column=column, errors=errors)


def read_added(raw: Mapping[str, object], name: str) -> AddedAccounts:
    """The accounts that were added, from their raw tables; `name` is what to call the file in a problem.

    Raises:
        HubError: CONFIG_INVALID with every problem.
    """
    try:
        found: AddedAccounts = structure(raw, _BOOK)
    except ProblemsError as error:
        raise invalid(error.found, name) from error
    return found


def read_pipelines(value: object) -> tuple[PipelineSettings, ...]:
    """Pipelines from plain JSON values.

    Raises:
        HubError: INVALID with one `{path, message}` for each field that does not validate.
    """
    try:
        return structure(value, _PIPELINES)
    except ProblemsError as error:
        raise schema.invalid(error.found) from error


def read_profile(value: object, providers: Collection[str]) -> ProfileSettings:
    """A profile of its plain values.

    Raises:
        HubError: INVALID with every problem.
    """
    try:
        found = structure(value, ProfileSettings)
    except ProblemsError as error:
        raise schema.invalid(error.found) from error
    profiles.check(found, providers)
    return found
