"""The profiles: those of `hub.toml`, which are the user's to change, and those the API stores.

Owns: what the API shows of a profile, what it may be changed to, and how both lists make one.
Must not: open a file, or choose from a chain (`hub.domain.routing` does).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TypeVar

from hub.domain.config.model import PipelineSettings, ProfileSettings
from hub.domain.config.schema import SettingProblem, invalid
from hub.domain.missing import invalid_field
from hub.errors import Code, HubError

MAX_PROFILES = 200
_Named = TypeVar("_Named", bound=PipelineSettings | ProfileSettings)


def check(profile: ProfileSettings, providers: Collection[str]) -> None:
    """Refuse a profile whose chain names no provider.

    Raises:
        HubError: INVALID with every problem.
    """
    if problems := list(_unknown(profile, providers)):
        raise invalid(problems)


def together(configured: Sequence[_Named], stored: Sequence[_Named]) -> tuple[_Named, ...]:
    """All profiles, or pipelines: the configured ones, then the stored ones that do not have a configured one's name."""
    names = {one.name for one in configured}
    return (*configured, *(one for one in stored if one.name not in names))


def upserted(
    configured: Sequence[ProfileSettings], stored: Sequence[ProfileSettings], given: ProfileSettings
) -> tuple[ProfileSettings, ...]:
    """The stored profiles with `given` in the place of the one of its name, or at the end.

    Raises:
        HubError: INVALID; one of that name is in `hub.toml` and says something else, or there are too many.
    """
    there = next((profile for profile in configured if profile.name == given.name), None)
    if there == given:
        return tuple(stored)
    _insist_stored(configured, given.name)
    if given.name in [profile.name for profile in stored]:
        return tuple(given if profile.name == given.name else profile for profile in stored)
    if len(stored) >= MAX_PROFILES:
        raise invalid_field("name", f"There are {len(stored)} profiles already.", "Delete one first.")
    return (*stored, given)


def removed(
    configured: Sequence[ProfileSettings], stored: Sequence[ProfileSettings], name: str
) -> tuple[ProfileSettings, ...]:
    """The stored profiles without the one of that name.

    Raises:
        HubError: INVALID; it is in `hub.toml`. NOT_FOUND; there is none.
    """
    _insist_stored(configured, name)
    rest = tuple(profile for profile in stored if profile.name != name)
    if len(rest) == len(stored):
        raise HubError(Code.NOT_FOUND, f"There is no profile {name!r}.", hint="See: GET /api/profiles")
    return rest


def _insist_stored(configured: Sequence[ProfileSettings], name: str) -> None:
    if name in [profile.name for profile in configured]:
        raise invalid(
            [
                SettingProblem(
                    ("name",), "is a profile of hub.toml; change it there, or take it out: under [[profiles]]"
                )
            ]
        )


def _unknown(profile: ProfileSettings, providers: Collection[str]) -> Iterator[SettingProblem]:
    known = ", ".join(providers)
    for index, name in enumerate(profile.chain):
        if name not in providers:
            yield SettingProblem(("chain", index), f"{name!r} is no provider; known are {known}")
