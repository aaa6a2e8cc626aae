"""A runner's own directory."""

import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import trio

from hub.io.processes import control


@pytest.fixture
async def run_dir(tmp_path: Path) -> AsyncIterator[Path]:
    """A run directory of its own; whatever is left of the run is ended with the test."""
    path = tmp_path / f"t-{uuid.uuid4().hex[:12]}"
    yield path
    with trio.CancelScope(shield=True):
        await control.sweep({path.name})
