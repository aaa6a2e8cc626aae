"""What an ACP session is set to before its first prompt.

Owns: reading the modes and models an agent offers, and the requests that choose among them.
Must not: decide when they are sent (`stream.py` does).

Two forms are in use: `modes` and `models` with a method each, and `configOptions`, which took their place. An agent
is only asked for what it offers: a wish that it cannot meet is no reason to fail.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from hub.providers import jsonline

_METHODS = {"mode": "session/set_mode", "model": "session/set_model"}


@attrs.frozen
class Wishes:
    """The mode and the model a session should have; "" = the agent's own choice."""

    mode: str = ""
    model: str = ""


@attrs.frozen
class Setting:
    """One request that sets something."""

    name: str
    """`mode` or `model`."""
    value: str
    method: str
    params: Mapping[str, Any]


def current(result: Mapping[str, object]) -> tuple[str, str]:
    """Mode and model of an opened session, "" where the agent does not tell."""
    mode = jsonline.text(jsonline.mapping(result.get("modes")).get("currentModeId"))
    model = jsonline.text(jsonline.mapping(result.get("models")).get("currentModelId"))
    return mode or _value(_option(result, "mode")), model or _value(_option(result, "model"))


def settings(result: Mapping[str, object], session: str, wishes: Wishes) -> list[Setting]:
    """The requests that bring an opened session to what is wished, as far as the agent offers it.

    Args:
        result: The answer to `session/new`, `session/resume` or `session/load`.
        session: The session's id.
        wishes: What is wanted.
    """
    has = dict(zip(_METHODS, current(result), strict=True))
    wanted = {"mode": wishes.mode, "model": wishes.model}
    found = (_setting(result, session, name, wish) for name, wish in wanted.items() if wish != has[name])
    return [setting for setting in found if setting is not None and setting.value]


def _setting(result: Mapping[str, object], session: str, name: str, wish: str) -> Setting | None:
    option = _option(result, name)
    if option:
        params = {"sessionId": session, "configId": jsonline.text(option.get("id")), "value": wish}
        return Setting(name, wish, "session/set_config_option", params)
    if jsonline.mapping(result.get(f"{name}s")):
        return Setting(name, wish, _METHODS[name], {"sessionId": session, f"{name}Id": wish})
    return None


def _option(result: Mapping[str, object], category: str) -> Mapping[str, object]:
    options = (jsonline.mapping(option) for option in jsonline.items(result.get("configOptions")))
    return next((o for o in options if category in (o.get("category"), o.get("id"))), {})


def _value(option: Mapping[str, object]) -> str:
    return jsonline.text(option.get("currentValue"))
