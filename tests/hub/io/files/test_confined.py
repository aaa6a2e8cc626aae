"""Files below a folder: none that a link or a trick leads to."""

import os

import pytest

from hub.io.files.confined import FileRefusedError, open_below
from tests.hub.io.files.test_walk import made


@pytest.mark.parametrize("path", ["p/link", "p/pipe", "p", "p/nobody", "q/../../x", "p/\0"])
def test_what_cannot_be_opened_is_refused_in_words(path, tmp_path):
    made(tmp_path, "p/1.x")
    (tmp_path / "p" / "link").symlink_to("1.x")
    os.mkfifo(tmp_path / "p" / "pipe")
    with pytest.raises(FileRefusedError, match=r"\.$"):
        open_below(str(tmp_path), f"{tmp_path}/{path}")


def test_a_regular_file_is_opened_through_a_root_that_is_a_link(tmp_path):
    made(tmp_path, "r/p/1.x")
    (tmp_path / "link").symlink_to("r")
    for root in ("r", "link"):
        fd = open_below(str(tmp_path / root), f"{tmp_path}/r/p/1.x")
        assert os.read(fd, 9) == b"r/p/1.x"
        os.close(fd)
