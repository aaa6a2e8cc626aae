"""What the name in front of a value says about it: names whose values are no secrets.

Owns: the names that hold a word of secrets but no secret: public keys, ids, places, times, words of other meaning.
Must not: judge a value, or find a name.

A name is read in the lower-case ASCII view of the text, up to its end: all patterns end there.
Tests: tests/hub/domain/redaction/test_assigned.py
"""

from __future__ import annotations

from hub.domain.redaction.words import ENDING_IN_PASS
from hub.domain.text.patterns import late

_FAR = 32
_GOES_ON = frozenset((b"(", b"[", b"{", b"$"))
"""Behind a value without quotes: it is called, indexed or put together."""
_NEXT = late(r"[A-Za-z_$][\w$]*[:.=]")
"""What follows a comma in a list of a program: `{token:e,key:n.a5}`."""
_IDENTIFIED = late(rb":[ ]+(?:user|account|tenant|group|project|device|request|job|task)[ ]+\Z")
_ID = late("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What a line of a log tells by its id: `auth: user 6974fd13-... logged in`."""

_MEANT_FOR_NONE = (
    rb"(?:non_?matching|not_?a|in_?valid|wrong|fake|dummy|mock|example|sample|authenticity|request_?verification|[cx]srf)"
    rb"[a-z0-9_-]*+\Z"
)
_PUBLIC_KEYS = (
    rb"(?:public|publishable|pub|recv|primary|foreign|cache|cursor|partition|sort|row|idempotency|object|dedup[a-z]*|(?<!bit)bucket"
    rb"|hot|natural|schema|sequence|idx|index|hash|restore|shard|surrogate|websocket|lookup|i18n|translation|site)[_.-]?keys?(?:[_.-]?(?:token|pem|jwk|base64|hex))?\Z"
)
_PLACES_IN_A_LIST = (
    rb"(?:next|prev(?:ious)?|start|pagination|continuation|(?<![a-z])(?:page|sync|resume|cancel(?:lation)?))[_-]?"
    rb"(?:page[_-]?|sync[_-]?)?token\Z"
    rb"|public[_.-]?token\Z"
)
_IDS_OF_SECRETS = rb"(?:auth[_.-]ids?|(?:key|token|credential)s?[_.-]?(?:ids?|hash|digest|checksum|ref))\Z|\busersecretsid\Z"
_ABOUT_SECRETS = (
    rb"(?:key|token|secret|password|credential|auth)s?[_.-]?(?:(?:file_?)?names?|paths?|files?|ur[il]s?|endpoint|types?"
    rb"|arn|fingerprint|thumbprint|count|size|length|ttl|expir[a-z_]*|latency[a-z_]*|time|source|address|alias"
    rb"|md5|sha[0-9]{1,3}(?:sum)?)\Z"
    rb"|version\Z"
)
_REST = rb"(?>(?:(?!token|secret|passw|key)[a-z0-9_-])*)\Z"
_OTHER_WORDS = (
    rb"(?:author(?!i[sz])|(?:mon|tur|don|hoc|joc|whis|mic)key|(?:(?<!tok)en|con|auto)clave|clavecin)"
    + _REST
    + rb"|tokeni[sz]ers?[a-z0-9_-]*+\Z"
    rb"|authentication-results\Z|\b(?:withcredentials|auth0)\Z"
)
"""A writer, a mail's origin, a cutter of text, a choice, animals, people and drinks, and what is locked: each holds a
word by chance. Not where another follows: `monkey_token`."""
_PUBLIC_METHOD = rb"\bdid:key\Z"
"""The key of such an id (`did:key:z6Mk...`) is the public one."""
_HASHED = rb"(?:md5|sha[0-9]{1,3}|hash|digest)[a-z0-9_]*\([bru]?[\"'][a-z0-9_ -]*+\Z"
"""What a program makes a digest of: `md5('password')`."""
_A_KIND = rb"type=secret\Z"
"""`--mount=type=secret,id=...`: the word is a value."""
_NO_SECRET = late(
    b"|".join(
        (
            _MEANT_FOR_NONE,
            _PUBLIC_KEYS,
            _PLACES_IN_A_LIST,
            _IDS_OF_SECRETS,
            _ABOUT_SECRETS,
            _OTHER_WORDS,
            _A_KIND,
            _PUBLIC_METHOD,
            _HASHED,
        )
    )
)


def names_no_secret(view: bytes, low: int, end: int) -> bool:
    """Whether the name that ends at `end` says that its value is none, none worth anything, or what all may see.

    Args:
        view: The text in lower-case ASCII.
        low: How far back the name may be read.
        end: Behind the last letter of the name.
    """
    return _NO_SECRET().search(view, low, end) is not None


def names_another(value: str, before: bytes, behind: bytes) -> bool:
    """Whether a value without quotes is itself a name: of what YAML has below it, in a program, or in a log.

    Args:
        value: The value.
        before: What stands between it and its own name.
        behind: The letter behind it.
    """
    below = value.endswith(":") and value[:-1].isalpha()
    listed = before.endswith(b",") and _NEXT().match(value) is not None
    told = _ID().match(value) is not None and _IDENTIFIED().search(before) is not None
    return below or behind in _GOES_ON or listed or told


def within_another(view: bytes, at: int, end: int) -> bool:
    """Whether the word is a part of another: `bypass`, `passed`; `dbpass` is none."""
    behind = view[end : end + 1]
    return behind.isalnum() or behind in (b"_", b"-") or view[max(0, at - _FAR) : at].endswith(ENDING_IN_PASS)
