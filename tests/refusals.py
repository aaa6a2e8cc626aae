"""A call that hub refuses.

Owns: how a test says which error it expects.
Must not: know a single refusal.
"""

from __future__ import annotations

from collections.abc import Awaitable

import pytest

from hub.errors import Code, HubError


def refuses(code: Code, *words: str) -> pytest.RaisesExc[HubError]:
    """As `pytest.raises`: an error with this code, and these words in its detail."""

    def fits(error: HubError) -> bool:
        assert error.code is code, f"{error.code}: {error.detail}"
        assert not [word for word in words if word not in error.detail], error.detail
        return True

    return pytest.raises(HubError, check=fits)


async def refusal(call: Awaitable[object], code: Code | None = None) -> HubError:
    """The error of an awaited call, with this code if one is given."""
    with pytest.raises(HubError) as caught:
        await call
    assert code in (None, caught.value.code), caught.value.detail
    return caught.value
