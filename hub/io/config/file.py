"""The configuration's files: `hub.toml`, the user's own `config.toml`, and the environment over them.

Owns: which layer wins, and where each value comes from.
Must not: know what a setting may be (`hub.domain.config` does), or write a file (`hub.io.config.patch` does).

Layers, the later wins: built-in, user config, `hub.toml`, `HUB_*` environment, flags. Tables are merged key
by key; an array is taken whole.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from hub import userdirs
from hub.api.tables import invalid, parse_config, parse_toml, read_config
from hub.domain.accounts.added import AddedAccounts, laid_over
from hub.domain.config.reader import OPT_IN, Config
from hub.domain.trust.settings import misplaced
from hub.errors import Code, HubError
from hub.io.files.atomic import read_bounded
from hub.io.project.trust import Gate

MAX_BYTES = 1 << 20
BUILT_IN = "built-in"
Keys = tuple[str, ...]
Raw = dict[str, Any]


def _words(value: str) -> list[str]:
    return [word.strip() for word in value.split(",") if word.strip()]


def _number(value: str) -> int | float:
    try:
        return int(value)
    except ValueError:
        return float(value)


def _switch(value: str) -> bool:
    return {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }[value.lower()]


def _demo(setting: str) -> tuple[Keys, ...]:
    return tuple(("providers", name, setting) for name in OPT_IN)


ENVIRONMENT: Mapping[str, tuple[tuple[Keys, ...], Callable[[str], Any]]] = {
    "HUB_PORT": ((("server", "port"),), _number),
    "HUB_HOST": ((("server", "host"),), str),
    "HUB_TOKEN": ((("server", "token"),), str),
    "HUB_CHAIN": ((("session", "chain"),), _words),
    "HUB_THRESHOLD": ((("session", "threshold"),), _number),
    "HUB_MAX_HANDOFFS": ((("session", "maxHandoffs"),), _number),
    "HUB_ON_LIMIT": ((("session", "onLimit"),), str),
    "HUB_AMBIENT": ((("detect", "ambient"),), _switch),
    "HUB_DEMO": (_demo("enabled"), _switch),
    "HUB_DEMO_SCRIPT": (_demo("script"), lambda value: str(Path(value).absolute())),
}
"""Variable, the settings it sets, and how its text is read. An empty variable is not set."""

FLAGS: Mapping[str, tuple[Keys, ...]] = {
    "port": (("server", "port"),),
    "host": (("server", "host"),),
    "token": (("server", "token"),),
    "chain": (("session", "chain"),),
    "threshold": (("session", "threshold"),),
    "max_handoffs": (("session", "maxHandoffs"),),
    "on_limit": (("session", "onLimit"),),
    "verify": (("session", "verify"),),
    "demo": _demo("enabled"),
}
"""Command-line options and the settings they set. None is not set."""


@attrs.frozen
class ReadSettings:
    """A configuration and where each of its values comes from."""

    config: Config
    origin: Mapping[str, str]
    """`session.threshold` -> a file's path, `HUB_THRESHOLD`, `--threshold`. What is not here is built-in."""

    def of(self, key: str) -> str:
        """Where the value of a key comes from."""
        return self.origin.get(key, BUILT_IN)


def user_config(environ: Mapping[str, str]) -> Path:
    """The user's own configuration, for all projects."""
    return Path(userdirs.config_dir(environ)) / "config.toml"


def settings(
    path: Path,
    user: Path | None = None,
    *,
    environ: Mapping[str, str],
    flags: Mapping[str, object] | None = None,
    added_accounts: AddedAccounts | None = None,
    gate: Gate | None = None,
) -> ReadSettings:
    """Read every layer; of a project's own no more than its user has agreed to.

    Args:
        path: `hub.toml`; it need not exist.
        user: The user's configuration; its usual place when None.
        environ: The environment.
        flags: Options of the command line by their names in `FLAGS`.
        added_accounts: Accounts that stand in no configuration; a file's own of the same label or directory wins.
        gate: The project's door; its usual one when None.

    Raises:
        HubError: CONFIG_INVALID, naming the file, line and column, the variable or the option.
    """
    merged: Raw = {}
    origin: dict[str, str] = {}
    home = Path(environ.get("HOME") or Path.home())
    own = user_config(environ) if user is None else user
    _merge(merged, _absolute(read_file(own), own.parent, home), str(own), origin)
    tables = (gate or Gate.of(path.parent, environ)).admit(project_tables(path, own, environ=environ))
    _merge(merged, _absolute(copy.deepcopy(dict(tables)), path.parent, home), str(path), origin)
    laid_over(merged.setdefault("providers", {}), added_accounts or {})
    for name, (keys, read) in ENVIRONMENT.items():
        if value := environ.get(name, ""):
            _merge(merged, _checked(name, keys, read, value), name, origin)
    for name, chosen in (flags or {}).items():
        if chosen is not None:
            option = f"--{name.replace('_', '-')}"
            _merge(merged, _checked(option, FLAGS[name], lambda same: same, chosen), option, origin)
    return ReadSettings(read_config(merged, "the configuration"), origin)


def project_tables(path: Path, user: Path | None = None, *, environ: Mapping[str, str]) -> Raw:
    """The raw tables of a project's `hub.toml`, whatever its user has agreed to; {} where there is no file.

    Raises:
        HubError: CONFIG_INVALID, also for a setting that is read from the user's own configuration alone.
    """
    raw = read_file(path)
    home = environ.get("HOME") or str(Path.home())
    accounts = f"{userdirs.state_dir(environ)}/accounts"
    if problems := list(misplaced(raw, home, accounts)):
        own = user_config(environ) if user is None else user
        error = invalid(problems, str(path), text_of(path))
        raise HubError(error.code, error.detail, hint=f"Move it to: {own}", **error.extra)
    return raw


def real_of(file: Path) -> Path:
    """Where the file lies, links followed; a link that leads to itself stands for itself."""
    return Path(os.path.realpath(file))


def text_of(file: Path) -> str:
    """The file's text, links to it followed; "" when there is no file.

    Raises:
        HubError: CONFIG_INVALID; it is not UTF-8.
    """
    try:
        return decoded(read_bounded(real_of(file), MAX_BYTES), file)
    except FileNotFoundError:
        return ""


def decoded(data: bytes, file: Path) -> str:
    """The text of a file's bytes; see `text_of`."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise HubError(
            Code.CONFIG_INVALID, f"{file}:{line}:{column}: it is not UTF-8", line=line, column=column
        ) from error


def read_file(file: Path) -> Raw:
    """A file's raw tables, validated on their own so that a problem tells its line.

    Raises:
        HubError: CONFIG_INVALID.
    """
    text = text_of(file)
    parse_config(text, str(file))
    return parse_toml(text, str(file))


def _absolute(raw: Raw, folder: Path, home: Path) -> Raw:
    """Paths in a file are relative to the file, and may begin with ~/."""
    for provider in raw.get("providers", {}).values():
        if script := provider.get("script"):
            provider["script"] = str(folder / _expanded(script, home))
        for account in provider.get("accounts", ()):
            if place := account.get("configDir"):
                account["configDir"] = _expanded(place, home)
    return raw


def _expanded(place: str, home: Path) -> str:
    return str(home / place[2:]) if place.startswith("~/") else place


def _checked(name: str, keys: Sequence[Keys], read: Callable[[Any], Any], value: object) -> Raw:
    """The raw tables that one variable or option stands for, validated on their own."""
    raw: Raw = {}
    try:
        found = read(value)
    except (ValueError, KeyError):
        found = value
    for *tables, key in keys:
        place = raw
        for part in tables:
            place = place.setdefault(part, {})
        place[key] = list(found) if isinstance(found, tuple) else found
    read_config(raw, name)
    return raw


def _merge(
    into: Raw, raw: Mapping[str, object], source: str, origin: dict[str, str], path: Keys = ()
) -> None:
    for key, value in raw.items():
        here = (*path, key)
        if isinstance(value, Mapping):
            _merge(into.setdefault(key, {}), value, source, origin, here)
        else:
            into[key] = value
            origin[".".join(here)] = source
