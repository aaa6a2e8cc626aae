"""Lines of a file that grows: nothing is lost between two of them."""

import os

from hub.io.files.growing import line_ends, pread_all


def test_a_line_that_has_no_end_yet_is_none():
    for data, ends in ((b"", []), (b"\n", [1]), (b"a\rb\nbb\n", [4, 7]), (b"a\n\nb", [2, 3])):
        assert list(line_ends(data)) == ends


def test_a_part_is_read_as_far_as_there_is_one(tmp_path):
    (tmp_path / "log").write_bytes(b"0123456789")
    fd = os.open(tmp_path / "log", os.O_RDONLY)
    try:
        assert [pread_all(fd, 2, 3), pread_all(fd, 8, 99), pread_all(fd, 99, 1)] == [b"234", b"89", b""]
    finally:
        os.close(fd)
