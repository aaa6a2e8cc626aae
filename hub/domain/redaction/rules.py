"""Secrets that are known by their form: the fail-safe for values nobody told hub.

Owns: the table of the providers' key prefixes and a few structures (JWT, PEM, login in a URL); those of other services are
`services`.
Must not: grow into a scanner; unknown secrets in general are the work of a maintained engine (`redaction_engine`).
"""

from __future__ import annotations

import base64

from hub.domain.redaction.rule import ALNUM, BASE64, HEX, UPPER, URLSAFE, KeyLines, LetterRun, Rule, key
from hub.domain.redaction.services import SERVICES

_SEPARATOR = LetterRun("\\s\"':=", 1, 8)

_LINES = "\\s\\\\:,.-"
"""What stands between the lines of a private key, and in the headers before them."""

_LOGINS = "A-Za-z0-9._~%^#+=!$&*,;()-"

_AWS_IDS = ("AKIA", "ASIA", "ABIA", "ACCA")

_CRYPTS = (
    *("2a", "2b", "2y", "y", "gy", "7", "argon2i", "argon2d", "argon2id", "scrypt"),
    *("pbkdf2", "pbkdf2-sha256", "pbkdf2-sha512"),
)
"""The ways of hashing a password, as `$way$how$salt$hash` names them; older ones, `$1$salt$hash`, are told more narrowly,
or what a search puts in (`s/.../$1$.../`) were one."""

_BROKERED: tuple[Rule, ...] = (
    key("anthropic", "sk-ant-", 16),
    key("openai", "sk-proj-", 16),
    key("openai", "sk-svcacct-", 16),
    key("openai", "sk-admin-", 16),
    key("openai", "sess-", 40, 128, ALNUM),
    key("openrouter", "sk-or-", 16),
    Rule("openai", ("sk-", LetterRun(ALNUM, 32, 128)), boundary=True),  # DeepSeek, DashScope, Moonshot, too
    Rule("google", ("AIza", LetterRun(URLSAFE, 35, 35)), boundary=True, exact=True, published=True),
    key("google", "AQ.Ab", 30),
    key("google", "ya29.", 20, 1024),
    key("google", "GOCSPX-", 24, 64),
    Rule("google", ("1//0", LetterRun(URLSAFE, 40, 512)), boundary=True),
    *(key("github", f"gh{kind}_", 30, 255, ALNUM) for kind in "pousr"),
    key("github", "github_pat_", 22, 255, ALNUM + "_"),
    Rule(
        "github", ("tid=", LetterRun(HEX, 32, 32), ";", LetterRun("!-~", 16, 2048))
    ),  # Copilot's session token
    key("groq", "gsk_", 40, 128, ALNUM),
    key("xai", "xai-", 60, 128, ALNUM),
    key("perplexity", "pplx-", 40, 128, ALNUM),
    key("cerebras", "csk-", 40, 128, ALNUM),
    key("nvidia", "nvapi-", 40, 128),
    key("huggingface", "hf_", 30, 64, ALNUM),
    key("replicate", "r8_", 36, 64, ALNUM),
    *(Rule("aws", (prefix, LetterRun(UPPER, 16, 16)), boundary=True, exact=True) for prefix in _AWS_IDS),
    *(
        Rule(  # the secret beside its id: in a table, `id,secret`, `id:secret`
            "aws",
            (
                prefix,
                LetterRun(UPPER, 16, 16),
                LetterRun("\\s\"',;:|", 1, 16),
                LetterRun("A-Za-z0-9/+", 40, 40, secret=True),
            ),
            boundary=True,
            exact=True,
            mixed=True,
        )
        for prefix in _AWS_IDS
    ),
    key("aws", "ABSK", 80, 256, BASE64),  # Bedrock, long-lived
    key("aws", "bedrock-api-key-", 40, 4096, BASE64),
    key("aws", "IQoJb3JpZ2luX2Vj", 100, 4096, BASE64),
    *(
        Rule("aws", (name, _SEPARATOR, LetterRun("A-Za-z0-9/+", 40, 40, secret=True)))
        for name in ("secret_access_key", "SECRET_ACCESS_KEY", "ecretAccessKey")
    ),
)
"""Keys of what hub brokers."""

_KEYS = ("PRIVATE KEY-----", "PRIVATE KEY BLOCK-----")

_STRUCTURES: tuple[Rule, ...] = (
    Rule(
        "jwt",
        (
            "eyJ",
            LetterRun(URLSAFE, 8, 512),
            ".eyJ",
            LetterRun(URLSAFE, 8, 8192),
            ".",
            LetterRun(URLSAFE, 8, 2048),
        ),
    ),
    Rule("jwt", ("ZXlK", LetterRun(BASE64 + "_-", 80, 16_384)), boundary=True),  # in base64 once more
    *(Rule("bearer", (f"{b}earer ", LetterRun("A-Za-z0-9._~+/=-", 20, 4096, secret=True))) for b in "Bb"),
    *(
        Rule("basic-auth", ("uthorization", _SEPARATOR, f"{b}asic ", LetterRun(BASE64, 8, 1024, secret=True)))
        for b in "Bb"
    ),
    *(
        Rule("session", (name, LetterRun(letters, 26, 4096, secret=True)), mixed=True)
        for name, letters in (("_session=", ALNUM + "%"), ("JSESSIONID=", "0-9A-F"), ("PHPSESSID=", "a-z0-9"))
    ),
    Rule("signed-url", ("Signature=", LetterRun(BASE64 + "%_~-", 24, 1024, secret=True)), mixed=True),
    *(
        Rule(
            "password-hash",
            (
                head,
                LetterRun("A-Za-z0-9./=,:", 1, 64),
                "$",
                LetterRun("A-Za-z0-9./=,+$", 22, 512),
            ),
            mixed=True,
        )
        for head in (
            *(f"${kind}$" for kind in _CRYPTS),
            *("$5$rounds=", "$6$rounds=", "pbkdf2_sha", "pbkdf2:sha", "scrypt:"),
        )
    ),
    *(
        Rule(
            "password-hash",
            (f"${kind}$", LetterRun("A-Za-z0-9./", 1, 16), "$", LetterRun("A-Za-z0-9./", 22, 86)),
        )
        for kind in ("1", "5", "6", "apr1")
    ),
    *(
        Rule(
            "pgpass",
            (
                port,
                LetterRun("A-Za-z0-9_*.-", 1, 64),
                ":",
                LetterRun("A-Za-z0-9_.-", 1, 64),
                ":",
                LetterRun(_LOGINS, 6, 256, secret=True),
            ),
            chosen=True,
        )
        for port in (":5432:", "*:*:")
    ),
    *(
        Rule(
            "oracle-login",
            (begin, LetterRun("A-Za-z0-9_", 1, 64), "/", LetterRun(_LOGINS, 6, 256, secret=True), "@"),
            chosen=True,
        )
        for begin in ("jdbc:oracle:thin:", "sqlplus ")
    ),
    *(
        Rule("password-hash", (head, LetterRun("0-9", 0, 3), "}", LetterRun(BASE64, 28, 256)))
        for head in ("{SSHA", "{SHA")
    ),
    Rule("docker", ("eyJhdXRocyI6", LetterRun(BASE64, 40, 32_768)), boundary=True),  # `{"auths":`
    *(
        Rule(
            "standard-input",
            (
                "echo ",
                LetterRun("\"'", 0, 1),
                LetterRun(_LOGINS + "/", 12, 512, secret=True),
                LetterRun("\"' ", 1, 3),
                "| ",
                LetterRun("A-Za-z0-9 ._/:@-", 1, 160, stop=end),
                end,
            ),
            mixed=True,
        )
        for end in ("-stdin", " -S")
    ),
    Rule("masked", ("::add-mask::", LetterRun(_LOGINS + "/:@", 6, 512, secret=True)), chosen=True),
    Rule(
        "login",
        (
            "echo ",
            LetterRun("\"'", 0, 1),
            LetterRun("A-Za-z0-9_-", 1, 32),
            ":",
            LetterRun(_LOGINS + "/", 6, 256, secret=True),
            LetterRun("\"' ", 1, 3),
            "| ",
            LetterRun("A-Za-z0-9 ./-", 0, 40, stop="chpasswd"),
            "chpasswd",
        ),
        chosen=True,
    ),
    Rule("digest", ('response="', LetterRun(HEX, 32, 64, secret=True)), boundary=True, mixed=True),
    *(Rule("wallet", (f"{version}prv", LetterRun(ALNUM, 107, 107)), boundary=True) for version in "xyz"),
    Rule("wallet", ("nsec1", LetterRun("a-z0-9", 58, 58)), boundary=True, exact=True),
    Rule(
        "jwk",
        ('"oct"', LetterRun(", \\n", 1, 8), '"k"', _SEPARATOR, LetterRun(URLSAFE, 22, 1024, secret=True)),
        mixed=True,
    ),
    Rule("jwk", ('"d"', _SEPARATOR, LetterRun(URLSAFE, 43, 1024, secret=True)), mixed=True),
    Rule(
        "oauth-code",
        ("code=", LetterRun("A-Za-z0-9._~%/-", 24, 1024, secret=True)),
        boundary=True,
        mixed=True,
    ),
    Rule(
        "url-login",
        ("://", LetterRun("A-Za-z0-9._~%+=,-", 0, 128), ":", LetterRun(_LOGINS, 6, 256, secret=True), "@"),
        chosen=True,
    ),
    Rule("url-login", ("://", LetterRun("A-Za-z0-9._~%-", 20, 255, secret=True), "@"), mixed=True),
    Rule(
        "url-login",
        ("://", LetterRun("A-Za-z0-9._~%-", 20, 255, secret=True), ":", LetterRun(_LOGINS, 0, 256), "@"),
        mixed=True,
    ),
    *(
        Rule(
            "private-key",
            (
                "-----BEGIN ",
                LetterRun("A-Z0-9 ", 0, 32, stop=end),
                end,
                LetterRun(BASE64 + _LINES, 16, 32_768, secret=True, stop="-----"),
            ),
        )
        for end in _KEYS
    ),
    *(
        Rule(
            "private-key",
            (
                "-----BEGIN ",
                LetterRun("A-Z0-9 ", 0, 32, stop=end),
                end,
                KeyLines(f"[{BASE64}%]{{40,128}}+", 512, stop="-----"),
            ),
        )
        for end in _KEYS
    ),
    *(
        key("private-key", base64.b64encode(f"-----BEGIN {kind}".encode()).decode()[:20], 40, 32_768, BASE64)
        for kind in ("PRIVATE", "RSA PRIVATE", "EC PRIVATE", "DSA PRIVATE", "OPENSSH", "ENCRYPTED")
    ),
    *(  # a database's address in base64, as in a Secret
        Rule("url-login", (base64.b64encode(scheme).decode(), LetterRun(BASE64, 28, 4096)), boundary=True)
        for scheme in (
            b"postgres:",
            b"postgresql:/",
            b"mysql:",
            b"mongodb:/",
            b"mongodb+srv:",
            b"redis:",
            b"rediss://",
        )
    ),
    Rule(
        "private-key",
        (
            "Private-Lines: ",
            LetterRun("0-9", 1, 4),
            LetterRun("\\s", 1, 2),
            LetterRun(BASE64 + "\\s", 32, 32_768, secret=True),
        ),
    ),
)
"""What is a secret by its structure, whoever made it."""

RULES: tuple[Rule, ...] = (*_BROKERED, *SERVICES, *_STRUCTURES)
"""Of rules that match at the same place the first gives its name."""
