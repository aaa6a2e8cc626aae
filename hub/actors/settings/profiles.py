"""The profiles as the settings keep them.

Owns: which profiles there are, and the change of those that are stored.
Must not: change one of `hub.toml`, or decide what a profile may be (`hub.domain.config.profiles` does).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import attrs

from hub.api import profiles as api
from hub.api.convert import structure, unstructure
from hub.api.profiles import ProfileDone
from hub.api.tables import read_profile
from hub.domain.config.model import ProfileSettings
from hub.domain.config.profiles import removed, together, upserted
from hub.domain.config.reader import Config
from hub.errors import Code, HubError
from hub.io.config.profiles import read_stored, replace_stored
from hub.io.files.sealed import put_aside
from hub.io.project.places import Places
from hub.messages.settings import PutProfile, RemoveProfile


@attrs.frozen
class Profiles:
    """Reads and writes `.hub/profiles.toml`; to be called in a thread, but for `within`."""

    places: Places
    providers: Collection[str]
    configured: Callable[[], Sequence[ProfileSettings]]
    """Those of `hub.toml` and of the user's own configuration."""

    def within(self, config: Config) -> Config:
        """The configuration with the stored profiles. A file that cannot be read keeps nothing else from working."""
        try:
            stored = read_stored(self.places)
        except HubError:
            return config
        return attrs.evolve(config, profiles=together(config.profiles, stored))

    def listed(self) -> list[api.Profile]:
        """All there are.

        Raises:
            HubError: STATE_CORRUPT; the file cannot be read.
        """
        return [_shown(profile) for profile in together(self.configured(), read_stored(self.places))]

    def put(self, order: PutProfile) -> ProfileDone:
        """Store a profile in the place of the one of its name, or beside the others.

        Raises:
            HubError: INVALID with every problem; nothing has changed.
        """
        given = read_profile(order.profile, self.providers)
        stored = self._stored_or_anew()
        replace_stored(self.places, upserted(self.configured(), stored, given))
        return ProfileDone(deleted=False, **attrs.asdict(_shown(given)))

    def remove(self, order: RemoveProfile) -> ProfileDone:
        """Forget a profile.

        Raises:
            HubError: NOT_FOUND or INVALID; nothing has changed.
        """
        replace_stored(self.places, removed(self.configured(), read_stored(self.places), order.name))
        return ProfileDone(deleted=True, name=order.name)

    def _stored_or_anew(self) -> tuple[ProfileSettings, ...]:
        try:
            return read_stored(self.places)
        except HubError as error:
            if error.code not in (Code.STATE_CORRUPT, Code.NOT_SEALED):
                raise
            put_aside(self.places.profiles, "corrupt")
            return ()


def _shown(profile: ProfileSettings) -> api.Profile:
    return structure(unstructure(profile), api.Profile)
