"""The words that announce a secret.

Owns: which these are, those that announce a password, what a key is of, and the options of programs that a password
follows.
Must not: judge what follows (`assigned` does), or know which names with such a word are of no secret (`names` does).

All stand in lower-case ASCII; three letters at least, by which they are looked up. Those of other scripts stand in the
text itself, and are looked for where it is not all ASCII.
Tests: tests/hub/domain/redaction/test_assigned.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hub.domain.text.patterns import late

_ABROAD = (
    *(b"contrase", b"senha", b"wachtwoord", b"haslo", b"heslo"),
    *(b"kennwort", b"mot_de_passe", b"mot de passe", b"motdepasse", b"has?o"),
    *(b"passord", b"adgangskode", b"losenord", b"l?senord", b"salasana"),
    *(b"jelsz", b"parol", b"sifre", b"?ifre", b"clave", b"lozinka", b"kata_sandi", b"m?t_kh?u", b"m?t kh?u"),
)
"""A password in Spanish (up to the letter that is not ASCII), Portuguese, Dutch, Polish, Czech, German, French, the four
languages of the North, Hungarian, Italian, Turkish, Croatian, Indonesian and Vietnamese."""
_KEYS_ABROAD = (
    *(b"chave", b"chiave", b"klucz", b"schl?ssel", b"schluessel", b"cl?_api", b"cle_api"),
    *(b"geheim", b"segred", b"segret"),
)
"""A key and a secret likewise."""
OTHER_SCRIPTS = (
    *("пароль", "Пароль", "парола", "токен", "ключ", "секрет", "κωδικ"),
    *("密码", "密碼", "口令", "密钥", "密鑰", "秘钥", "令牌", "パスワード", "トークン", "秘密鍵", "暗証番号"),
    *("비밀번호", "암호", "토큰", "كلمة المرور", "كلمة السر", "סיסמה", "पासवर्ड", "รหัสผ่าน"),
)
"""The same in other scripts; the ASCII view of a text does not show them."""
PASSWORDS = frozenset(
    (
        *(
            b"passw",
            b"passphrase",
            b"pwd",
            b"_pass",
            b"pass",
            b"psk",
            b"_pw",
            b" pw",
            b"_pat",
            b"masterauth",
            b"keymaterial",
            b"securestring",
            b"identified",
            b"bindpw",
            b"rootpw",
        ),
        *_ABROAD,
    )
)
"""Also as PowerShell and SQL write it, and access points."""
LOGINS = (b"auth", b"credential")
"""What a name and a password are given to: `auth=("me", "...")`."""
CALLED = PASSWORDS | {b"token", b"secret", b"key"}
"""What a value follows that a program is called with, or a sentence tells."""
SHORT = (b"pass", b"psk", b" pw", b"_pat")
"""What is a part of many other words, so that it has to stand for itself and an assignment behind it."""
ENDING_IN_PASS = (b"by", b"com", b"tres", b"sur", b"over", b"under", b"encom")
"""What words begin with that end in `pass` and are no password's: `dbpass` is one."""
KEYED = (
    b"jwt",
    b"hmac",
    b"login",
    b"basicauth",
    b"getconnection",
    b"sql.open",
    b"mysqli",
    b"pdo",
    b"securitykey",
    b"fernet",
)
"""What is called with a secret among its arguments: `jwt.sign(claims, "...")`, `server.login("me", "...")`."""
WORDS = (
    *KEYED,
    b"hook",
    *sorted(PASSWORDS),
    *(b"token", b"secret", b"key", b"cookie"),
    *(
        b"auth",
        b"credential",
        b"salt",
        b"bearer",
        b"client_id",
        b"client-id",
        b"access_id",
        b"access-id",
        b"accessid",
        b"app_id",
        b"app-id",
        b"appid",
    ),
    *_KEYS_ABROAD,
)
OPTIONS: Mapping[bytes, tuple[bytes, ...]] = {
    b" -u": (b"curl",),
    b" -su": (b"curl",),
    b"--user": (),
    b"--proxy-user": (b"curl",),
    b" -b": (b"curl",),
    b" -p": (),
    b"<<<": (),
    b" -w": (b"ldap",),
    b" -a": (b"redis-cli", b"valkey-cli", b"http", b"xh "),
    b" -k": (b"openssl enc",),
}
"""Options that a secret follows, and of which programs; `-p` of others too, if a machine made it. `<<<`: what one reads."""
STRONG_KEY = late(
    rb"(?:api|access|secret|private|account|crypt|cryption|signing|sign|licen[sc]e|auth|master|app|client|deploy"
    rb"|shared|service|admin|write|read|cription|consumer|app_?lication|server|project|integration|hmac"
    rb"|session|tls|ssl|hook)[_. -]?\Z"
)
OTHER_KEY = late(rb"[a-z0-9][_-]\Z|[a-z]\Z")
"""What makes a key of something a secret: `api_key`; and what may, if its value looks like one."""
CURL = late(rb"\bcurl\b(?:[^\n]|(?<=\\)\n)*\Z")
PROGRAM = late(
    rb"\b(?:sshpass|mysql[a-z]{0,8}|mongo[a-z]{0,8}|mariadb|(?:docker|podman|nerdctl|registry|az) login"
    rb"|twine|(?:redis|valkey)-cli|ldap[a-z]{0,8}|snowsql|poetry|ipmitool|sqlcmd|7z[a-z]?|(?:un)?zip|openssl|https?(?!:)|xhs?)\b"
    rb"(?:[^\n;|&]|(?<=\\)\n)*\Z"
)
"""A line of these programs, up to its option."""
_NOT_WITHIN = r"(?!(?<=[\u0430-\u044f])[\u0430-\u044f])"
_IN_OTHER_SCRIPTS = late(f"{_NOT_WITHIN}(?:{'|'.join(OTHER_SCRIPTS)}){_NOT_WITHIN}")
"""Those in Cyrillic not as a part of another: `секретарь` and `включено` hold one by chance."""


def in_other_scripts(text: str, view: bytes, lo: int) -> Iterator[tuple[int, int, bytes]]:
    """Where the words of other scripts stand: each as if it announced a password. In the ASCII view each is `??...`."""
    first = view.find(b"??", lo)
    if first >= 0:
        for found in _IN_OTHER_SCRIPTS().finditer(text, first):
            yield found.start(), found.end(), b"passw"
