"""Fixtures: a actors in memory and a real server over it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.hub.web.fake import Fake, Server, running


@pytest.fixture
def actors() -> Fake:
    return Fake()


@pytest.fixture
async def server(actors: Fake) -> AsyncIterator[Server]:
    async with running(actors) as server:
        yield server
