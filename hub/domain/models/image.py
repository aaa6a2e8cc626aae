"""What an image is and how large, from its first bytes.

Owns: the headers of PNG, JPEG, GIF and WebP.
Must not: decode a pixel.
"""

from __future__ import annotations

import struct

import attrs

_MARK = 0xFF
"""What every JPEG marker begins with."""
_FRAMES = frozenset({*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC})
"""JPEG markers of a frame header: SOF0 to SOF15 without DHT, JPG and DAC."""
_ALONE = frozenset({0x01, *range(0xD0, 0xD9)})
"""JPEG markers that no length follows."""


@attrs.frozen
class Image:
    """The kind and the size of an image."""

    media: str
    width: int
    height: int


def image_of(data: bytes) -> Image | None:
    """What the bytes are; None when they are no image that is known, or one of no size."""
    for read in (_png, _jpeg, _gif, _webp):
        try:
            found = read(data)
        except (struct.error, IndexError):
            continue
        if found is not None and found.width > 0 and found.height > 0:
            return found
    return None


def _png(data: bytes) -> Image | None:
    if data[:8] != b"\x89PNG\r\n\x1a\n" or data[12:16] != b"IHDR":
        return None
    return Image("image/png", *struct.unpack_from(">II", data, 16))


def _gif(data: bytes) -> Image | None:
    if data[:6] not in (b"GIF87a", b"GIF89a"):
        return None
    return Image("image/gif", *struct.unpack_from("<HH", data, 6))


def _jpeg(data: bytes) -> Image | None:
    if data[:3] != b"\xff\xd8\xff":
        return None
    at = 2
    while data[at] == _MARK:
        marker = data[at + 1]
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            return Image("image/jpeg", width, height)
        if marker == _MARK:  # a fill byte
            at += 1
        elif marker in _ALONE:
            at += 2
        else:
            at += 2 + struct.unpack_from(">H", data, at + 2)[0]
    return None


def _webp(data: bytes) -> Image | None:
    if data[:4] != b"RIFF" or data[8:12] != b"WEBP":
        return None
    match data[12:16]:
        case b"VP8 ":
            width, height = struct.unpack_from("<HH", data, 26)
            return Image("image/webp", width & 0x3FFF, height & 0x3FFF)
        case b"VP8L":
            (bits,) = struct.unpack_from("<I", data, 21)
            return Image("image/webp", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1)
        case b"VP8X":
            return Image("image/webp", _24(data, 24) + 1, _24(data, 27) + 1)
        case _:
            return None


def _24(data: bytes, at: int) -> int:
    low, high = struct.unpack_from("<HB", data, at)
    return int(low | high << 16)
