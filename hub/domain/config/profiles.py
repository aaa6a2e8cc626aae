"""The profiles: those of `hub.toml`, which are the user's to change, and those the API stores.

Owns: what the API shows of a profile, what it may be changed to, and how both lists make one.
Must not: open a file, or choose from a chain (`hub.domain.routing` does).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs

from hub.domain.config import schema
from hub.domain.config.model import Profile
from hub.domain.config.schema import Problem
from hub.errors import Code, HubError

MAX_PROFILES = 200


def told(profile: Profile) -> dict[str, Any]:
    """A profile as plain values: what the API answers, and what a file keeps."""
    found = attrs.asdict(profile)
    return {
        schema.key_of(field): list(found[field.name])
        if isinstance(found[field.name], tuple)
        else found[field.name]
        for field in attrs.fields(Profile)
    }


def read(raw: Mapping[str, Any], providers: Collection[str]) -> Profile:
    """A profile of its plain values.

    Raises:
        HubError: INVALID with every problem.
    """
    problems: list[Problem] = []
    found = schema.table(Profile)(raw, (), problems)
    if isinstance(found, Profile):
        problems.extend(_unknown(found, providers))
    if problems or not isinstance(found, Profile):
        raise _invalid(problems)
    return found


def together(configured: Sequence[Profile], stored: Sequence[Profile]) -> tuple[Profile, ...]:
    """All profiles: the configured ones, then the stored ones that do not have a configured one's name."""
    names = {profile.name for profile in configured}
    return (*configured, *(profile for profile in stored if profile.name not in names))


def upserted(configured: Sequence[Profile], stored: Sequence[Profile], given: Profile) -> tuple[Profile, ...]:
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
        raise HubError(Code.INVALID, f"There are {len(stored)} profiles already.", hint="Delete one first.")
    return (*stored, given)


def removed(configured: Sequence[Profile], stored: Sequence[Profile], name: str) -> tuple[Profile, ...]:
    """The stored profiles without the one of that name.

    Raises:
        HubError: INVALID; it is in `hub.toml`. NOT_FOUND; there is none.
    """
    _insist_stored(configured, name)
    rest = tuple(profile for profile in stored if profile.name != name)
    if len(rest) == len(stored):
        raise HubError(Code.NOT_FOUND, f"There is no profile {name!r}.", hint="See: GET /api/profiles")
    return rest


def _insist_stored(configured: Sequence[Profile], name: str) -> None:
    if name in [profile.name for profile in configured]:
        raise _invalid(
            [
                Problem(
                    ("name",), "is a profile of hub.toml; change it there, or take it out: under [[profiles]]"
                )
            ]
        )


def _unknown(profile: Profile, providers: Collection[str]) -> Iterator[Problem]:
    known = ", ".join(providers)
    for index, name in enumerate(profile.chain):
        if name not in providers:
            yield Problem(("chain", index), f"{name!r} is no provider; known are {known}")


def _invalid(problems: Sequence[Problem]) -> HubError:
    errors = [{"path": f"$.{problem.where}", "message": problem.text} for problem in problems]
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return HubError(Code.INVALID, f"{errors[0]['path']}: {errors[0]['message']}{more}", errors=errors)
