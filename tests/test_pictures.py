"""The documents' pictures are of the screens as they are: none is older than what it shows."""

import re

import pytest

from tests.pictures.sources import PICTURES, ROOT, SHOWN, digest, kept

_FETCHED = re.compile(r"""(?:\b(?:href|src)\s*[=:]|url\(|@import)[\s"'(]*(?:url\()?[\s"'(]*(?:https?:)?//""")


@pytest.mark.parametrize("pattern", sorted({pattern for sources in SHOWN.values() for pattern in sources}))
def test_every_source_is_there(pattern):
    """Most of a conversation's had moved to another folder, and its recording was as new as what was left."""
    assert any(ROOT.glob(pattern))


@pytest.mark.parametrize("name", SHOWN)
def test_a_picture_is_as_new_as_its_screen(name):
    assert kept().get(name) == digest(name), "the screen has changed; draw its picture: nox -s pictures"
    assert (PICTURES / name).stat().st_size > 1000


@pytest.mark.parametrize(
    "path", [*PICTURES.glob("*.svg"), *PICTURES.parent.glob("*.svg")], ids=lambda path: path.name
)
def test_a_picture_asks_nobody_for_a_font(path):
    """A reader's browser is nobody's counter; an address that is only shown is fetched by none."""
    assert _FETCHED.search(path.read_text()) is None
