"""What a field of the API may be, beyond its type.

Owns: `Meta`, which the converter checks by and the description of the API is made of; the fields that many share; and
`UNSET`, for a key that was left out where null means something else.
Must not: check anything itself.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Final

import attrs

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer that every JSON reader reads exactly."""
MAX_BODY = 1024 * 1024
"""Bytes of a request's body."""


@attrs.frozen(kw_only=True)
class Meta:
    """Beside a type, in `Annotated`: its bounds, and what it means."""

    description: str = ""
    ge: int | None = None
    gt: int | None = None
    le: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str = ""
    """Searched for. In Python `$` also matches before a final newline, in ECMA (and so in OpenAPI) not: hence `(?!\\n)`."""
    schema: dict[str, str] = attrs.field(factory=dict, hash=False)
    """More of the JSON schema, said and not checked."""


class AsNamed:
    """A class whose fields have the same names on the wire: the specification's, with underscores."""


class Open:
    """A class that is more than its fields on the wire: other members may stand beside them."""


class Unset(Enum):
    """The type of `UNSET`."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET

EventId = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER, description="An event id; 0 is before the first.")]
Sha = Annotated[
    str, Meta(pattern=r"^[0-9a-f]{7,64}$(?!\n)", description="A commit, by 7 or more hex digits.")
]
Name = Annotated[
    str, Meta(max_length=64, pattern=r"^[A-Za-z0-9._-]*$(?!\n)", description="A name in hub.toml.")
]
ProviderName = Annotated[
    str, Meta(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9._-]+$(?!\n)", description="As in hub.toml.")
]
Label = Annotated[str, Meta(min_length=1, max_length=64, description="Printable, no space at an end.")]
Trust = Annotated[
    str,
    Meta(
        pattern="^([0-9a-f]{64})?$",
        description="The `digest` of a `trust_needed`: the user agrees for this time to what was named there.",
    ),
]
Timestamp = Annotated[str, "ISO 8601, UTC."]
