"""Fixtures: a backend in memory and a real server over it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.hub.web.fake import Fake, Server, running


@pytest.fixture
def backend() -> Fake:
    return Fake()


@pytest.fixture
async def server(backend: Fake) -> AsyncIterator[Server]:
    async with running(backend) as server:
        yield server
