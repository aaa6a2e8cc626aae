"""Whether a value looks like a secret: made by a machine, not written by a person.

Owns: the judgement of a single value, apart from where it stands.
Must not: know where the value stands, or any provider's form.

What counts is the *random mass*: the letters and digits in those segments of the value that mix both. Names, paths
and sentences have next to none of it; a generated key is hardly anything else.

Tests: tests/hub/domain/redaction/test_assigned.py
"""

from __future__ import annotations

import re

from hub.domain.text.patterns import late

_SEGMENT = late("(?<![A-Za-z0-9])(?!(?:[a-z]+|[A-Z]+|[0-9]+)(?![A-Za-z0-9]))[A-Za-z0-9]+")
"""Letters and digits of more than one kind, up to a sign."""
_PLAIN_SEGMENT = late("[A-Za-z0-9]+")
_LONG_NUMBER = late("(?<![A-Za-z0-9])[0-9]{15,}(?![A-Za-z0-9])")
_UUID = late("(?i)[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_COMPUTED = late(
    r"^[<>{}\[\]]|[<>{}\[\]]\Z|<[^<>]*>|\{[^{}]*\}|\[[^\[\]]*\]|[-=]>|:[0-9a-f]{8}\]"
    r"|\$\(|(?<![a-z0-9])\$(?:[A-Z_]{3}|[a-z_]{3})|^\$|\*\*\*|\.\.\.|%[A-Za-z_]+%"
)
"""A program's brackets come in pairs, or at an end where the value was cut; one alone within is a password's. What
was hidden already, from within its mark on, is none."""
_SAID = late(
    r"(?<![0-9])example|placeholder|redacted|dummy|change[_-]?me|xxxxx"
    r"|(?<![a-z0-9])(?:your(?![a-z0-9]{6})|(?:insert|replace|enter|put|goes)[_-])|[_-](?:goes[_-])?here(?![a-z0-9])"
)
"""Words that say that a value is to be put in their place; those that chance writes into a key too count where they stand
alone."""
_TYPED = late("1234567|abcdefg|1234[_-]1234[_-]|00000000|deadbeef|cafebabe")
"""What a person types for a value. Behind the prefix of a service it is hidden all the same: whoever tries out whether a
key is hidden types one, and a key too many that is hidden costs nobody anything."""
_NO_VALUE = late(
    r"(?i)[-+]?[0-9]*\.[0-9]+(?:e[-+]?[0-9]+)?\Z"
    r"|[a-z0-9_.-]*/[a-z0-9_./-]*\.[a-z]{2,4}\Z|https?://[^@?]*\Z|data:[a-z]+/|0x[0-9a-f]{40}\Z"
    r"|(?-i:[A-Za-z0-9_.]*(?:Key|Token|Secret|Password|Credential)s?\Z)"
    r"|(?-i:MFkwEwYHKoZIzj0C|MCowBQYDK2Vw|MI[A-Za-z0-9+/]{2,6}ANBgkqhkiG9w0BAQEFAAO|AAAA[A-Z0-9]{1,3}(?:NzaC1|VjZHNhL))"
)
"""A number, the path of a file, a place that says no more than where it is, a picture,
the address of an account on a chain, the name of another secret, and a public key as DER and OpenSSH begin it."""
_DIGEST = late(r"(?i)(?:md5|sha(?:1|224|256|384|512))[-:=]")
"""What the digest of what everyone may see begins with."""
_PATH = late(
    r"(?:~|/?\.{1,2}|/(?:bin|data|dev|etc|home|lib|mnt|opt|private|proc|root|run|srv|tmp|Users|usr|var))/"
)
_TIME = late("[12][0-9]{3}-[01][0-9]-[0-3][0-9](?:[T_ ][0-9:.,Z+-]*)?\\Z")
_HEX = late("[0-9A-Fa-f]{32,}")
_ODD = late("[0-9!@#$%^&*]")
_COMMON = late(
    r"(?i)(?:(?:my|your|the|some)?[_-]?(?:password|passwd|passphrase|pass|pw|pwd|secret|token|test|user|username)"
    r"|(?:postgres|anonymous|admin|root|guest)|@[\w./-]+|[a-z_]+(?:\|[a-z_]+(?::[\w,]+)?)+|(?:String|Int|Float|Boolean|ID)!|none|null|prompt|change.?me|example|placeholder|dummy|redacted|x+|\*+)[0-9]*|\$\w+|%\w+%|#(?:[0-9a-f]{3,4}){1,2}"
)
_NUMBERS = late("[0-9]+")
_BETWEEN = late("[_.]+")
_PARTS, _WORD, _LONGEST_PART = 4, 3, 20
"""Parts that a name of several words has at least, more than half of them words, the letters of one of these, and of any."""
_LETTERS = late("[A-Za-z]+")
_HUMPS = late("[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_HUMP_MIXED = 3.0
"""Letters in a word of a name in camel case with digits, at least, on average."""
_WORDS = late("(?=[A-Z]?[b-df-hj-np-tv-xz]*[aeiouy])[A-Z]?[a-z]{3,}|[a-z]{4,}")
"""What may be a word within a name in camel case: it has a vowel, and four letters."""
_NAMED, _WORDED = 0.55, 0.75
"""The share of a name's letters in words, at least: by chance a fifth is; and where nothing else may be a form's body."""
_KINDS = tuple(map(re.compile, ("[a-z]", "[A-Z]", "[0-9]", "[!@#$%^&*+]")))
_MASS = 14
_DISTINCT = 7
_VARIED = 4
_LONG, _VARIED_NUMBER = 15, 5
"""The digits of a number that a machine made, at least, and how many of them differ."""
_MOST = 0.65
_JUDGED = 128
"""Letters of a value that tell what it is. More would cost the more, the more words of secrets a text is full of."""
_CHANCE = late("[0-9A-Z]")
"""What no value that a machine made is without."""
_SPELT = late("(?i)(?>(?:[b-df-hj-np-tv-xz]{0,4}+[aeiouy]{1,3}+)+)[b-df-hj-np-tv-xz]{0,4}+")
"""What can be said aloud."""
_BY_HAND = late("[A-Za-z]{3,}+[0-9]{0,4}+|[0-9]{1,4}+(?:[A-Za-z]{3,}+)?|[a-z]{1,3}|[A-Z]{1,3}")
_LONGEST_WORD, _LONGEST_NAME = 14, 24
_PASSWORD, _UNMIXED = 5, 10
"""Letters that a password has at least; and one without digits and signs."""
_KINDS_LEAST = 3


def placeholder(value: str) -> bool:
    """Whether the value stands for one, or can be none: a variable, a blank, an example, a path, a time, a digest."""
    value = value[:_JUDGED]
    return (
        bool(_COMPUTED().search(value))
        or any(none().match(value) for none in (_PATH, _TIME, _DIGEST))
        or len(set(value.lower())) < _VARIED
        or _meant(value)
    )


def _meant(value: str) -> bool:
    """Whether the value says itself what it stands for, or was typed in a row."""
    return any(form().search(value.lower()) for form in (_SAID, _TYPED))


def stands_for_one(value: str) -> bool:
    """Whether a value in the place of a password is a word for it: `password`, `$PASSWORD`, `changeme`."""
    return _COMMON().fullmatch(value) is not None


def token_made(value: str) -> bool:
    """The same for what is called a token or a key: with letters of both cases and digits, fewer are enough."""
    drawn_from_all = all(kind.search(value, 0, _JUDGED) for kind in _KINDS[:-1])
    return machine_made(value, _UNMIXED if drawn_from_all else _MASS)


def machine_made(value: str, mass: int = _MASS) -> bool:
    """Whether the value has at least `mass` letters and digits mixed at random, or is a UUID or a long number."""
    value = value[:_JUDGED]
    if value.isdigit():
        return len(value) >= max(mass, _LONG) and len(set(value)) >= _VARIED_NUMBER and not _meant(value)
    if len(value) < mass or len(set(value)) < _DISTINCT or not _CHANCE().search(value):
        return False
    if _HEX().fullmatch(value) and not (value.islower() or value.isupper()):
        return False  # no generator mixes cases in hex but for an address's checksum, which everyone may see
    return (
        (
            _random_mass(value, mass)
            or bool(_UUID().search(value))
            or any(map(_varied, _LONG_NUMBER().findall(value)))
        )
        and not _NO_VALUE().match(value)
        and not placeholder(value)
        and not _name(value)
    )


def _name(value: str) -> bool:
    """Whether the value is a name of several words, some with numbers: `crypto_stream_xchacha20_init`."""
    parts = _BETWEEN().split(value)
    if len(parts) < _PARTS:
        return False
    words = sum(len(part) >= _WORD and part.isalpha() and not drawn(part) for part in parts)
    return words * 2 > len(parts) and max(map(len, parts)) <= _LONGEST_PART


def _varied(number: str) -> bool:
    return len(set(number)) >= _VARIED


def _random_mass(value: str, mass: int) -> bool:
    """Whether what is drawn at random among the segments is enough; where it is most of the value, all counts.

    A sign that chance puts cuts off a letter or two, which are drawn as well.
    """
    random = "".join(filter(drawn, _SEGMENT().findall(value)))
    enough = len(random) >= mass or (len(value) >= mass and len(random) >= _MOST * len(value))
    return enough and len(set(random)) >= _DISTINCT and _mixed(random)


def drawn(segment: str) -> bool:
    """Whether a segment's characters are mixed: letters with digits, or small letters with capitals as no name has."""
    letters = segment.isalpha()
    if segment.isdigit() or (letters and (segment.islower() or segment.isupper())):
        return False
    return not letters or _in_words(segment) < _NAMED


def _in_words(letters: str) -> float:
    """The share of the letters that stand in what may be words in camel case."""
    return sum(map(len, _WORDS().findall(letters))) / len(letters)


def worded(value: str) -> bool:
    """Whether the value says what stands in its place, or has no digit and is made of words, not of letters in a row."""
    if _SAID().search(value[:_JUDGED].lower()):
        return True
    letters = "".join(_LETTERS().findall(value))
    in_a_row = len(set(letters)) <= _VARIED or _TYPED().search(value.lower()) is not None
    return not any(map(str.isdigit, value)) and not in_a_row and _in_words(letters) >= _WORDED


def by_hand(segment: str) -> bool:
    """Whether a person may have written the segment: words that can be said, in camel case too, or a short number, or both.

    No dictionary is asked. What is drawn at random is seldom both so short, so plain and so well spelt.
    """
    if _BY_HAND().fullmatch(segment) is None:
        return False
    letters = segment.strip("0123456789")
    words = _HUMPS().findall(letters)
    return len(letters) <= _WORD or (
        len(words) * _WORD <= len(letters) <= _LONGEST_NAME and not drawn(letters) and all(map(_spelt, words))
    )


def _spelt(word: str) -> bool:
    return len(word) <= _WORD or (len(word) <= _LONGEST_WORD and _SPELT().fullmatch(word) is not None)


def said_password(value: str) -> bool:
    """The same for a value in a sentence or a call, where names and words stand as often: no person's words alone."""
    value = value[:_JUDGED]
    return (
        hidden_password(value)
        and (_kinds(value) >= _KINDS_LEAST or _drawn_letters(value) or machine_made(value, _UNMIXED))
        and not all(map(by_hand, _PLAIN_SEGMENT().findall(value)))
    )


def _drawn_letters(value: str) -> bool:
    letters = "".join(_LETTERS().findall(value))
    return bool(letters) and drawn(letters)


def _kinds(value: str) -> int:
    return sum(kind.search(value) is not None for kind in _KINDS)


def _mixed(random: str) -> bool:
    """Whether digits and capitals stand among the letters as chance puts them, not as a number behind a name."""
    return (
        random.isalpha()
        or len(_NUMBERS().findall(random)) > 1
        or not all(map(_spelt, _HUMPS().findall(random)))
        or _drawn_letters(random.strip("0123456789"))
        or len(_HUMPS().findall(random)) * _HUMP_MIXED >= len(random)
    )


def hidden_password(value: str) -> bool:
    """Whether a value in the place of a password is one: no variable, no word that stands for it."""
    value = value[:_JUDGED]
    return (
        len(value) >= _PASSWORD
        and (bool(_ODD().search(value)) or (len(value) >= _UNMIXED and _drawn_letters(value)))
        and not placeholder(value)
        and not stands_for_one(value)
        and not _name(value)
    )


def mixed_password(value: str) -> bool:
    """The same for a value without quotes, which in a program is most often a name: three kinds of characters."""
    return hidden_password(value) and _kinds(value[:_JUDGED]) >= _KINDS_LEAST
