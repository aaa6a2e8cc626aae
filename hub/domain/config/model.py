"""The tables of `hub.toml`: every setting, its default, and what it may be.

Owns: one attrs class a table, and the readers of its values.
Must not: open a file, or check one table against another (`hub.domain.config.reader` does).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any, Literal

import attrs

from hub.domain.account import Account
from hub.domain.config import schema
from hub.domain.config.schema import (
    Problem,
    boolean,
    choice,
    each,
    integer,
    named,
    number,
    setting,
    string,
    table,
)
from hub.domain.text import is_label

Severity = Literal["info", "warn", "danger"]
"""How grave a request for a person's word is shown to be."""
_ENV_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}", re.ASCII)
_ENV_DENIED = re.compile(r"(?:LD_|DYLD_|PYTHON|GIT_).*|NODE_OPTIONS|PATH|BASH_ENV", re.ASCII)
_PROVIDER = re.compile(r"[a-z0-9][a-z0-9-]{0,63}", re.ASCII)
_URL = re.compile(r"https?://[^\s/?#@]+(?:[/?#]\S*)?", re.ASCII)
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


def provider_name_problem(name: str) -> str:
    """Why no provider can have this name; "" when one can."""
    return "" if _PROVIDER.fullmatch(name) else "is not a provider's name: small letters, digits and - only"


_text = string()
_name = string("a name: 1 to 64 printable characters", is_label)
_provider = string(
    "a provider's name: small letters, digits and -", lambda value: bool(_PROVIDER.fullmatch(value))
)
_url = string(
    "an http or https URL without a login in it, or empty", lambda v: not v or bool(_URL.fullmatch(v))
)
_origin = string('an origin such as "https://example.org"', lambda value: bool(_ORIGIN.fullmatch(value)))
_token = string("16 to 512 visible ASCII characters", lambda value: bool(_TOKEN.fullmatch(value)))
_command = string("a command that is not empty", lambda value: bool(value.strip()))
_folder = string(
    "an absolute path or one that begins with ~/",
    lambda v: not v or v.startswith(("/", "~/")) or v[1:3] == ":\\",
)
_WHY_NOT = "its program would take it for an option"
_model = string(f"a model's name, which does not begin with - ({_WHY_NOT})", lambda v: not v.startswith("-"))
_texts = each(_text, "an array of strings")
_providers = each(_provider, "an array of providers' names")
_commands = each(_command, "an array of commands")
_positive = number("a number of seconds above 0", lambda value: value > 0)
_seconds = number("a number of seconds, 0 or more", lambda value: value >= 0)
_fraction = number("a number above 0 and at most 1", lambda value: 0 < value <= 1)
_variable = string("the name of a variable that hub may set", lambda value: not env_name_problem(value))
_env = named(
    string("a string without line breaks", lambda v: "\n" not in v and "\r" not in v), env_name_problem
)


def _argv(value: Any, path: schema.Path, problems: list[Problem]) -> Any:
    """A command as an array, or as one string that is split as a shell would."""
    if isinstance(value, str):
        try:
            value = shlex.split(value)
        except ValueError:
            problems.append(Problem(path, "has a quote that is not closed"))
            return None
    return each(_text, "a command: a string or an array of strings")(value, path, problems)


def _options(value: Any, path: schema.Path, problems: list[Problem]) -> Any:
    if not isinstance(value, dict):
        problems.append(Problem(path, "must be a table"))
        return None
    problems.extend(
        Problem((*path, key), f"must not begin with -: {_WHY_NOT}; options are given in args")
        for key, item in value.items()
        if isinstance(item, str) and item.startswith("-")
    )
    return value


@attrs.frozen
class Server:
    """`[server]`: where the API listens, and whom it lets in."""

    port: int | None = setting(integer(0, 65535), None)
    """None = not set: 4748. 0 = any free port."""
    host: str = setting(string("a host name or address", lambda v: bool(v.strip())), "127.0.0.1")
    token: str = setting(_token, "", secret=True)
    """When set, every request must carry it."""
    socket: str = setting(_text, "")
    """The path of a unix socket that is served beside the port; "" = none. In the project, where it is relative."""
    allowed_origins: tuple[str, ...] = setting(
        each(_origin, "an array of origins"), (), key="allowed_origins"
    )


@attrs.frozen
class Session:
    """`[session]`: how a task is run."""

    chain: tuple[str, ...] = setting(_providers, ())
    threshold: float = setting(_fraction, 0.9)
    """Fraction of a quota used at which the forecast hands off before the wall."""
    max_handoffs: int = setting(integer(0), 5)
    on_limit: Literal["handoff", "wait", "stop"] = setting(choice("handoff", "wait", "stop"), "handoff")
    verify: tuple[str, ...] = setting(_commands, ())
    verify_timeout: float = setting(_positive, 600.0)
    pause_grace: float = setting(_seconds, 30.0)
    """How long to wait for a safe point before the agent is interrupted."""
    stop_grace: float = setting(_seconds, 5.0)
    """The same when the user stops the session."""
    resume_timeout: float = setting(_positive, 120.0)
    """How long a receiver may take to its first sign of life."""
    silent_after: float | None = setting(_positive, None)
    """None = each provider's own."""
    orphan_grace: float = setting(_seconds, 120.0)
    """How long an agent may run on without a daemon; 0 = not at all."""
    retries: int = setting(integer(0, 100), 5)
    """How many overloads or short limits in a row are waited out before the work is handed off."""


@attrs.frozen
class _AccountTable:
    label: str = setting(_name)
    config_dir: str = setting(_folder, "")
    active: bool = setting(boolean, False)
    env: Mapping[str, str] = setting(_env, dict, secret=True)


def account(value: Any, path: schema.Path, problems: list[Problem]) -> Any:
    """Reads one account."""
    found = table(_AccountTable)(value, path, problems)
    return found and Account(found.label, found.config_dir, found.env, found.active)


@attrs.frozen
class ProviderSettings:
    """`[providers.<name>]`: one agent.

    With `kind` it describes an agent of the user's own (`hub.providers.acp.agent`), which the keys behind `kind`
    belong to.
    """

    enabled: bool | None = setting(boolean, None)
    """None = the built-in choice: on, but off for the scripted agents."""
    declared_cap: int | None = setting(integer(0), None)
    """Tokens of a quota that the provider does not tell."""
    quota_endpoint: bool = setting(boolean, False)
    """Whether hub may read the agent's own login and ask its maker's server for the quota."""
    quota_url: str = setting(_url, "")
    """That server; "" = the maker's."""
    model: str = setting(_model, "")
    base_url: str = setting(_url, "")
    program: str = setting(_text, "")
    script: str = setting(_text, "")
    """The steps of a scripted agent: a path."""
    env: Mapping[str, str] = setting(_env, dict, secret=True)
    options: Mapping[str, Any] = setting(_options, dict)
    """What only this agent understands."""
    accounts: tuple[Account, ...] = setting(each(account, "an array of tables"), ())
    kind: Literal["", "acp"] = setting(choice("acp"), "")
    command: tuple[str, ...] = setting(_argv, ())
    """How the agent is started, so that it speaks ACP."""
    display_name: str = setting(_name, "")
    key_names: tuple[str, ...] = setting(each(_variable, "an array of variables' names"), ())
    """Which names of `.hub/.env` the agent may have."""
    home_env: str = setting(_variable, "")
    """The variable that takes an account's `configDir`."""
    base_url_env: str = setting(_variable, "")
    """The variable that takes `baseUrl`."""
    model_env: str = setting(_variable, "")
    """The variable that takes `model`."""


OWN_AGENT = ("command", "display_name", "key_names", "home_env", "base_url_env", "model_env")
"""Settings that only an agent with a `kind` has."""


@attrs.frozen
class Profile:
    """`[[profiles]]`: a named way to work."""

    name: str = setting(_name)
    chain: tuple[str, ...] = setting(_providers, ())
    kinds: tuple[str, ...] = setting(_texts, ())
    skills: tuple[str, ...] = setting(_texts, ())
    context_hint: str = setting(_text, "")


@attrs.frozen
class PipelineNode:
    """One node of a pipeline. Its graph is checked where pipelines are (`hub.domain.pipeline.graph`)."""

    id: str = setting(_name)
    provider: str = setting(_provider)
    task: str = setting(string("a task that is not empty", lambda value: bool(value.strip())))
    depends_on: tuple[str, ...] = setting(_texts, ())
    fallback: tuple[str, ...] = setting(_providers, ())
    verify: tuple[str, ...] = setting(_commands, ())


@attrs.frozen
class Pipeline:
    """`[[pipelines]]`: a named graph of tasks."""

    name: str = setting(_name)
    nodes: tuple[PipelineNode, ...] = setting(each(table(PipelineNode), "an array of tables"), ())


@attrs.frozen
class Terminal:
    """`[terminal]`: how a terminal is opened; () = the platform's usual ones."""

    command: tuple[str, ...] = setting(_argv, ())


@attrs.frozen
class ApprovalRule:
    """`[[approvals]]`: what is asked, allowed or denied; the first rule that matches wins (`hub.domain.approval`)."""

    action: Literal["tool", "start", "handoff"] = setting(choice("tool", "start", "handoff"), "tool")
    """An agent's use of a tool, the start of an agent with a task, or its start with another one's work."""
    provider: str = setting(_text, "")
    """Whose tool, or who is to start: a name, or a pattern with * and ?; "" = everybody's."""
    tool: str = setting(_text, "")
    """A tool's name, or a pattern with * and ?; "" = every tool."""
    command: str = setting(_text, "")
    """The same for the command or path the tool is used on."""
    decision: Literal["ask", "allow", "deny"] = setting(choice("ask", "allow", "deny"), "ask")
    severity: Severity = setting(choice("info", "warn", "danger"), "warn")  # noqa: RUF009 - an attrs field
    reason: str = setting(_text, "")
    timeout: float | None = setting(_positive, None)
    """Seconds after which nobody's answer is a no; None = it waits."""


@attrs.frozen
class Redaction:
    """`[redaction]`: what is hidden beside the values hub holds and the forms its own rules know."""

    detection: bool = setting(boolean, True)
    """Whether a detection engine looks for secrets that nobody told hub: it takes memory and half a second."""


@attrs.frozen
class Detect:
    """`[detect]`: agents that run without hub."""

    ambient: bool = setting(boolean, True)
    """Whether the daemon looks for them by itself, and tells of each that is new and of what it was first asked."""
    interval: float = setting(number("a number of seconds, 0.2 or more", lambda value: value >= 0.2), 1.5)  # noqa: PLR2004
    """Seconds between two looks."""


@attrs.frozen
class Vision:
    """`[vision]`: the model that looks at screenshots."""

    enabled: bool = setting(boolean, False)
    provider: str = setting(_text, "")
    model: str = setting(_text, "")
    base_url: str = setting(_url, "")
    max_pixels: int = setting(integer(1), 1_500_000)
