"""What the tests of redaction share: known values, a redactor of them, and texts that a rule matches."""

from __future__ import annotations

import itertools
import random
import re
from functools import cache

from hub.domain.redaction.known import MIN_LENGTH, forms
from hub.domain.redaction.redactor import KnownSecrets, Redactor
from hub.domain.redaction.rule import BASE64, KeyLines, LetterRun, Rule

KEY = b"installation"
ANTHROPIC = "sk-ant-api03-" + "Zq8" * 30 + "AA"
ODD = 'p"a\\ss/wörd+&% \u00e9'
RAW = bytes(range(200, 232))
MULTILINE = "first line of it\n  second line\n\tthird"
ENDING = "n-secret-value-r\\"
VALUES = [ANTHROPIC, ODD, RAW, MULTILINE, ENDING, "hunter2hunter2"]
KNOWN = KnownSecrets(VALUES, ["ANTHROPIC_API_KEY", "odd", "raw key"])
MARK = re.compile(r"\[REDACTED:[a-z0-9-]{1,32}:[0-9a-f]{8}\]")
ALL_FORMS = sorted({form for v in VALUES for form in forms(v if isinstance(v, bytes) else v.encode())})


def redactor(known: KnownSecrets = KNOWN) -> Redactor:
    return Redactor(known, KEY)


def streamed(text: str, cuts: list[int], known: KnownSecrets = KNOWN) -> str:
    return cut_up(redactor(known), text, cuts)


def cut_up(red: Redactor, text: str, cuts: list[int]) -> str:
    """What comes of the text where it is told in pieces."""
    stream = red.stream()
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [stream.feed(text[a:b]) for a, b in itertools.pairwise(places)]
    return "".join(pieces) + stream.flush()


def leaks(output: str, secret: str) -> bool:
    """Whether eight letters in a row of the secret are left."""
    bare = MARK.sub("\0", output)
    return any(secret[i : i + MIN_LENGTH] in bare for i in range(len(secret) - MIN_LENGTH + 1))


def sample(rule: Rule, rng: random.Random) -> str:
    """A text that the rule matches, made from its parts at random: a form's letters, as whoever makes such secrets writes them.

    A `%` stands before two hex digits, and what is `mixed` has a letter and a digit: by chance alone one secret in a
    thousand would have none.
    """
    return ("abc" if rule.before else "") + "".join(
        part if isinstance(part, str) else drawn_run(part, rng, mixed=rule.mixed) for part in rule.parts
    )


@cache
def drawable(letters: str) -> list[str]:
    """The letters of a run that are drawn: those that are no sign between a name and its value."""
    fitting = re.compile(f"[{letters}]")
    return [c for c in map(chr, range(33, 127)) if fitting.match(c) and c not in "-.,:\\ "] or ["\n"]


def drawn_run(run: LetterRun | KeyLines, rng: random.Random, *, mixed: bool) -> str:
    if isinstance(run, KeyLines):
        return (
            "".join(f"\nk.pem:{n}:{''.join(rng.choices(drawable(BASE64), k=64))}" for n in range(4))
            + run.stop
        )
    if run.stop.startswith("PRIVATE KEY"):
        return "RSA "
    letters = drawable(run.letters)
    size = run.least if run.most <= SEPARATOR else min(run.most, max(run.least, 4) + 20)
    while True:
        units = (f"%{rng.randrange(256):02X}" if c == "%" else c for c in rng.choices(letters, k=size))
        out = "".join(units)[:size].removesuffix("%")
        kinds = [kind for kind in (str.isalpha, str.isdigit) if any(map(kind, letters))]
        if not mixed or all(any(map(kind, out)) for kind in kinds):
            return out


SEPARATOR = 8
"""No run of a secret's letters is this short: such a one stands between a name and its value."""
