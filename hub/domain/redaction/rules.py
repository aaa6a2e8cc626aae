"""Secrets that are known by their form: the fail-safe for values nobody told hub.

Owns: the table of the providers' key prefixes and a few structures (JWT, PEM, login in a URL).
Must not: grow into a scanner; unknown secrets in general are the work of a maintained engine (`redaction_engine`).
"""

from __future__ import annotations

import base64

from hub.domain.redaction.rule import ALNUM, UPPER, LetterRun, Rule

_URLSAFE = "A-Za-z0-9_-"


def _key(
    name: str, prefix: str, least: int, most: int = 512, letters: str = _URLSAFE, *, mixed: bool = False
) -> Rule:
    return Rule(name, (prefix, LetterRun(letters, least, most)), mixed=mixed)


_SEPARATOR = LetterRun("\\s\"':=", 1, 8)
_BASE64 = "A-Za-z0-9+/="

_ENTRA = ".~" + _URLSAFE
_ENTRA_HEAD = rf"(?<=[{_ENTRA}]{{3}})(?<![{_ENTRA}]{{4}})(?<!:[0-9a-f]{{8}}\][{_ENTRA}]{{3}})"
"""Three letters stand before the version of a secret of Microsoft Entra; more, and it is part of something else."""

_HEX, _HEX_ANY = "a-f0-9", "A-Fa-f0-9"
_LOGINS = "A-Za-z0-9._~%^#+=!$&*,;()-"

_BROKERED: tuple[Rule, ...] = (
    _key("anthropic", "sk-ant-", 16),
    _key("openai", "sk-proj-", 16),
    _key("openai", "sk-svcacct-", 16),
    _key("openai", "sk-admin-", 16),
    _key("openai", "sess-", 40, 128, ALNUM),
    _key("openrouter", "sk-or-", 16),
    Rule("openai", ("sk-", LetterRun(ALNUM, 32, 128)), boundary=True),  # DeepSeek, DashScope, Moonshot, too
    Rule("google", ("AIza", LetterRun(_URLSAFE, 35, 35)), boundary=True, exact=True, published=True),
    _key("google", "AQ.Ab", 30),
    _key("google", "ya29.", 20, 1024),
    _key("google", "GOCSPX-", 24, 64),
    Rule("google", ("1//0", LetterRun(_URLSAFE, 40, 512)), boundary=True),
    *(_key("github", f"gh{kind}_", 30, 255, ALNUM) for kind in "pousr"),
    _key("github", "github_pat_", 22, 255, ALNUM + "_"),
    Rule(
        "github", ("tid=", LetterRun(_HEX, 32, 32), ";", LetterRun("!-~", 16, 2048))
    ),  # Copilot's session token
    _key("groq", "gsk_", 40, 128, ALNUM),
    _key("xai", "xai-", 60, 128, ALNUM),
    _key("perplexity", "pplx-", 40, 128, ALNUM),
    _key("cerebras", "csk-", 40, 128, ALNUM),
    _key("nvidia", "nvapi-", 40, 128),
    _key("huggingface", "hf_", 30, 64, ALNUM),
    _key("replicate", "r8_", 36, 64, ALNUM),
    *(
        Rule("aws", (prefix, LetterRun(UPPER, 16, 16)), boundary=True, exact=True)
        for prefix in ("AKIA", "ASIA", "ABIA", "ACCA")
    ),
    _key("aws", "ABSK", 80, 256, _BASE64),  # Bedrock, long-lived
    _key("aws", "bedrock-api-key-", 40, 4096, _BASE64),
    _key("aws", "IQoJb3JpZ2luX2Vj", 100, 4096, _BASE64),
    *(
        Rule("aws", (name, _SEPARATOR, LetterRun("A-Za-z0-9/+", 40, 40, secret=True)))
        for name in ("secret_access_key", "SECRET_ACCESS_KEY", "ecretAccessKey")
    ),
)
"""Keys of what hub brokers."""

_SERVICES: tuple[Rule, ...] = (
    *(
        _key("gitlab", f"gl{kind}-", 18, 255)
        for kind in ("pat", "dt", "ft", "imt", "oas", "ptt", "rt", "soat", "agent", "cbt", "ffct")
    ),
    *(
        Rule(
            "slack",
            (f"xox{kind}-", LetterRun("0-9", 9, 16), "-", LetterRun(ALNUM + "-", 16, 255)),
            mixed=True,
        )
        for kind in "abcdeoprs"
    ),
    *(
        _key("slack", prefix, 40, 255, ALNUM + "-", mixed=True)
        for prefix in ("xoxe-1-", "xoxp-1-", "xoxb-1-", "xapp-")
    ),
    *(
        Rule("stripe", (f"{k}k_{mode}_", LetterRun(ALNUM, 20, 255)), boundary=True)
        for k in "sr"
        for mode in ("live", "test", "prod")
    ),
    _key("npm", "npm_", 36, 64, ALNUM),
    _key("pypi", "pypi-AgE", 50, 1024),
    _key("digitalocean", "dop_v1_", 64, 64, _HEX),
    _key("digitalocean", "doo_v1_", 64, 64, _HEX),
    _key("digitalocean", "dor_v1_", 64, 64, _HEX),
    _key("docker", "dckr_pat_", 20, 64),
    _key("shopify", "shpat_", 32, 32, "A-Fa-f0-9"),
    _key("hashicorp", "hvs.", 24, 256),
    _key("hashicorp", "hvb.", 24, 512),
    _key("linear", "lin_api_", 32, 64, ALNUM),
    _key("notion", "ntn_", 40, 64, ALNUM),
    _key("atlassian", "ATATT3", 60, 512, "=" + _URLSAFE),
    _key("sentry", "sntrys_eyJ", 40, 512, _BASE64 + "_"),
    _key("supabase", "sbp_", 40, 64, _HEX),
    _key("planetscale", "pscale_", 32, 128, "=." + _URLSAFE),
    *(
        _key(name, prefix, least, 512, letters)
        for name, prefix, least, letters in (
            ("apify", "apify_api_", 30, ALNUM),
            ("brevo", "xkeysib-", 64, _URLSAFE),
            ("contentful", "CFPAT-", 40, _URLSAFE),
            ("doppler", "dp.pt.", 40, ALNUM),
            ("doppler", "dp.st.", 40, "." + _URLSAFE),
            ("figma", "figd_", 36, _URLSAFE),
            ("flutterwave", "FLWSECK_TEST-", 12, ALNUM + "-"),
            ("flutterwave", "FLWSECK-", 12, ALNUM + "-"),
            ("grafana", "glsa_", 32, ALNUM + "_"),
            ("grafana", "glc_eyJ", 32, _BASE64),
            ("hubspot", "pat-na1-", 32, "a-f0-9-"),
            ("hubspot", "pat-eu1-", 32, "a-f0-9-"),
            ("langchain", "lsv2_pt_", 32, ALNUM + "_"),
            ("langchain", "lsv2_sk_", 32, ALNUM + "_"),
            ("langfuse", "sk-lf-", 30, "a-f0-9-"),
            ("newrelic", "NRAK-", 27, ALNUM),
            ("paseto", "v2.local.", 60, _URLSAFE),
            ("paseto", "v4.local.", 60, _URLSAFE),
            ("pinecone", "pcsk_", 40, ALNUM + "_"),
            ("postman", "PMAK-", 40, "a-f0-9-"),
            ("rubygems", "rubygems_", 40, _HEX),
            ("shopify", "shpss_", 32, ALNUM),
            ("shopify", "shpca_", 32, ALNUM),
            ("shopify", "shppa_", 32, ALNUM),
            *(("sonar", f"sq{kind}_", 40, _HEX) for kind in "apu"),
            ("square", "sq0csp-", 40, _URLSAFE),
            ("square", "sq0atp-", 22, _URLSAFE),
            ("tailscale", "tskey-auth-", 20, ALNUM + "-"),
            ("tailscale", "tskey-api-", 20, ALNUM + "-"),
            ("typeform", "tfp_", 40, "." + _URLSAFE),
            ("webhook", "whsec_", 24, _BASE64),
        )
    ),
    *(
        Rule(name, (prefix, LetterRun(letters, most, most)), boundary=True, exact=True, mixed=True)
        for name, prefix, most, letters in (
            ("alibaba", "LTAI", 20, ALNUM),
            ("databricks", "dapi", 32, _HEX),
            ("notion", "secret_", 43, ALNUM),
            ("tencent", "AKID", 32, ALNUM),
            ("sourcegraph", "sgp_", 40, _HEX_ANY),
            ("easypost", "EZAK", 54, ALNUM),
            ("easypost", "EZTK", 54, ALNUM),
            ("openshift", "sha256~", 43, _URLSAFE),
        )
    ),
    Rule("facebook", ("EAA", LetterRun(ALNUM, 100, 512)), boundary=True),
    *(
        Rule("azure", (f"{version}Q~", LetterRun(_ENTRA, 31, 34)), exact=True, before=_ENTRA_HEAD)
        for version in range(10)
    ),
    Rule("azure", ("sig=", LetterRun(_BASE64 + "%_-", 43, 128, secret=True)), boundary=True, mixed=True),
    Rule("sendgrid", ("SG.", LetterRun(_URLSAFE, 16, 64), ".", LetterRun(_URLSAFE, 16, 128))),
    Rule(
        "telegram",
        ("api.telegram.org/bot", LetterRun("0-9", 6, 16), ":", LetterRun(_URLSAFE, 30, 64, secret=True)),
    ),
    Rule(
        "sourcegraph",
        ("sgp_", LetterRun(_HEX_ANY, 16, 16), "_", LetterRun(_HEX_ANY, 40, 40)),
        boundary=True,
        exact=True,
    ),
    Rule("sourcegraph", ("sgp_local_", LetterRun(_HEX_ANY, 40, 40)), boundary=True, exact=True),
    *(
        Rule("fly", (f"fm{kind}_", LetterRun(_BASE64 + ",", 80, 1024)), boundary=True)
        for kind in ("1r", "1a", "2")
    ),
    _key("fly", "fo1_", 40, 64, mixed=True),
    Rule("age", ("AGE-SECRET-KEY-1", LetterRun(UPPER, 40, 58))),
)
"""Keys of other services, as far as they are common; a detection engine knows hundreds."""

_STRUCTURES: tuple[Rule, ...] = (
    Rule(
        "jwt",
        (
            "eyJ",
            LetterRun(_URLSAFE, 8, 512),
            ".eyJ",
            LetterRun(_URLSAFE, 8, 8192),
            ".",
            LetterRun(_URLSAFE, 8, 2048),
        ),
    ),
    Rule("jwt", ("ZXlK", LetterRun(_BASE64 + "_-", 80, 16_384)), boundary=True),  # in base64 once more
    *(Rule("bearer", (f"{b}earer ", LetterRun("A-Za-z0-9._~+/=-", 20, 4096, secret=True))) for b in "Bb"),
    *(
        Rule(
            "basic-auth", ("uthorization", _SEPARATOR, f"{b}asic ", LetterRun(_BASE64, 8, 1024, secret=True))
        )
        for b in "Bb"
    ),
    *(
        Rule("session", (name, LetterRun(letters, 26, 4096, secret=True)), mixed=True)
        for name, letters in (("_session=", ALNUM + "%"), ("JSESSIONID=", "0-9A-F"), ("PHPSESSID=", "a-z0-9"))
    ),
    Rule("signed-url", ("Signature=", LetterRun(_BASE64 + "%_~-", 24, 1024, secret=True)), mixed=True),
    *(
        Rule("password-hash", (f"$2{kind}$", LetterRun("0-9", 2, 2), "$", LetterRun("A-Za-z0-9./", 53, 53)))
        for kind in "aby"
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
    Rule("password-hash", ("{SSHA", LetterRun("0-9", 0, 3), "}", LetterRun(_BASE64, 28, 256))),
    Rule("docker", ("eyJhdXRocyI6", LetterRun(_BASE64, 40, 32_768)), boundary=True),  # `{"auths":`
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
    Rule("digest", ('response="', LetterRun(_HEX, 32, 64, secret=True)), boundary=True, mixed=True),
    *(Rule("wallet", (f"{version}prv", LetterRun(ALNUM, 107, 107)), boundary=True) for version in "xyz"),
    Rule("wallet", ("nsec1", LetterRun("a-z0-9", 58, 58)), boundary=True, exact=True),
    Rule(
        "jwk",
        ('"oct"', LetterRun(", \\n", 1, 8), '"k"', _SEPARATOR, LetterRun(_URLSAFE, 22, 1024, secret=True)),
        mixed=True,
    ),
    Rule("jwk", ('"d"', _SEPARATOR, LetterRun(_URLSAFE, 43, 1024, secret=True)), mixed=True),
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
                LetterRun(_BASE64 + "\\s\\\\:,.-", 16, 32_768, secret=True, stop="-----"),
            ),
        )
        for end in ("PRIVATE KEY-----", "PRIVATE KEY BLOCK-----")
    ),
    *(
        _key(
            "private-key", base64.b64encode(f"-----BEGIN {kind}".encode()).decode()[:20], 40, 32_768, _BASE64
        )
        for kind in ("PRIVATE", "RSA PRIVATE", "EC PRIVATE", "DSA PRIVATE", "OPENSSH", "ENCRYPTED")
    ),
    Rule(
        "private-key",
        (
            "Private-Lines: ",
            LetterRun("0-9", 1, 4),
            LetterRun("\\s", 1, 2),
            LetterRun(_BASE64 + "\\s", 32, 32_768, secret=True),
        ),
    ),
)
"""What is a secret by its structure, whoever made it."""

RULES: tuple[Rule, ...] = (*_BROKERED, *_SERVICES, *_STRUCTURES)
"""Of rules that match at the same place the first gives its name."""
