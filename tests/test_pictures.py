"""The documents' pictures are of the screens as they are: none is older than what it shows."""

import pytest

from tests.pictures.sources import PICTURES, SHOWN, digest, kept


@pytest.mark.parametrize("name", SHOWN)
def test_a_picture_is_as_new_as_its_screen(name):
    assert kept().get(name) == digest(name), "the screen has changed; draw its picture: nox -s pictures"
    assert (PICTURES / name).stat().st_size > 1000


@pytest.mark.parametrize(
    "path", [*PICTURES.glob("*.svg"), *PICTURES.parent.glob("*.svg")], ids=lambda path: path.name
)
def test_a_picture_asks_nobody_for_a_font(path):
    """A reader's browser is nobody's counter."""
    assert "http" not in path.read_text().replace("http://www.w3.org/", "").replace(
        "https://www.textualize.io", ""
    )
