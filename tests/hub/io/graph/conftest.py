"""A folder of code and its index."""

import os

import attrs
import pytest

from hub.io.graph.intake import Intake
from hub.io.graph.store import GraphStore

AT = "2026-01-01T00:00:00.000Z"
LONG_AGO = 1_500_000_000


def indexed(store: GraphStore, root, scrub=str) -> Intake:
    """All files below a folder, in as many batches as that takes."""
    paths = sorted(os.fsencode(p.relative_to(root)) for p in root.rglob("*") if p.is_file())
    intake = Intake(store, root, paths, scrub, AT)
    while intake.batch():
        pass
    return intake


@attrs.define
class Project:
    root: os.PathLike
    store: GraphStore

    def write(self, path: str, text: str, at: int = LONG_AGO):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        os.utime(file, (at, at))

    def index(self, scrub=str) -> int:
        return indexed(self.store, self.root, scrub).files


@pytest.fixture
def project(tmp_path):
    (tmp_path / "code").mkdir()
    store = GraphStore.open(tmp_path / "graph.db")
    return Project(tmp_path / "code", store)
