"""Redaction of plain text with ten known values: MB/s, beside the naive way.

The naive way is one `re.sub` over the alternation of the same forms, longest first: without the anchors, without
broken lines, without the rules, without a stream. Run it: `pytest tests/bench/bench_redaction.py -m bench -s`.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable

import pytest

from hub.domain.redaction import KnownSecrets, Redactor
from hub.domain.redaction_known import forms

SIZE = 2_000_000
ROUNDS = 3


def values() -> list[str]:
    draw = random.Random(7)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return [f"sk-ant-api03-{''.join(draw.choices(letters, k=90))}" for _ in range(5)] + [
        "".join(draw.choices(letters, k=40)) for _ in range(5)
    ]


def best(act: Callable[[], object], size: int = SIZE) -> float:
    """MB/s of the fastest round."""
    times = []
    for _ in range(ROUNDS):
        start = time.process_time()
        act()
        times.append(time.process_time() - start)
    return size / 1e6 / min(times)


@pytest.mark.bench
def test_redaction(pytestconfig):
    source = "".join(path.read_text() for path in sorted((pytestconfig.rootpath / "hub").rglob("*.py")))
    text = (source * (SIZE // len(source) + 1))[:SIZE]
    secrets = values()
    redactor = Redactor(KnownSecrets(secrets), b"key")
    written = sorted({form for value in secrets for form in forms(value.encode())}, key=len, reverse=True)
    naive = re.compile("|".join(map(re.escape, written)))
    lines = text[:200_000].splitlines(keepends=True)

    print(f"\n{len(written)} forms of {len(secrets)} values, {SIZE / 1e6:g} MB of Python source")
    print(f"whole text            {best(lambda: redactor.text(text)):8.1f} MB/s")
    for size in (65_536, 4096, 200):
        part = text[: size * 500]

        def stream(part: str = part, size: int = size) -> None:
            out = redactor.stream()
            for at in range(0, len(part), size):
                out.feed(part[at : at + size])
            out.flush()

        print(f"pieces of {size:6d}      {best(stream, len(part)):8.1f} MB/s")
    rate = best(lambda: [redactor.text(line) for line in lines], len(lines))
    print(f"line by line          {1 / rate:8.1f} us a line")
    print(f"naive re.sub          {best(lambda: naive.sub('*', text)):8.1f} MB/s")
    for noise in ("a", "sk-", "sk-ant-", "eyJ", "-----BEGIN PRIVATE KEY-----"):
        hostile = noise * (500_000 // len(noise))
        print(
            f"hostile {noise[:12]:12}  {best(lambda hostile=hostile: redactor.text(hostile), len(hostile)):8.1f} MB/s"
        )
