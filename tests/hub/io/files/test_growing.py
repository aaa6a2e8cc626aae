"""Lines of a file that grows: nothing is lost between two of them."""

import os

from hub.io.files.growing import line_ends, lines, pread_all


def test_lines_and_their_ends_are_the_whole(tmp_path):
    for data in (b"", b"\n", b"a\nbb\n", b"a\n\nb"):
        assert b"".join(lines(data)) == data
        whole = [line for line in lines(data) if line.endswith(b"\n")]
        assert list(line_ends(data)) == [sum(map(len, whole[: n + 1])) for n in range(len(whole))]


def test_a_part_is_read_as_far_as_there_is_one(tmp_path):
    (tmp_path / "log").write_bytes(b"0123456789")
    fd = os.open(tmp_path / "log", os.O_RDONLY)
    try:
        assert [pread_all(fd, 2, 3), pread_all(fd, 8, 99), pread_all(fd, 99, 1)] == [b"234", b"89", b""]
    finally:
        os.close(fd)
