"""Secrets as files, programs and people write them, and texts that only look like it, for which no rule was made one by one.

The lists were written before the rules were looked at, from vendors' public documentation. A line of `held_out_with.txt`
is a kind, a text with `§` in the secret's place, and the secret's form; of `held_out_vendors.txt` a service and the form of
its keys; of `held_out_around.txt` a place of an assignment, as `str.format` fills it in with a service and a word in five
spellings each. In a form `<n32>` is 32 letters of the class `n` (`CLASSES`); all else stands for itself.
"""

from __future__ import annotations

import random
import re
import string
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import pytest

from hub.domain.redaction.redactor import Redactor
from tests.redaction.made import jwt, written

HERE = Path(__file__).parent
HEX = "0123456789abcdef"
CLASSES = {
    "a": string.ascii_lowercase,
    "A": string.ascii_uppercase,
    "L": string.ascii_letters,
    "d": string.digits,
    "h": HEX,
    "H": HEX.upper(),
    "n": string.ascii_lowercase + string.digits,
    "N": string.ascii_uppercase + string.digits,
    "w": string.ascii_letters + string.digits,
    "u": string.ascii_letters + string.digits + "_-",
    "e": string.ascii_lowercase + string.digits + "=_-",
    "b": string.ascii_letters + string.digits + "+/",
    "p": string.ascii_letters + string.digits + "!#^*_-+.?",
    "z": string.ascii_uppercase + "234567",
}
UUID = "<h8>-<h4>-4<h3>-a<h3>-<h12>"
Case = tuple[str, str, str]
"""A kind, a text, and the secret in it."""


def drawn(form: str, rng: random.Random) -> str:
    form = re.sub("<jwt>", lambda _: jwt(rng), form.replace("<uuid>", UUID))
    return re.sub(
        "<([a-zA-Z])([0-9]+)>", lambda one: "".join(rng.choices(CLASSES[one[1]], k=int(one[2]))), form
    )


def lines(name: str) -> list[str]:
    return (HERE / name).read_text().strip("\n").split("\n")


def unfolded(text: str) -> str:
    """`\\n` is a line's end, and `\\\\n` one that was escaped."""
    return text.replace(r"\\n", "\0").replace(r"\n", "\n").replace("\0", r"\n").replace(r"\|", "|")


def in_places() -> Iterable[Case]:
    rng = random.Random("places")
    for line in lines("held_out_with.txt"):
        kind, rest = line.split("|", 1)
        text, form = rest.rsplit("|", 1)
        secret = drawn(form, rng)
        yield kind, drawn(unfolded(text), rng).replace("§", secret), secret


def of_vendors() -> Iterable[Case]:
    rng = random.Random("vendors")
    for line in lines("held_out_vendors.txt"):
        service, form = line.split(" ", 1)
        for word in ("token", "api_key", "client_secret"):
            secret = drawn(form, rng)
            yield service, rng.choice(list(written(f"{service}_{word}", secret))), secret


def around_vendors() -> Iterable[Case]:
    rng = random.Random("around")
    places = lines("held_out_around.txt")
    for line in lines("held_out_vendors.txt"):
        service, form = line.split(" ", 1)
        named = re.sub("(?<=[a-z])(?=[A-Z])", "_", service).lower()
        for place in rng.sample(places, 4):
            secret, word = drawn(form, rng), rng.choice(WORDS)
            names = dict(zip("skCPS", spellings(named), strict=True))
            words = dict(zip("wkcVW", spellings(word), strict=True))
            yield service, unfolded(place).format(**names | words).replace("§", secret), secret


def spellings(name: str) -> tuple[str, str, str, str, str]:
    """The name in snake case, kebab, camel, Pascal and capitals."""
    pascal = "".join(part[:1].upper() + part[1:] for part in name.split("_"))
    return name, name.replace("_", "-"), pascal[:1].lower() + pascal[1:], pascal, name.upper()


WORDS = (
    "token",
    "api_key",
    "secret",
    "access_token",
    "secret_key",
    "auth_token",
    "client_secret",
    "password",
)


def is_shown(redactor: Redactor, text: str, secret: str) -> bool:
    """Whether eight letters in a row of the secret are left that stand nowhere else."""
    out, around = redactor.text(text), text.replace(secret, "")
    pieces = {secret[at : at + 8] for at in range(max(1, len(secret) - 7))}
    return any(piece in out and piece not in around for piece in pieces)


@pytest.mark.parametrize("cases", [in_places, of_vendors, around_vendors])
def test_nearly_all_secrets_of_each_kind_are_hidden(cases, redactor):
    """On average over the kinds; no eight letters in a row of one are left."""
    found: dict[str, list[bool]] = defaultdict(list)
    shown = []
    for kind, text, secret in cases():
        found[kind].append(not is_shown(redactor, text, secret))
        if not found[kind][-1]:
            shown.append((kind, text))
    rate = sum(sum(hits) / len(hits) for hits in found.values()) / len(found)
    assert rate >= BOUNDS[cases], (rate, shown)


BOUNDS = {in_places: 0.93, of_vendors: 0.98, around_vendors: 0.93}


def test_hardly_a_text_that_only_looks_like_one_is_touched(redactor):
    rng = random.Random("without")
    texts = [drawn(unfolded(line), rng) for line in lines("held_out_without.txt")]
    touched = [text for text in texts if redactor.text(text) != text]
    assert len(touched) <= len(texts) * 0.02, touched
