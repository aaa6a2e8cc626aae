"""A project without a repository: the settings need none."""

import pytest

from hub.io.project.places import Places


@pytest.fixture
def places(tmp_path):
    root = tmp_path / "repo"
    (root / ".hub").mkdir(parents=True, mode=0o700)
    return Places(root, tmp_path / "state")


@pytest.fixture
def config(places):
    return places.config


@pytest.fixture
def clock():
    return [1000.0]
