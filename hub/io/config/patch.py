"""Changes of `hub.toml` that keep what the user wrote: comments, order, and what an editor saves meanwhile.

Owns: the edit of the text, and its replacement.
Must not: know what a setting may be (`hub.domain.config` does), or write a text that it has not read back.

An edit is a function on tables and arrays. It is applied twice, to the plain values and to the commented document,
and the text that comes of the second must read as the first. So whatever `tomlkit` does, nothing is lost.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from hub.api.tables import parse_config, parse_toml
from hub.domain.config.reader import Config
from hub.errors import Code, HubError
from hub.io.config.file import MAX_BYTES, Keys, decoded, real_of
from hub.io.files.atomic import create_atomic, read_bounded, swap_atomic

Edit = Callable[[Any], None]
"""Changes raw tables in place; a plain dict or a tomlkit document."""
Watch = Callable[[Mapping[str, Any], Mapping[str, Any]], None]
"""Is shown the raw tables before and after a change of the user's, just before it is made."""
_TRIES = 5
"""How often a file that changes under the hand is read anew."""


def unwatched(before: Mapping[str, object], after: Mapping[str, object]) -> None:
    """Nobody watches a change."""


def patch(path: Path, changes: Mapping[Keys, object], watch: Watch = unwatched) -> Config:
    """Change values; None removes a key. See `edit`."""
    by_hand = "Change it by hand: " + ", ".join(".".join(keys) for keys in changes)
    return edit(path, partial(_apply, changes), by_hand, watch)


def edit(path: Path, change: Edit, by_hand: str, watch: Watch = unwatched) -> Config:
    """Change a configuration file, keeping its comments, its order, its mode and whatever was saved meanwhile.

    The new text is read back and must say exactly what the old one said but for the change, and it must validate;
    else the file stays as it is. When the file is another one by the time it would be replaced, the change is made
    to that one.

    Args:
        path: The file; it need not exist. A link stays one.
        change: What to do, to be applied any number of times.
        by_hand: The next step for who must do it without us.
        watch: Shown the change, once for each text that it is tried on.

    Returns:
        What the file says from here on.

    Raises:
        HubError: CONFIG_INVALID; the file or the result does not validate, with every problem and its place.
            CONFIG_CHANGED; the file does not come to rest. NO_SPACE, READ_ONLY or NO_PERMISSION.
    """
    target = real_of(path)
    for _ in range(_TRIES):
        old = _bytes(target)
        text = decoded(old or b"", path)
        new = _changed(text, str(path), change, by_hand)
        config = _validated(new, str(path))
        watch(parse_toml(text), parse_toml(new))
        if new == text or _replace(target, old, new.encode()):
            return config
    raise HubError(Code.CONFIG_CHANGED, f"{path} changes faster than it can be read.", hint=by_hand)


def _changed(text: str, name: str, change: Edit, by_hand: str) -> str:
    import tomlkit  # only a change needs it

    parse_config(text, name)
    wanted = parse_toml(text)
    document = tomlkit.parse(text)
    change(wanted)
    change(document)
    new = tomlkit.dumps(document)
    if _full(parse_toml(new, name)) != _full(wanted):
        raise HubError(
            Code.CONFIG_INVALID, f"{name} cannot be changed without losing something in it.", hint=by_hand
        )
    return new


def _validated(new: str, name: str) -> Config:
    """What a text says that is yet to be written: its lines are in no file that anybody could correct."""
    try:
        return parse_config(new, name)
    except HubError as error:
        place = f"{name}:{error.extra.get('line')}:{error.extra.get('column')}: "
        hint = "Nothing was written. Give a name and a value that are allowed: hub config list"
        raise HubError(error.code, error.detail.removeprefix(place), hint=hint, **error.extra) from error


def _full(table: object) -> Any:
    """The values alone: a table without any says nothing, and a text may leave it out."""
    if not isinstance(table, dict):
        return table
    inner = {key: _full(value) for key, value in table.items()}
    return {key: value for key, value in inner.items() if value != {}}


def _replace(target: Path, old: bytes | None, new: bytes) -> bool:
    return create_atomic(target, new) if old is None else swap_atomic(target, old, new)


def _bytes(target: Path) -> bytes | None:
    try:
        return read_bounded(target, MAX_BYTES)
    except FileNotFoundError:
        return None


def _apply(changes: Mapping[Keys, object], tables: object) -> None:
    for keys, value in changes.items():
        _set(tables, keys, copy.deepcopy(value))


def _set(tables: Any, keys: Sequence[str], value: object) -> None:
    """Set or remove one value."""
    place = tables
    for key in keys[:-1]:
        if key not in place:
            if value is None:
                return
            place[key] = _table_for(tables)
        place = place[key]
        if not isinstance(place, dict):
            raise HubError(Code.CONFIG_INVALID, f"{'.'.join(keys)} cannot be set: {key} is not a table.")
    if value is None:
        place.pop(keys[-1], None)
    else:
        place[keys[-1]] = value


def _table_for(tables: object) -> object:
    """An empty table of the same kind."""
    import tomlkit  # as above

    return {} if type(tables) is dict else tomlkit.table()
