"""What waits in a supervisor's queue.

Owns: the three kinds of things a supervisor does in its own turn.
Must not: do them.
"""

from __future__ import annotations

from typing import Any

import attrs

from supervisors.call import Reply
from supervisors.child import Child
from supervisors.handle import Op


@attrs.frozen(eq=False)
class Again:
    """A child is to be started again: count it first."""

    child: Child
    generation: int


@attrs.frozen(eq=False)
class Due:
    """The delay of a restart is over."""

    child: Child
    generation: int


@attrs.frozen(eq=False)
class Request:
    """Somebody asks for something."""

    op: Op
    argument: Any
    reply: Reply


Event = Again | Due | Request
