"""The stored profiles: `.hub/profiles.toml`.

Owns: reading that file and replacing it whole.
Must not: judge a profile (`hub.domain` does).
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from hub.domain.config.model import Profile
from hub.domain.config.profiles import told
from hub.domain.config.reader import parse_config
from hub.errors import Code, HubError
from hub.io.atomic import coded_errors, read_bounded, write_atomic
from hub.io.places import Places

_LIMIT = 4 * 1024 * 1024


def read_stored(places: Places) -> tuple[Profile, ...]:
    """The stored profiles; () when none were stored.

    Raises:
        HubError: STATE_CORRUPT when the file holds no profiles; it is left as it is.
    """
    try:
        data = read_bounded(places.profiles, _LIMIT)
    except FileNotFoundError:
        return ()
    try:
        return parse_config(data.decode(), str(places.profiles)).profiles
    except (UnicodeDecodeError, HubError) as error:
        raise HubError(
            Code.STATE_CORRUPT,
            f"{places.profiles} holds no profiles: {error}",
            hint="Correct it, or store one anew: POST /api/profiles",
        ) from error


def replace_stored(places: Places, profiles: Sequence[Profile]) -> None:
    """Replace the list, whole and durably.

    Raises:
        HubError: NO_SPACE, READ_ONLY or NO_PERMISSION; the old list is as it was.
    """
    import tomli_w  # noqa: PLC0415  # only a change needs it

    text = tomli_w.dumps({"profiles": [told(profile) for profile in profiles]})
    write_atomic(places.profiles, text.encode())


def put_aside(places: Places) -> None:
    """Keep a file that could not be read beside the one that takes its place."""
    with coded_errors(places.profiles):
        aside = places.profiles.with_name(f"profiles.toml.corrupt-{time.time_ns() // 1_000_000}")
        places.profiles.rename(aside)
