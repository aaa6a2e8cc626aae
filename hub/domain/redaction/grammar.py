"""The grammar of what announces a secret: what may stand between a word and its value, as patterns.

Owns: the parts of each way in which people and programs write a name and its value, and how a beginning of it is written.
Must not: know a word (`words` does), or judge a value (`value` does).

Every run is possessive and of a class that the part behind it does not begin with: nothing backtracks, and what a stream
must hold back follows from the same parts (`beginning`).
Tests: tests/hub/domain/redaction/test_assigned.py
"""

from __future__ import annotations

import re

SPACE = "\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""What is white, within brackets: written out, a run of all else is read five times as fast."""
TAIL = r"[\w.-]{0,40}+"
CLOSE = r"[\"'`)\]\\ \t*]{0,24}+"
NAMED_BEFORE = (
    r"[<]{1,1}+[/]{1,1}+(?:[a-z]{1,8}+[-]{1,1}+)?[KNadehkmnty]{2,4}+[>]{1,1}+"
    r"\s{0,24}+[<]{1,1}+[\w:-]{1,24}+[>]{1,1}+"
)
"""`<key>API_SECRET</key><string>...`, `<param-name>password</param-name><param-value>...`, `<td>token</td><td>...`."""
_NO_SIGN = r"[?][^=:]|[.](?:[^=\w]|\w{1,24}+(?![(]|\Z))"
"""A question mark and a dot alone assign nothing, but that of a call: `password.equals("...")`."""
ASSIGN = f"(?:(?!{_NO_SIGN})[=:>,.?|!{{]{{1,5}}+|[<]{{1,1}}+[-]{{1,2}}+|[or]{{2,2}}+|{NAMED_BEFORE})"
OPEN = r"[\s(\[{*]{0,24}+"
"""What may stand behind the sign, the stars of a bold name too: `**Password:** ...`."""
TYPE = (
    r"(?:[\s:,\"'{]{1,16}+(?:[Aas]{2,2}+[ ]{1,2}+)?[A-Za-z&*<>?\[]{1,24}+(?!:\w)"
    r"|[ ]{1,2}+[{]{1,1}+[a-z; ]{4,24}+[}]{1,1}+"
    r"|[ #]{1,2}+[0-9]{1,3}+)?"
)
"""What may stand between a name and its value's sign: `token string =`, `token As String =`, `token: Final[str] =`,
`name: TOKEN, value:`, `Token { get; } =`, `Unseal Key 1:`."""
BLOCK = (
    r"(?:[>|]{1,1}+[+-]{0,1}+[ \t]{0,4}+[\r\n]{1,2}+\s{0,24}+|[<]{1,1}+[!\[CDAT]{8,8}+\s{0,24}+"
    r"|(?<=[\"']>)[<]{1,1}+[A-Za-z]{1,12}+[>]{1,1}+|(?<=\s)[-]{1,1}+[ ]{1,2}+)?"
)
"""A value on lines of its own: `token: >-` of YAML and the first of a list's, `<![CDATA[` of XML, `name="token"><value>`."""
SCHEME = (
    r"(?:[\"'`]?[A-Za-z!-]{2,16}+\\{0,2}+[ ]{1,3}+"
    r"|[A-Za-z_.:\[\]]{1,32}+[(]{1,1}+(?:[0-9]{1,5}+[)]{1,1}+[ ]{1,2}+)?)?"
)
"""What a header puts before its secret, YAML before a value, and a program around one: `Authorization: Token ...`,
`token: !!str ...`, `String::from("...")`, `string(14) "..."`."""
BARE = r"[A-Za-z0-9_./+=~@%#^&*!?:|$-]"
PARTS = (TAIL, TYPE, CLOSE, ASSIGN, OPEN, BLOCK, SCHEME)
LITERAL = r"[@#LuUbBrRfFN]{0,2}+(?:[\"'`](?=\\))?\\{0,7}+"
"""What stands before a quote: `L"..."`, `@"..."`, `b"..."`, `N'...'`, `r#"..."#`, `\\"...\\"`, `"\\"...\\""`."""
PERL = "(?:%{0,1}+q{1,2}+[({|]{1,1}+)?"
"""`q{...}`, `%q(...)`."""
VALUE = rf"(?:{LITERAL}[\"'`]{{1,3}}+(?P<quoted>[^{SPACE}\"'`\\]{{6,512}}+)|{PERL}(?P<bare>{BARE}{{6,512}}+))"
VALUE_BEGINS = (
    rf"(?:{LITERAL}(?:[\"'`]{{1,3}}+[^{SPACE}\"'`\\]{{0,512}}+)?\Z|%?q{{0,2}}[({{|]?{BARE}{{0,512}}+\Z)"
)
LOGIN = r"[ =]{0,4}+"


def beginning(parts: tuple[str, ...], value: str) -> str:
    """The pattern of what reaches the end of the text and may become these parts and a value."""
    for part in reversed(parts):
        cut = re.sub(r"\{\d+,(\d+)\}", r"{0,\1}", part)
        value = rf"(?:{cut}\Z|{part}{value})"
    return value


SIGNS = sum(map(int, re.findall(r"\{\d+,(\d+)\}", "".join(PARTS))))
"""No more stands between a name and its value."""
FULL, BEGINS = "".join(PARTS) + VALUE, beginning(PARTS, VALUE_BEGINS)
_ATTRIBUTE = r"\s{1,8}+[\w:.-]{1,40}+[=]{1,1}+[\"']{1,1}+[^\"'<>]{0,80}+[\"']{1,1}+"
ELEMENT = (
    TAIL,
    "[\"']{0,1}+",
    _ATTRIBUTE,
    f"(?:{_ATTRIBUTE})?",
    r"\s{0,4}+",
    "[>]{1,1}+",
    r"\s{0,24}+(?:[<]{1,1}+[\w:-]{1,24}+[>]{1,1}+)?",
)
ELEMENTS, ELEMENT_BEGINS = "".join(ELEMENT) + VALUE, beginning(ELEMENT, VALUE_BEGINS)
"""`<password type="text">...`, `<setting name="token" kind="text"><value>...`."""
DEFAULT = (
    TAIL,
    "[\"']{1,1}+[ ]{0,4}+[{]{1,1}+",
    r"(?>(?:(?!default)[^{}]){0,400})",
    "[default]{7,7}+",
    r"[ \t]{0,24}+[=]{1,1}+[ ]{0,4}+",
)
DEFAULTS, DEFAULT_BEGINS = "".join(DEFAULT) + VALUE, beginning(DEFAULT, VALUE_BEGINS)
"""`variable "api_token" { type = string, default = "..." }`."""
GAP = "[ ]{1,4}+"
OPTION, OPTION_BEGINS = TAIL + GAP + VALUE, beginning((TAIL, GAP), VALUE_BEGINS)
USER, USER_BEGINS = LOGIN + r"(\S{1,256}+)", beginning((LOGIN,), r"\S{0,256}+\Z")
SAYS = (TAIL, r"[ \t(-]{1,4}+", "(?:[aeistw]{2,3}+[ ]{1,4}+)?(?:[to]{2,2}+[ ]{1,4}+)?")
"""`password was ...`, `password set to ...`, `setPassword("...")`, `with token ...`."""
SAID, SAID_BEGINS = "".join(SAYS) + VALUE, beginning(SAYS, VALUE_BEGINS)
_OF_A_SENTENCE = "[A-Za-z@().'-]{1,24}+"
PROSE = (
    TAIL,
    r"[ \t]{1,1}+",
    *(f"(?:{_OF_A_SENTENCE}[ ]{{1,2}}+)?",) * 6,
    rf"(?:{_OF_A_SENTENCE}[:]{{1,1}}+\s{{1,4}}+)?",
)
PROSED, PROSED_BEGINS = "".join(PROSE) + VALUE, beginning(PROSE, VALUE_BEGINS)
"""`A temporary password is generated for root@localhost: ...`."""
CALL = (r"[\w.]{0,24}+", "[(]{1,1}+")
ARGUMENTS, ARGUMENTS_BEGIN = "".join(CALL) + r"([^\r\n]{0,256}+)", beginning(CALL, r"[^\r\n]{0,256}+\Z")
_PATH = r"[\w./?=&@%:~-]"
HOOK = (r"[\w.]{0,24}+", "[/]{1,1}+", r"(?>(?:[\w.@%:~-]{1,13}+[/?=&]{1,2}+){0,8})")
HOOKS, HOOKS_BEGIN = (
    "".join(HOOK) + rf"(?=[\w.@%:~-]{{14}})({_PATH}{{14,512}}+)",
    beginning(HOOK, rf"{_PATH}{{0,512}}+\Z"),
)
"""`https://hooks.slack.com/services/...`, `/api/webhooks/...`, `/webhook/send?key=...`."""
ALONE = (CLOSE, "[:=]{1,2}+", OPEN)
PASS, PASS_BEGINS = "".join(ALONE) + VALUE, beginning(ALONE, VALUE_BEGINS)
WHO = (TAIL, "[=( ]{1,3}+", "[\"']{1,1}+", r"[^\"'\s]{1,64}+", "[\"']{1,1}+", "[, ]{1,3}+")
PAIRED, PAIRED_BEGINS = "".join(WHO) + VALUE, beginning(WHO, VALUE_BEGINS)
"""`auth=("me", "...")`."""
PAIRS_SIGN = (
    r"[\"'` \t]{0,3}+",
    r"(?:[,]{1,1}+\s{0,24}+[\"']{1,1}+[aeluv]{5,5}+[\"']{1,1}+)?",
    "[:=]{0,2}+",
    r"[\"'` \t\\]{0,4}+",
)
PAIR_SET = rf"[A-Za-z0-9_.-]{{1,64}}+=[^{SPACE};\"'`\\,]{{0,4096}}+"
PAIRS = rf"({PAIR_SET}(?>(?:;[ ]{{0,2}}+{PAIR_SET}){{0,63}}))"
PASSWORD, PASSWORD_BEGINS = LOGIN + r"(?![<>{}\[\]]{3})(\S{1,256}+)", USER_BEGINS
"""No password begins with three brackets: so a text full of `<<<` is read fast."""
COOKIES = "".join(PAIRS_SIGN) + PAIRS
PAIRS_BEGIN = r"[^\r\n\"'`\\,]{0,65536}+\Z"
COOKIES_BEGIN = beginning(PAIRS_SIGN, PAIRS_BEGIN)
_JAR = r"[ =\"']{1,4}+"
JARRED, JARRED_BEGINS = _JAR + PAIRS, beginning((_JAR,), PAIRS_BEGIN)
"""`-b "name=value"`."""
