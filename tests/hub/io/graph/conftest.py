"""A folder of code and its index."""

import os

import attrs
import pytest

from hub.io.graph.intake import Intake
from hub.io.graph.store import GraphStore

AT = "2026-01-01T00:00:00.000Z"
LONG_AGO = 1_500_000_000


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
        paths = sorted(os.fsencode(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file())
        intake = Intake(self.store, self.root, paths, scrub, AT)
        while intake.batch():
            pass
        return intake.files


@pytest.fixture
def project(tmp_path):
    (tmp_path / "code").mkdir()
    store = GraphStore.open(tmp_path / "graph.db")
    yield Project(tmp_path / "code", store)
    store.close()
