"""The stored profiles: `.hub/profiles.toml`.

Owns: reading that file and replacing it whole.
Must not: judge a profile (`hub.domain` does).
Tests: tests/hub/actors/settings/test_profiles.py
"""

from __future__ import annotations

from collections.abc import Sequence

from hub.api.convert import unstructure
from hub.api.tables import parse_config
from hub.domain.config.model import ProfileSettings
from hub.errors import Code, HubError
from hub.io.files.sealed import NotSealed, read_sealed, write_sealed
from hub.io.project.places import Places

_LIMIT = 4 * 1024 * 1024
_ANEW = "Store one anew: POST /api/profiles. The file is kept beside it."


def read_stored(places: Places) -> tuple[ProfileSettings, ...]:
    """The stored profiles; () when none were stored.

    Raises:
        HubError: STATE_CORRUPT when the file holds no profiles, NOT_SEALED when hub did not write it; it is left as
            it is.
    """
    try:
        data = read_sealed(places.profiles, _LIMIT)
    except FileNotFoundError:
        return ()
    except NotSealed as error:
        raise HubError(error.code, error.detail, hint=_ANEW) from error
    try:
        return parse_config(data.decode(), str(places.profiles)).profiles
    except (UnicodeDecodeError, HubError) as error:
        raise HubError(
            Code.STATE_CORRUPT, f"{places.profiles} holds no profiles: {error}", hint=_ANEW
        ) from error


def replace_stored(places: Places, profiles: Sequence[ProfileSettings]) -> None:
    """Replace the list, whole and durably.

    Raises:
        HubError: NO_SPACE, READ_ONLY or NO_PERMISSION; the old list is as it was.
    """
    import tomli_w  # only a change needs it

    text = tomli_w.dumps({"profiles": [unstructure(profile) for profile in profiles]})
    write_sealed(places.profiles, text.encode())
