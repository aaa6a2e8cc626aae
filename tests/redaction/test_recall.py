"""What is found of secrets that nobody told hub, and what is left alone; with the engine and without."""

from __future__ import annotations

import itertools
import random
import re

import pytest

from hub.domain.redaction.redactor import Redactor
from hub.domain.text.safe import clean
from tests.redaction.made import (
    ALNUM,
    BROKERED,
    COMMON,
    HEX,
    NAMED,
    WITHOUT,
    form,
    pem,
    told,
    written,
)

EACH = 12
MARK = re.compile(r"\[REDACTED:[a-z0-9-]{1,32}:[0-9a-f]{8}\]")


def residue(out: str, secret: str) -> bool:
    """Whether eight characters in a row of the secret are left."""
    bare = MARK.sub("\0", out)
    return any(secret[i : i + 8] in bare for i in range(len(secret) - 7))


@pytest.mark.parametrize("kind", [*BROKERED, *COMMON])
def test_every_key_of_a_brokered_provider_and_of_common_services_is_found_wherever_it_stands(kind, redactor):
    """Security R1 b: provider keys first; all of them."""
    rng = random.Random(kind)
    for _ in range(EACH):
        value = {**BROKERED, **COMMON}[kind](rng)
        name = f"{kind.replace('-', '_').upper()}_API_KEY"
        for text in (*told(value), *(written(name, value) if kind in BROKERED else ())):
            assert not residue(redactor.text(text), value), text


@pytest.mark.parametrize("kind", NAMED)
def test_a_value_without_a_form_is_found_by_its_name(kind, redactor):
    """Security R1 c: a word that announces a secret, and a value no person writes."""
    name, draw = NAMED[kind]
    rng = random.Random(kind)
    shown = [
        text
        for value in (draw(rng) for _ in range(EACH))
        for text in written(name, value)
        if residue(redactor.text(text), value)
    ]
    assert len(shown) <= 0.05 * EACH * 17, shown[:5]


def test_hardly_a_text_without_a_secret_is_touched(redactor):
    """The other half of the goal: texts without one <= 5 % flagged."""
    rng = random.Random("at once")
    clean = [draw(rng) for draw in WITHOUT.values() for _ in range(EACH)]
    flagged = [text for text in clean if redactor.text(text) != text]
    assert len(flagged) <= 0.05 * len(clean), flagged[:10]


@pytest.mark.parametrize(
    "label", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"]
)
def test_a_private_key_is_hidden_whole_and_cut_off_too(label, redactor):
    body = pem(random.Random(label))
    text = f"-----BEGIN {label}-----\n{body}\n-----END {label}-----\n"
    for shown in (text, text.replace("\n", "\\n"), text[: len(text) // 2]):
        out = redactor.text(shown)
        assert not any(residue(out, line) for line in body.split("\n"))


@pytest.mark.parametrize(
    "line",
    [
        "+{}", "-{}", "> {}", "> > {}", "| {}", "# {}", "// {}", " * {}", "    {}", "\u2502 {}", "  12 + {}", "    12\u2192{}",
        "    12\t{}", "k.pem:12:{}", "\x1b[32m+{}\x1b[m", '"{}"', "'{}',", '    "{}\\n"', '"{}\\n" +',
        "api_1  | {}", "ssl/my_key.pem-12-{}", "May  6 07:08:09 web sshd[123]: {}", "{}$", "{}<br>", "{}\t\t| x_y",
        "a1b2c3d4 (Jo Doe 2024-05-06 07:08:09 +0100 12) {}",
    ],
)  # fmt: skip
@pytest.mark.parametrize("short", [24, 32, 36])  # of RSA, Ed25519 as OpenSSH writes it, and EC
def test_a_private_key_is_hidden_whatever_stands_around_its_lines(line, short, redactor):
    """As in a diff, a quotation, what shows files with numbers, names or dates, a log, the text of a program; cut off too."""
    rng = random.Random(line)
    body = f"{pem(rng)}\n{''.join(rng.choices(ALNUM, k=short))}"
    text = f"-----BEGIN RSA PRIVATE KEY-----\n{body}\n-----END RSA PRIVATE KEY-----"
    lines = [line.format(one) for one in text.split("\n")]
    for shown in ("\n".join(lines), "\n".join(lines[: len(lines) // 2])):
        out = redactor.text(clean(shown))
        assert not any(residue(out, one) for one in body.split("\n"))


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("curl -u elastic:P@ssw0rd$1 https://host:9200", "P@ssw0rd$1"),
        ("curl --user 'me:k9#Lm2pQ' https://host", "k9#Lm2pQ"),
        ("curl -u 'f0dab83kXq2:' https://host", "f0dab83kXq2"),
        ("curl --user kevin:'pRf7vG2h1L8n' https://host", "pRf7vG2h1L8n"),
        ("Authorization: Basic YWxhZGRpbjpvcGVuc2VzYW1l", "YWxhZGRpbjpvcGVuc2VzYW1l"),
        ("-H 'Authorization: Token 5eb4223e5008461cb67c7b8f2732305a'", "5eb4223e5008461cb67c7b8f2732305a"),
        ("curl https://host \\\n  -d x \\\n  -u developer:yqDVtkqPECriaLRi", "yqDVtkqPECriaLRi"),
        ("mytool --api-key 9af5f98be6bc3f19cd874536be16cfb2 run", "9af5f98be6bc3f19cd874536be16cfb2"),
        ("deploy -Token 'fOUa7YAziR7JzBtKwlEAZqgd'", "fOUa7YAziR7JzBtKwlEAZqgd"),
        ("machine host\n  login me\n  password MK4zyzlYxNxYCQ", "MK4zyzlYxNxYCQ"),
        ("SMTP_PASS=x9Kd!2mQ", "x9Kd!2mQ"),
        ("ENV API_TOKEN 5eb4223e5008461cb67c7b8f2732305a", "5eb4223e5008461cb67c7b8f2732305a"),
        ("  set apikey fOUa7YAziR7JzBtKwlEAZqgd", "fOUa7YAziR7JzBtKwlEAZqgd"),
        ("orgToken = 'acme_org_TkQbVYQRwkfuJdGXKSkVicxLkcgCrFJHNC'", "TkQbVYQRwkfuJdGXKSkVicxLkcgCrFJHNC"),
        ("statusPageToken: 4f1c7a52-93be-4d0a-8e2b-5c1d9f7a6b30", "4f1c7a52-93be-4d0a-8e2b-5c1d9f7a6b30"),
        ("'secret' => 'xk_M7zNzWWsxM!jRxKiPvDzD$RtOdsUd'", "M7zNzWWsxM!jRxKiPvDzD$RtOdsUd"),
        ('<add key="ClearTextPassword" value="MXqRpGkczgSo" />', "MXqRpGkczgSo"),
        ("git clone https://8fKq2Lm9Xw4Rt7Zv1Bn6Yc3H@git.acme.example/a/b", "8fKq2Lm9Xw4Rt7Zv1Bn6Yc3H"),
        ("Cookie: _acme_session=0f4b9c2e7d1a6853c0e94d7b2f8a1c65", "0f4b9c2e7d1a6853c0e94d7b2f8a1c65"),
        ("Cookie: theme=dark; session=stcoIz3aXc0e3E2XBbz6", "stcoIz3aXc0e3E2XBbz6"),
        ('"Set-Cookie": "sid=786871f45d59259d818d3d19; Path=/"', "786871f45d59259d818d3d19"),
        (
            "?sv=2024&sig=zeujfoOp86a3JIu5QHO04wOLR8Ikdz9xYdmJMhNX1pT%3D&se=2025",
            "zeujfoOp86a3JIu5QHO04wOLR8Ikdz",
        ),
        ("(ECc7Q~NQf-_2suOoOO~sgAwpIYiIP9K2z.zSxxnF)", "Q~NQf-_2suOoOO~sgAwpIYiIP9K2z.zSxxnF"),
        ("root:$6$rounds=5000$q8Wk/Lr9Tz4$" + "Nm5Hq8Wk2Ys3Df6GhLr9Tz" * 4, "Nm5Hq8Wk2Ys3Df6GhLr9Tz"),
        ("root:$1$q8W/Lr9T$Nm5Hq8Wk2Ys3Df6GhLr9Tz:19000", "Nm5Hq8Wk2Ys3Df6GhLr9Tz"),
        *(
            (f"authorization: {scheme} 0f4b9c2e7d1a6853c0e94d7b2f8a1c65", "0f4b9c2e7d1a6853c0e94d7b2f8a1c65")
            for scheme in ("bot", "negotiate", "ntlm", "splunk", "hmac", "snyk", "session")
        ),
        (
            "authorization: splunk 6974fd13-5b51-45f8-a86e-aa942909aa4c",
            "6974fd13-5b51-45f8-a86e-aa942909aa4c",
        ),
        ("password: new q8Wk2Lr9Tz4X!", "q8Wk2Lr9Tz4X!"),
        ("const password = await 'q8Wk2Lr9Tz4Xc7'", "q8Wk2Lr9Tz4Xc7"),
        ('return token = new "q8Wk2Lr9Tz4Xc7Vb1Nm5"', "q8Wk2Lr9Tz4Xc7Vb1Nm5"),
        ("secret: printf 'q8Wk2Lr9Tz4Xc7Vb' | docker secret create x -", "q8Wk2Lr9Tz4Xc7Vb"),
        ("token: value q8Wk2Lr9Tz4Xc7Vb1Nm5", "q8Wk2Lr9Tz4Xc7Vb1Nm5"),
        ("postgres://app:pa55-Word@db:5432/x", "pa55-Word"),
        ("  URL: cG9zdGdyZXM6Ly9hcHA6cGE1NS1Xb3JkQGRiOjU0MzIveA==", "cG9zdGdyZXM6Ly9hcHA6cGE1NS1Xb3JkQGRi"),
        (
            "AKIAQ7XW2LMB4TRZ6KVP,q8Wk2Lr9Tz4Xc7Vb1Nm5/q8Wk2Lr9Tz4Xc7Vb1Nm",
            "q8Wk2Lr9Tz4Xc7Vb1Nm5/q8Wk2Lr9Tz4Xc7Vb1Nm",
        ),
        (
            "bob:$y$j9T$q8Wk2Lr9Tz4Xc7Vb1Nm5Qa$Lr9Tz4Xc7Vb1Nm5Hq8Wk2Ys3Df6Gh:19000:0",
            "Lr9Tz4Xc7Vb1Nm5Hq8Wk2Ys3Df6Gh",
        ),
        (
            "$argon2id$v=19$m=65536,t=3,p=4$q8Wk2Lr9Tz4Xc7Vb$Nm5Hq8Wk2Ys3Df6GhLr9Tz4X",
            "Nm5Hq8Wk2Ys3Df6GhLr9Tz4X",
        ),
        (
            "pbkdf2:sha256:600000$q8Wk2Lr9Tz4X$0f4b9c2e7d1a6853c0e94d7b2f8a1c65",
            "0f4b9c2e7d1a6853c0e94d7b2f8a1c65",
        ),
        ("postgres://app:!#%^$&,;@db:5432/x", "!#%^$&,;"),
        ("https://hooks.slack.com/services/T01AB2CD3/B04EF5GH6/a1B2c3D4e5F6g7H8i9J0", "a1B2c3D4e5F6g7H8i9J0"),
    ],
)
def test_logins_and_headers_are_hidden(text, secret, redactor):
    assert not residue(redactor.text(text), secret)


@pytest.mark.parametrize(
    "text",
    [
        "token = next(tokens)",
        "token: str = tokens[0].value_2",
        'api_key = os.environ["ANTHROPIC_API_KEY"]',
        "export TOKEN=$GITHUB_TOKEN",
        "password: ${DB_PASSWORD}",
        'password = "changeme"',
        'secret = "<your secret here>"',
        'token = "xxxxxxxxxxxxxxxxxxxxxxxx"',
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "glpat-____________________",
        "Authorization: Bearer ....................",
        "Authorization: bearer -------------------------",
        "Authorization: Bearer ********************",
        "Authorization: Basic ====================",
        "postgres://user:......@host",
        "postgres://user:--__--__@host",
        "postgres://user:••••••••@host",
        "::add-mask::--------",
        "curl -u user:password https://host",
        'curl -u "$NAME:$PASSWORD" https://host',
        "docker run -u 1000:1000 image",
        "sort -u names",
        "curl -u me https://host",
        "curl -u me:correcthorsebattery https://host",
        "curl https://host\nprogram -u me:P@ssw0rd$1 x",
        "the access token is refreshed; the key to success is sleep",
        '"input_tokens": 123456, "output_tokens": 7890',
        '"tool_use_id": "toolu_01ABCdefGHIjklMNOpqrSTU"',
        "INFO auth: user 6974fd13-5b51-45f8-a86e-aa942909aa4c logged in",
        "mrenclave: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        '"EnclaveID": "q8Wk2Lr9Tz4Xc7Vb1Nm5"',
        "conclave: 3f786850e387550fdab836ed7e6dc881de23001b",
        "clavecin: 3f786850e387550fdab836ed7e6dc881de23001b",
        "секретарь: 3f786850e387550fdab836ed7e6dc881de23001b, включено: 3f786850e387550fdab836ed7e6dc881de23001b",
        "$1$/usr/share/doc/packages1$/usr/lib/x86_64/foo/bar2/baz",
        "$7$col-md-6$col-lg-4-col-xl-3-offset-2",
        "s/(a)(b)/$1$foo-bar$2baz-quux-and-more-of-it-3/",
        'key: "MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEq8Wk2Lr9Tz4Xc7Vb1Nm5Hq8Wk2Ys3Df6GhLr9Tz4X"',
        "ssh_key: AAAAC3NzaC1lZDI1NTE5AAAAIq8Wk2Lr9Tz4Xc7Vb1Nm5Hq8Wk2Ys3Df6Gh",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        '"integrity": "sha512-abcDEF123/+abcDEF123abcDEF123abcDEF123abcDEF123abcDEF123abcDEF123abcDEF123abcDEF1234=="',
        "session 0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b began",
        "keyboard_shortcut_17: ctrl-k",
        "primary_key: user_id_2024",
        "-----BEGIN CERTIFICATE-----\nMIIBkTCB+wIJAK\n-----END CERTIFICATE-----",
        "xoxb-572370529330-573807301142-572331691188-",
        'token = "team-1234-1234-4ddbc191d40ee098cbaae6f3523ada2d"',
        "invalidToken = 'k3j4h5g6f7d8s9a0q1w2'",
        "https://username:password@host/",
        'MovedAttribute("HTTPPasswordMgr", "urllib2")',
        '# METHOD can be "trust", "md5", "password", "scram-sha-256"',
        '"interTokenLatencyMs": 0.09131949999999998',
        'public_key = "04ab12cd34ef56ab78cd90ef12ab34cd56ef78ab90"',
        'nextPageToken: "q8Wk2Lr9Tz4Xc7Vb1Nm5"',
        '"idempotency_key": "d601b0a0-6900-4d11-bd09-f36552cd1708"',
        "cacheKey=3f786850e387550fdab836ed7e6dc881de23001b",
        'key_id: "39b1d17d-1559-4547-8021-f0ed22aa6fd1"',
        's3_key = "uploads/2024/b8a94208-0f54-49f0-b272-9d24341dd687.png"',
        'authority = "https://login.example.com/d601b0a0-6900-4d11-bd09-f36552cd1708/v2.0"',
        "token_hash: sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "AIza1eKUpTXYgwMzqHxqcAsblDvliin8NvY40XDNXvzMWK",
        "data: MLIAMtAC5AKIABARQBC0EAIQACQCADLM",
        f"data: MLIAMtAEEAA{'gAygCOCICRQ0AIAIoAkQi' * 8}",
        "cookie: theme=dark; lang=en",
        '"request_id": "req_011dKEYszzXlOAsu11pcxedm", "commit": "e75eeaa8a8201a2a13078f3e80afd3ed1da29e27"',
        'curl -u "${username}":"${password}" https://host',
        "--token-file /run/secrets/token_2a",
        "hf_isAccessoryServiceReadyForConfirmation",
        "func hf_removeModelFromCacheDirectory() {",
        "glpat-your_own_access_token_here",
        "API_KEY=sk-insert-your-own-key-here-please",
        "AWS_ACCESS_KEY_ID=AKIAEXAMPLEKEYID2345",
        "https://hooks.slack.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX",
        'assembly: Culture=neutral, PublicKeyToken="c7a5d0e2f14b8936"',
        "sampleToken = 'k3j4h5g6f7d8s9a0q1w2'",
        "password: ['libsodium_stream_xchacha20_init_push', 'libsodium_kx_client_keys']",
        'secret = "acme_stream_chacha20poly1305_init_pull"',
        "key = ask_for('passphrase')\n    plain = {'GIT_CONFIG_GLOBAL': path}",
        "mail to someone.with.a.long.name7@acme.example or see https://acme.example/@team",
    ],
)
def test_what_agents_say_all_day_is_left_alone(text, redactor):
    assert redactor.text(text) == text


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (
            "grep -rlI '{}' /home/me/projects/application/backend/services/auth && rm -rf build",
            "&& rm -rf build",
        ),
        ('HEAD = "{}"\n# ' + "=" * 70 + "\ndef head(text):\n    return text", "(text):\n    return text"),
        ('["{}", "ThisIsAnIdentifierOfMoreThanFortyLettersInCamelCase"]\nx = 1', "]\nx = 1"),
    ],
)
def test_words_about_a_private_key_hide_nothing_of_what_follows(text, kept, redactor):
    """Whoever is asked for a yes sees the whole command."""
    assert redactor.text(text.replace("{}", "-----BEGIN " + "PRIVATE KEY-----")).endswith(kept)


LOOK_ALIKES = (
    *(
        "author_id",
        "authorId",
        "authority_key_id",
        "co-authored",
        "tokenizer",
        "tokenizer_config",
        "tokens_hash",
    ),
    *(
        "bucketKey",
        "hot_key",
        "schema-key",
        "sequenceKey",
        "idx_key",
        "pub_key",
        "pubkey",
        "siteKey",
        "i18nKey",
    ),
    *("monkeyPatchId", "hockeyapp", "jockey", "public_token", "XSRF-TOKEN", "UserSecretsId", "secretKeyRef"),
    *(
        "auth-source",
        "auth_time",
        "LICENSE_KEY_md5",
        "token_address",
        "keyAlias",
        "keyboard",
        "withCredentials",
    ),
)
"""Names with a word of secrets in them that name none."""
ALIKE = (
    *(
        "authToken",
        "AUTHORIZATION",
        "authorizer_secret",
        "GITHUB_KEY",
        "bitbucket_key",
        "hubspotKey",
        "privateKey",
    ),
    *(
        "keycloak_client_secret",
        "secretKey",
        "tokenSecret",
        "shared_key_token",
        "accountKey",
        "cipher_secret",
    ),
)
"""Names that begin or end as those do, and name one."""


@pytest.mark.parametrize("name", LOOK_ALIKES)
def test_a_name_that_holds_a_word_by_chance_names_nothing(name, redactor):
    """Ids of authors, places of keys, public halves: a text full of markers tells the next agent nothing."""
    value = form((ALNUM, 26))(random.Random(name))
    for text in written(name, value):
        assert redactor.text(text) == text


@pytest.mark.parametrize("name", ALIKE)
def test_a_name_that_only_begins_or_ends_like_one_of_those_still_names_its_secret(name, redactor):
    value = form((ALNUM, 32))(random.Random(name))
    shown = [text for text in written(name, value) if residue(redactor.text(text), value)]
    assert shown == []


@pytest.mark.parametrize("name", ["token", "PWD", "sshKey"])
@pytest.mark.parametrize(
    "value", ["/home/a1B2c3/W4d5E6/k7L8m9N0", "~/keys/a1B2c3D4e5F6g7H8", "../../run/a1B2c3D4e5F6g7H8"]
)
def test_a_path_is_no_secret_whatever_names_it(name, value, redactor):
    for text in (f"{name}={value}", f'{name}: "{value}"'):
        assert redactor.text(text) == text


@pytest.mark.parametrize(
    "value",
    [
        "0xde709f2102306220921060314715629080e2fb77",
        "0x52908400098527886E0F7030069857D2E4169EE7",
        "52908400098527886E0F7030069857D2e4169ee7",
    ],
)
def test_an_address_on_a_chain_is_no_secret(value, redactor):
    """It is what everyone pays to, in mixed cases for its checksum; the key to it is longer."""
    for text in (f"token={value}", f'"tokenContract": "{value}"'):
        assert redactor.text(text) == text


def test_the_key_of_an_account_on_a_chain_is_one(redactor):
    key = f"0x{form((HEX, 64))(random.Random(64))}"
    assert not residue(redactor.text(f"private_key={key}"), key)


def test_what_the_project_says_of_itself_is_left_alone(redactor, pytestconfig):
    """At most one false redaction in 100 kB, none in the project's own source."""
    for path in sorted((pytestconfig.rootpath / "hub").rglob("*.py")):
        text = path.read_text()
        assert redactor.text(text) == text, path
    found = size = 0
    for path in sorted((pytestconfig.rootpath / "tests" / "captures").rglob("*.jsonl")):
        text = path.read_text()
        size += len(text)
        found += len(MARK.findall(redactor.text(text)))
    assert found <= size / 100_000


def streamed(redactor: Redactor, text: str, cuts: list[int]) -> str:
    stream = redactor.stream()
    pieces = [stream.feed(text[a:b]) for a, b in itertools.pairwise([0, *cuts, len(text)])]
    return "".join(pieces) + stream.flush()


def test_a_cut_anywhere_changes_nothing_and_twice_is_once(redactor):
    """concat(stream) == batch at every split offset, and letter by letter; redacting again finds nothing new."""
    rng = random.Random(11)
    values = [draw(rng) for draw in (*BROKERED.values(), *COMMON.values())]
    texts = [rng.choice(list(told(value))) for value in values]
    texts += [rng.choice(list(written(name, draw(rng)))) for name, draw in NAMED.values()]
    texts += [
        "curl -u elastic:P@ssw0rd$1 https://host:9200",
        "x --api-key 9af5f98be6bc3f19cd874536be16cfb2 run",
    ]
    texts += [
        "Cookie: theme=dark; session=stcoIz3aXc0e3E2XBbz6; sid=786871f45d59259d818d3d19; Path=/; Secure\nx"
    ]
    texts += ["(ECc7Q~NQf-_2suOoOO~sgAwpIYiIP9K2z.zSxxnF)", f"x -----BEGIN PRIVATE KEY-----\n{pem(rng)}"]
    for text in texts:
        whole = redactor.text(text)
        assert redactor.text(whole) == whole
        assert streamed(redactor, text, list(range(1, len(text)))) == whole
        for cut in range(len(text) + 1):
            assert streamed(redactor, text, [cut]) == whole, (cut, text)
    joined = "\n".join(texts)
    whole = redactor.text(joined)
    for _ in range(20):
        assert streamed(redactor, joined, sorted(rng.choices(range(len(joined)), k=9))) == whole


@pytest.mark.parametrize(
    "text",
    [
        'password: "§"',
        '{"password": "§"}',
        "const dbPassword = '§';",
        'PGPASSWORD="§" psql',
        "mysql -uroot -p'§' shop",
        "curl -u me:§ https://api.example.com",
    ],
)
@pytest.mark.parametrize("secret", ["aB3{x9]Kq2<fZ!", "q7]Hw(2}vXe9#m", "t4>Lp9{kz2[Wd8"])
def test_a_password_may_have_brackets(redactor, text, secret):
    """As a password manager makes them; a value that a program computes has its brackets in pairs, or at an end."""
    assert secret not in redactor.text(text.replace("§", secret))


@pytest.mark.parametrize(
    "text",
    [
        'password = config["db"]["pw9"]',
        'pw = f"{user9}-{x[0]}"',
        "password: {{ vault_password9 }}",
        "password=<Your-Password1>",
        "secret: Map<String9, Token> = x",
        "password = row[i9]->pw9",
        "token: Option<Secret9>",
        "auth_token=params[:token1",
    ],
)
def test_what_a_program_computes_is_no_password(redactor, text):
    assert redactor.text(text) == text
