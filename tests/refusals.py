"""What hub refuses, by its code.

Owns: the one way to say that something is refused.
Must not: know what refuses.
"""

from __future__ import annotations

import pytest

from hub.errors import Code, HubError


def refuses(code: Code, match: str | None = None) -> pytest.RaisesExc[HubError]:
    """Within it an error of this code is raised, whose words fit `match`; it is told as by `pytest.raises`."""
    return pytest.raises(HubError, match=match, check=lambda error: error.code is code)
