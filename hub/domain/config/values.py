"""The types of single settings: what each may be, in words for people.

Owns: one annotated type for each sort of value.
Must not: know in which table a setting stands (`hub.domain.config.model` does).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Any

from hub.domain.config.schema import SettingRule, number, whole
from hub.domain.text.safe import is_label

_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}", re.ASCII)
_ENV_DENIED = re.compile(r"(?:LD_|DYLD_|PYTHON|GIT_).*|NODE_OPTIONS|PATH|BASH_ENV", re.ASCII)
_PROVIDER = re.compile(r"[a-z0-9][a-z0-9-]{0,63}", re.ASCII)
_URL = re.compile(r"https?://[^\s/?#@]+(?:[/?#]\S*)?", re.ASCII)
_AUTHOR = re.compile(r"(?:[^<>\x00-\x1f]{1,100} <[^<>\s]{3,100}>)?")
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[^\s/]+", re.ASCII)
_TOKEN = re.compile(r"[\x21-\x7e]{16,512}", re.ASCII)


def env_name_problem(name: str) -> str:
    """Why hub will not set this variable for an agent; "" when it will.

    Names that change how a program is found or loaded are refused: with them a key is as good as code.
    """
    if not _ENV_NAME.fullmatch(name):
        return "is not a variable's name: capital letters, digits and _ only, a letter first, at most 64"
    if _ENV_DENIED.fullmatch(name):
        return "may not be set: it changes how programs are found or loaded"
    return ""


def _is_inside(path: str) -> bool:
    """Whether a relative path stays below the folder it starts from, and out of git's and hub's own."""
    steps = path.rstrip("/").split("/")
    plain = all(step not in ("", ".", "..") for step in steps)
    return plain and "\n" not in path and steps[0].lower() not in (".git", ".hub")


def _argv(value: object) -> object:
    """A command as an array, or as one string that is split as a shell would."""
    if not isinstance(value, str):
        return value
    try:
        return shlex.split(value)
    except ValueError:
        raise ValueError("has a quote that is not closed") from None


TABLE = SettingRule("a table")
TABLES = SettingRule("an array of tables")
ONE_OF = SettingRule()
_WHY_NOT = "its program would take it for an option"

Text = Annotated[str, SettingRule("a string")]
Switch = Annotated[bool, SettingRule("true or false")]
Name = Annotated[str, SettingRule("a name: 1 to 64 printable characters", is_label)]
Provider = Annotated[str, SettingRule("a provider's name: small letters, digits and -", _PROVIDER.fullmatch)]
Url = Annotated[
    str,
    SettingRule("an http or https URL without a login in it, or empty", lambda v: not v or _URL.fullmatch(v)),
]
Origin = Annotated[str, SettingRule('an origin such as "https://example.org"', _ORIGIN.fullmatch)]
Token = Annotated[str, SettingRule("16 to 512 visible ASCII characters", _TOKEN.fullmatch)]
Model = Annotated[
    str,
    SettingRule(f"a model's name, which does not begin with - ({_WHY_NOT})", lambda v: not v.startswith("-")),
]
Variable = Annotated[
    str,
    SettingRule(
        "a variable's name in capital letters, and none that changes how programs are found or loaded",
        lambda v: not env_name_problem(v),
    ),
]
Host = Annotated[str, SettingRule("a host name or address", str.strip)]
Command = Annotated[str, SettingRule("a command that is not empty", str.strip)]
Task = Annotated[str, SettingRule("a task that is not empty", str.strip)]
Option = Annotated[
    Any,
    SettingRule(
        f"a value that does not begin with - ({_WHY_NOT}; options are given in args)",
        lambda v: not (isinstance(v, str) and (v.startswith("-") or "\0" in v)),
    ),
]
CoAuthor = Annotated[
    str,
    SettingRule('a name and an address, as in "Claude <noreply@anthropic.com>", or empty', _AUTHOR.fullmatch),
]
Texts = Annotated[tuple[Text, ...], SettingRule("an array of strings")]
Providers = Annotated[tuple[Provider, ...], SettingRule("an array of providers' names")]
Commands = Annotated[tuple[Command, ...], SettingRule("an array of commands")]
Inside = Annotated[
    str, SettingRule("a path inside the project, neither in .git nor in .hub, without ..", _is_inside)
]
Argv = Annotated[tuple[Text, ...], SettingRule("a command: a string or an array of strings", prepare=_argv)]
Dollars = Annotated[float, number("an amount of US dollars above 0", lambda v: v > 0)]
Positive = Annotated[float, number("a number of seconds above 0", lambda v: v > 0)]
Seconds = Annotated[float, number("a number of seconds, 0 or more", lambda v: v >= 0)]
Interval = Annotated[float, number("a number of seconds, 0.2 or more", lambda v: v >= 0.2)]  # noqa: PLR2004
Fraction = Annotated[float, number("a number above 0 and at most 1", lambda v: 0 < v <= 1)]
Count = Annotated[int, whole(0)]
Places = Annotated[int, whole(1, 64)]
Folder = Annotated[
    str,
    SettingRule(
        "an absolute path or one that begins with ~/",
        lambda v: not v or v.startswith(("/", "~/")) or v[1:3] == ":\\",
    ),
]
Line = Annotated[str, SettingRule("a string without line breaks", lambda v: "\n" not in v and "\r" not in v)]
Env = Annotated[Mapping[Variable, Line], TABLE]
