"""The redactor that keys are hidden by, with the engine and without."""

import pytest

from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.io.secrets.kingfisher import Detection

DETECTION = Detection()


@pytest.fixture(params=["rules alone", "with the engine"], scope="module")
def redactor(request: pytest.FixtureRequest) -> Redactor:
    """Everything holds without the engine too; with it, nothing that was hidden is shown."""
    engine = DETECTION.load() if request.param == "with the engine" else None
    if request.param == "with the engine" and engine is None:
        pytest.skip(DETECTION.trouble)
    return Redactor(KnownSecrets(), b"installation", engine=engine)
