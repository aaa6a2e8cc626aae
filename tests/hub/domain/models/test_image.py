"""Kind and size of an image, from headers made by the formats' own descriptions."""

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.models.image import Image, image_of

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
SOF = b"\xff\xc2" + struct.pack(">HBHH", 17, 8, 480, 640)
JPEG = b"\xff\xd8\xff\xe0" + struct.pack(">H", 16) + b"JFIF\0" + b"\0" * 9 + b"\xff\xff\xd0" + SOF
VP8 = b"RIFF\0\0\0\0WEBPVP8 " + b"\0" * 4 + b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 0x4000 | 640, 480)
VP8L = b"RIFF\0\0\0\0WEBPVP8L" + b"\0" * 4 + b"\x2f" + struct.pack("<I", 639 | 479 << 14)
VP8X = b"RIFF\0\0\0\0WEBPVP8X" + b"\0" * 8 + bytes([0x7F, 2, 0, 0xDF, 1, 0])


@pytest.mark.parametrize(
    ("data", "image"),
    [
        (PNG, Image("image/png", 1, 1)),
        (JPEG, Image("image/jpeg", 640, 480)),
        (b"GIF89a" + struct.pack("<HH", 640, 480), Image("image/gif", 640, 480)),
        (VP8, Image("image/webp", 640, 480)),
        (VP8L, Image("image/webp", 640, 480)),
        (VP8X, Image("image/webp", 640, 480)),
    ],
    ids=["png", "jpeg", "gif", "webp", "webp-lossless", "webp-extended"],
)
def test_the_header_tells(data, image):
    assert image_of(data) == image
    assert image_of(data[:9]) is None


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<svg/>",
        PNG[:12] + b"IDAT" + PNG[16:],
        PNG[:16] + b"\0" * 8,
        b"GIF89a" + b"\0" * 4,
        b"GIF89a" + struct.pack("<HH", 1, 0),
        b"\xff\xd8\xff\xd9\0",
        b"RIFF\0\0\0\0WEBPXXXX",
        b"RIFF\0\0\0\0WAVE",
    ],
)
def test_what_is_no_image_is_none(data):
    assert image_of(data) is None


@given(st.sampled_from([PNG, JPEG, VP8, VP8L, VP8X]), st.integers(0, 40), st.binary(max_size=20))
def test_a_damaged_header_is_no_error(data, at, junk):
    found = image_of(data[:at] + junk + data[at:])
    assert found is None or found.width > 0
