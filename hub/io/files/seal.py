"""The seal on what hub keeps below `.hub`: who wrote these bytes, and for which place.

Owns: the code that authenticates bytes under a name, and the three forms in which a text carries it.
Must not: read a key or a file, or import anything outside the standard library (the runner starts with `-I -S`).

The code is keyed BLAKE2b (RFC 7693) over the name and the bytes. A JSON object carries it as its last member `seal`, a JSON
array as a line of blanks behind it, which JSON allows, any other text as a comment in its last line. So a sealed file can
still be read by whatever reads its kind; the bytes under the seal are the file's own, and nothing is parsed before they
are known to be hub's.
"""

from __future__ import annotations

from _blake2 import blake2b  # `hashlib` loads OpenSSL: 3 ms at every start of an agent
from _operator import _compare_digest

_SIZE = 32
_MEMBER = b',"seal":"'
_CLOSE = b'"}'
_LINE = b"# seal "
_DIGITS = 2 * _SIZE
_HEX = b"0123456789abcdef"
_HIDDEN, _SHOWN = bytes.maketrans(b"01", b" \t"), bytes.maketrans(b" \t", b"01")


def mark(key: bytes, name: bytes, body: bytes = b"") -> str:
    """The code for a name and bytes, 64 hex digits; for what carries it in a form of its own."""
    made = blake2b(len(name).to_bytes(8, "big"), key=key, digest_size=_SIZE)
    made.update(name)
    made.update(body)
    return made.hexdigest()


def same(found: str, made: str) -> bool:
    """Whether two codes are equal, in a time that tells nothing of where they differ."""
    return _compare_digest(found, made)


def derived(key: bytes, name: bytes) -> bytes:
    """A key for one purpose only, such as one run; whoever has it learns nothing of `key`."""
    return blake2b(name, key=key, digest_size=_SIZE, person=b"hub-derived").digest()


def closed(key: bytes, name: bytes, body: bytes) -> bytes:
    """The bytes with their seal: a JSON object with at least one member, a JSON array, or a text with `#` comments."""
    text = body.rstrip(b"\n")
    if text.startswith(b"{") and text.endswith(b"}"):
        return text[:-1] + _MEMBER + mark(key, name, text).encode() + _CLOSE
    if text.startswith(b"[") and text.endswith(b"]"):
        return text + b"\n" + _blank(mark(key, name, text)) + b"\n"
    return body + _LINE + mark(key, name, body).encode() + b"\n"


def opened(key: bytes, name: bytes, data: bytes) -> bytes | None:
    """The bytes that were sealed; None when the seal is missing or is for other bytes, another name or another key."""
    body, code = split(data)
    return body if code and same(code, mark(key, name, body)) else None


def split(data: bytes) -> tuple[bytes, str]:
    """The bytes without a seal, and the seal they carry; "" where they carry none. Says nothing of its truth."""
    text = data.rstrip(b"\n")
    if text.endswith((b" ", b"\t")):
        body, _, bits = text.rpartition(b"\n")
        code = bits.translate(_SHOWN)
        return (
            (body, f"{int(code, 2):0{_DIGITS}x}")
            if len(code) == 8 * _SIZE and _is_of(code, b"01")
            else (data, "")
        )
    for lead, tail, end in ((_MEMBER, _CLOSE, b"}"), (_LINE, b"", b"")):
        cut = len(text) - len(tail) - _DIGITS
        body, code = text[: max(0, cut)], text[cut : cut + _DIGITS]
        if body.endswith(lead) and text.endswith(tail) and len(code) == _DIGITS and _is_of(code, _HEX):
            return body[: -len(lead)] + end, code.decode()
    return data, ""


def _blank(code: str) -> bytes:
    return f"{int(code, 16):0{8 * _SIZE}b}".encode().translate(_HIDDEN)


def _is_of(code: bytes, letters: bytes) -> bool:
    return not code.strip(letters)
