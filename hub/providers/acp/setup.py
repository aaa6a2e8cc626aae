"""What an ACP session is set to before its first prompt.

Owns: reading the modes and models an agent offers, and the requests that choose among them.
Must not: decide when they are sent (`stream.py` does).

Two forms are in use: `modes` and `models` with a method each, and `configOptions`, which took their place. An agent
is only asked for what it offers: a wish that it cannot meet is no reason to fail.
"""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from hub.providers import jsonline
from hub.providers.base import Assignment

YOLO = "yolo"
_METHODS = {"mode": "session/set_mode", "model": "session/set_model"}


@attrs.frozen
class Setting:
    """One request that sets something."""

    name: str
    """`mode` or `model`."""
    value: str
    method: str
    params: Mapping[str, object]


def approval_mode(assignment: Assignment, free: str = YOLO, asks: str = "default") -> str:
    """The mode that the user chose, by default the one in which it is `free`; never that where rules wait for requests."""
    mode = jsonline.text(assignment.options.get("approval_mode")) or free
    return asks if mode == free and assignment.asks else mode


def current(result: Mapping[str, object]) -> tuple[str, str]:
    """Mode and model of an opened session, "" where the agent does not tell."""
    mode = jsonline.text(jsonline.mapping(result.get("modes")).get("currentModeId"))
    model = jsonline.text(jsonline.mapping(result.get("models")).get("currentModelId"))
    return mode or _value(_option(result, "mode")), model or _value(_option(result, "model"))


def settings(result: Mapping[str, object], session: str, wishes: Mapping[str, str]) -> list[Setting]:
    """The requests that bring an opened session to what is wished, as far as the agent offers it.

    Args:
        result: The answer to `session/new`, `session/resume` or `session/load`.
        session: The session's id.
        wishes: What is wanted, the `mode` and the `model`; "" = the agent's own choice.
    """
    has = dict(zip(_METHODS, current(result), strict=True))
    wanted = ((name, wish) for name, wish in wishes.items() if wish not in ("", has[name]))
    found = (_setting(result, session, name, wish) for name, wish in wanted)
    return [setting for setting in found if setting is not None]


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
