"""A word that announces a secret, and what stands behind it: hidden where people and programs write it, else left alone."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.redaction.assigned import Assignments, _Looks
from hub.domain.redaction.value import hidden_password, machine_made, placeholder
from hub.domain.redaction.words import WORDS
from tests.hub.domain.redaction.kit import (
    leaks,
    redactor,
    streamed,
)


@given(st.text("aB3-_/.=", min_size=128, max_size=160), st.text(max_size=20), st.text(max_size=20))
def test_no_more_of_a_value_is_judged_than_tells_what_it_is(value, one, other):
    """A text full of words of secrets has a value behind each, which goes on to its end."""
    assert machine_made(value + one) == machine_made(value + other)
    assert placeholder(value + one) == placeholder(value + other)


@given(st.text("abcdefxyz-_./=:;,+~? ", max_size=160))
def test_no_named_secret_is_without_digits_capitals_and_signs(value):
    """What the layer of names passes over unseen is none: all of these ask for one of those letters."""
    assert not machine_made(value)
    assert not machine_made(value, 10)
    assert not hidden_password(value)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    "word", [*(word.decode() for word in WORDS), "token=", "cookie: a=b; ", "curl -u a:"]
)
@pytest.mark.parametrize("final", [True, False])
def test_repeated_words_that_no_secret_follows_are_passed_over(word, final):
    """No text is slow because it is full of words that announce secrets (security row 45), at its end or not."""
    layer, text = Assignments(), f"{word} " * (80_000 // len(word))
    view = text.encode()
    words = list(layer._worthwhile(text, view, 0, _Looks(text, view, final=final), final=final))
    reach = 0 if final else 2_400
    near = [at for at, _, found in words if at < len(text) - reach and found not in (b"cookie", b" -u")]
    assert near == []


@pytest.mark.parametrize("word", ["kennwort9=", "mot_de_passe9=", "PWD=", "pwd=1 ", "token9="])
@pytest.mark.parametrize("final", [True, False])
def test_of_a_text_that_repeats_itself_little_is_looked_at(monkeypatch, word, final):
    """A value that is hidden holds the next words' values, and a word that says nothing says nothing again."""
    looked, look = [], _Looks._look
    monkeypatch.setattr(_Looks, "_look", lambda self, *where: looked.append(where) or look(self, *where))
    text = word * (40_000 // len(word))
    spans, _ = Assignments().scan(text, 0, final=final)
    assert len(looked) < 450
    secret = "x7Qm2Lr9Tb4Vn8Kd3Wp6"
    found, _ = Assignments().scan(f"{text}\npassword = '{secret}'\n{text}", 0, final=True)
    assert secret in {span.secret for span in found}
    reached = max((span.end for span in spans), default=0)
    assert reached == 0 or reached > len(text) - 2 * 512


@pytest.mark.parametrize(
    ("value", "made"), [("of-4839201748392017-it", True), ("of-1111222211112222-it", False)]
)
def test_a_long_number_within_a_value_is_drawn_where_its_digits_vary(value, made):
    assert machine_made(value) is made


@pytest.mark.no_cover
@pytest.mark.parametrize("unit", ["pwd1 ", "key 1", "q{key{1", "key key1 ", "hmac('1 ", "login 1 pwd 1 "])
@pytest.mark.parametrize("final", [True, False])
def test_what_repeats_itself_is_passed_over_up_to_where_it_does_not(monkeypatch, unit, final):
    """What is found is what would be if each word were looked at, wherever something else stands in between."""
    looked, look = [0], _Looks._look
    monkeypatch.setattr(_Looks, "_look", lambda self, *where: looked.append(1) or look(self, *where))
    noise, secret = unit * (10_000 // len(unit)), "x7Qm2Lr9Tb4Vn8Kd3Wp6"
    for cut in (0, 1, 2_001, 9_998):
        text = f'{noise[cut:]}\ntoken="{secret}"\n{noise}{noise[:cut]}\npassword="{secret}"\n{noise}'
        found, few = Assignments().scan(text, 0, final=final), len(looked)
        with monkeypatch.context() as patched:
            patched.setattr("hub.domain.redaction.assigned._MANY", len(text))
            assert Assignments().scan(text, 0, final=final) == found
        assert {span.start for span in found[0]} == {place.start() for place in re.finditer(secret, text)}
        assert few * 2 < len(looked) - few
        looked.clear()


@pytest.mark.parametrize("unit", ["jwt(ab)", "pdo(x) ", "--user x ", "curl -u x "])
@pytest.mark.parametrize("final", [True, False])
def test_where_what_a_secret_needs_is_far_nothing_is_looked_at(monkeypatch, unit, final):
    """No argument without a quote, no login without a colon: a text full of such calls took two seconds a megabyte."""
    looked, look = [], _Looks._look
    monkeypatch.setattr(_Looks, "_look", lambda self, *where: looked.append(where) or look(self, *where))
    text = "".join(f"{unit}{at}" for at in range(2_000))
    Assignments().scan(text, 0, final=final)
    assert len(looked) <= (0 if final else 80)


def test_a_cookie_within_the_value_of_another_is_judged_with_it(monkeypatch):
    """Each would be read up to the end of all: a text of 200 kB took two seconds."""
    looked, look = [], _Looks._look
    monkeypatch.setattr(_Looks, "_look", lambda self, *where: looked.append(where) or look(self, *where))
    letters = "abcdefghijklmnopqrstuvwxyz"
    text = "".join(f"cookie={letters[at * 7 % 26]}{letters[at * at % 26]}" for at in range(2_000)) + "1"
    Assignments().scan(text, 0, final=True)
    assert len(looked) <= len(text) // 64 + 1
    found, _ = Assignments().scan(
        "cookie=a1cookie=x7Qm2Lr9Tb4Vn8Kd3Wp6;cookie=k9Qx4Lm2Vt7Rz1Bn8Wc3", 0, final=True
    )
    assert "".join(span.secret for span in found).endswith("k9Qx4Lm2Vt7Rz1Bn8Wc3")
    assert "x7Qm2Lr9Tb4Vn8Kd3Wp6" in found[0].secret


def test_a_word_far_from_the_next_digit_is_passed_over_and_one_near_it_is_not():
    text = (
        "token " * 2000
        + 'token="a1B2c3D4e5F6g7H8"'
        + " token" * 2000
        + " curl"
        + "x" * 3000
        + " -u a:b Cookie "
    )
    spans, _ = Assignments().scan(text, 0, final=True)
    assert {text[span.start : span.end] for span in spans} == {"a1B2c3D4e5F6g7H8"}
    header = "token " * 2000 + "cookie: a=" + "w" * 3000 + "; session=a1B2c3D4e5F6g7H8i9J0"
    spans, _ = Assignments().scan(header, 0, final=True)
    assert {header[span.end - 4 : span.end] for span in spans} == {"i9J0"}


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("the password is x1DvsNttEU7Inx7YUpuW.", "x1DvsNttEU7Inx7YUpuW"),
        ("connecting with password 'SYeJc3TrJd.9Qg' to db", "SYeJc3TrJd.9Qg"),
        ("CREATE USER app WITH PASSWORD 'im3!yh+P76AlGM';", "im3!yh+P76AlGM"),
        ('GRANT ALL ON x TO a IDENTIFIED BY "BEWB_HfXEsRIg"', "BEWB_HfXEsRIg"),
        ('client.setApiKey("9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c")', "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c"),
        ('ConvertTo-SecureString "MiIZI2N8ltczo" -Force', "MiIZI2N8ltczo"),
        ('auth=("bob", "kY8BE+YUFT1QW")', "kY8BE+YUFT1QW"),
        ('db:\n  pass: "biJ6AR#E*zhXY"', "biJ6AR#E*zhXY"),
        ("$dbpass = 'mYOqqbY#X_H5?';", "mYOqqbY#X_H5?"),
        ('contraseña = "2uWGgNQbxXi*7"', "2uWGgNQbxXi*7"),
        ('variable "db_password" {\n  default = "0NcuWVu9aVF7eOBi"\n}', "0NcuWVu9aVF7eOBi"),
        ("set -gx BITTREX_KEY nz6gxtxlpy78uwdh2jit4eomeytzec6x", "nz6gxtxlpy78uwdh2jit4eomeytzec6x"),
        ("sshpass -p '#n!h2+vAaDd0_' ssh me@host", "#n!h2+vAaDd0_"),
        ("mysql -u root -pcT1wx05cLwi8i8 app", "cT1wx05cLwi8i8"),
        ("docker login -u bot -p i9qOYi99e6V40ODvU3heL6jK host", "i9qOYi99e6V40ODvU3heL6jK"),
        ('curl -b "session=3e4339bb3a52761929ff713f63ac62aa" https://host', "3e4339bb3a52761929ff713f63ac62aa"),
        ("https://d3e7bf22079904f25b10501b68e0c4f9:x-oauth-basic@git.example/a", "d3e7bf22079904f25b10501b68e0c4f9"),
        ("curl -u 'f0dab83kXq2:' https://host", "f0dab83kXq2"),
        ("curl --user me:k9#Lm2pQ https://host", "k9#Lm2pQ"),
        ("client_id: 482915036717245801", "482915036717245801"),
        ("ldap://cn=admin:yVWENlmdA9RRyZKy@ldap.example", "yVWENlmdA9RRyZKy"),
        ("?Expires=17&Signature=PVf68vqdqcohGPkIcHHvAQXelza%3D", "PVf68vqdqcohGPkIcHHvAQXelza"),
        ("GET /callback?state=1&code=FVPLND9FZVOCwIN2Fh8IJUIx HTTP", "FVPLND9FZVOCwIN2Fh8IJUIx"),
        ("key: " + base64.b64encode(b"-----BEGIN PRIVATE KEY-----\nMIIEvq8W2k7Lr9Tz4Xc7Vb1Nm5").decode(), "TUlJRXZxOFcyazdMcjlUejRYYzdW"),
        ("Private-Lines: 1\ndr3qhhbcOtehQmreQCcpavriwdlWjmiTl2ecz\nPrivate-MAC: 1", "dr3qhhbcOtehQmreQCcpavriwdlWjmiTl2ecz"),
        ("token: >-\n  k9Qx4Lm2Vt7Rz1Bn8Wc3", "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("password: |\n  x1DvsNttEU7Inx7Y\nuser: bob", "x1DvsNttEU7Inx7Y"),
        ('api_token: !!str "k9Qx4Lm2Vt7Rz1Bn8Wc3"', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ('<entry key="secretKey">\n  <![CDATA[k9Qx4Lm2Vt7Rz1Bn8Wc3]]>', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ('API_KEY: Final[str] = "k9Qx4Lm2Vt7Rz1Bn8Wc3"', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ('NSString *kApiSecret = @"k9Qx4Lm2Vt7Rz1Bn8Wc3";', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ('#define API_TOKEN L"k9Qx4Lm2Vt7Rz1Bn8Wc3"', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("- **Client secret**: k9Qx4Lm2Vt7Rz1Bn8Wc3", "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("port 6379\nrequirepass k9Qx4Lm2Vt7Rz1Bn8Wc3\nsave 60", "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("masterauth k9Qx4Lm2Vt7Rz1Bn8Wc3", "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ('jwt.sign({ id: user.id }, "k9Qx4Lm2Vt7Rz1Bn8Wc3", opts)', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("crypto.createHmac('sha256', 'k9Qx4Lm2Vt7Rz1Bn8Wc3')", "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ('getConnection(url, "app", "kY8BE+YUFT1QW")', "kY8BE+YUFT1QW"),
        ('server.login("me@acme.example", "kY8BE+YUFT1QW")', "kY8BE+YUFT1QW"),
        ('get_env("PASSWORD") || "kY8BE+YUFT1QW"', "kY8BE+YUFT1QW"),
        ('os.environ.get("SECRET_KEY") or "k9Qx4Lm2Vt7Rz1Bn8Wc3"', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ('ENV.fetch("SECRET") { "k9Qx4Lm2Vt7Rz1Bn8Wc3" }', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("my $password = q{kY8BE+YUFT1QW};", "kY8BE+YUFT1QW"),
        ("password = %q(kY8BE+YUFT1QW)", "kY8BE+YUFT1QW"),
        ('secret_key = """k9Qx4Lm2Vt7Rz1Bn8Wc3"""', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ('key = "k9Qx4Lm2Vt7Rz1Bn8Wc3k9Qx4Lm2Vt7Rz1Bn8Wc3"', "k9Qx4Lm2Vt7Rz1Bn8Wc3k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("A temporary password is generated for root@localhost: kY8BE+YUFT1Q", "kY8BE+YUFT1Q"),
        ("Root password set to kY8BE+YUFT1QW", "kY8BE+YUFT1QW"),
        ("the password for the db is `kY8BE+YUFT1QW`", "kY8BE+YUFT1QW"),
        ("<key>API_SECRET</key>\n<string>k9Qx4Lm2Vt7Rz1Bn8Wc3</string>", "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ('<property name="secretKey"><value>k9Qx4Lm2Vt7Rz1Bn8Wc3</value>', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("keytool -storepass k9Qx4Lm2Vt7Rz -list", "k9Qx4Lm2Vt7Rz"),
        ("mongosh -u app -p kY8BE+YUFT1QW db", "kY8BE+YUFT1QW"),
        ('master_password             = "kY8BE+YUFT1QW"', "kY8BE+YUFT1QW"),
        ('bearer = "k9Qx4Lm2Vt7Rz1Bn8Wc3"', "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("db.example:5432:app:app:kY8BE+YUFT1QW", "kY8BE+YUFT1QW"),
        ("jdbc:oracle:thin:app/kY8BE+YUFT1QW@//db:1521/x", "kY8BE+YUFT1QW"),
        ("- **Password:** `kY8BE+YUFT1QW`", "kY8BE+YUFT1QW"),
        ("Unseal Key 1: 1Es5YEkYDq42xHQsftXesJo2+R+yFQDp85Xx3jMJd70=", "1Es5YEkYDq42xHQsftXesJo2"),
        ('["password"]=>\n  string(13) "kY8BE+YUFT1QW"', "kY8BE+YUFT1QW"),
        ('let password = #"kY8BE+YUFT1QW"#', "kY8BE+YUFT1QW"),
        ("tokens:\n  - k9Qx4Lm2Vt7Rz1Bn8Wc3\n", "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("auth: 'bob:kY8BE+YUFT1QW'", "kY8BE+YUFT1QW"),
        ("sonar.login=d981c68e083a224a83044d786730c3014795827a", "d981c68e083a224a83044d786730c3014795827a"),
        ("cargo login k9Qx4Lm2Vt7Rz1Bn8Wc3", "k9Qx4Lm2Vt7Rz1Bn8Wc3"),
        ("rdesktop -u a -p kY8BE+YUFT1QW host", "kY8BE+YUFT1QW"),
        ("cryptsetup open disk <<< 'kY8BE+YUFT1QW'", "kY8BE+YUFT1QW"),
        ("curl -su me:k9#Lm2pQ https://host", "k9#Lm2pQ"),
        ("etcdctl --user root:kY8BE+YUFT1QW get x", "kY8BE+YUFT1QW"),
        ("az keyvault secret set --name x --value kY8BE2YUFT1QWz3kY8BE2", "kY8BE2YUFT1QWz3kY8BE2"),
        ('sql.Open("mysql", "app:kY8BE2YUFT1QW@tcp(db:3306)/app")', "kY8BE2YUFT1QW"),
        ('curl --header "Api-Token: Rk83HW6g5LC"', "Rk83HW6g5LC"),
        ("glab auth login --token WuH2durQ4Vrc", "WuH2durQ4Vrc"),
        ('plexToken = "48_1-KGhhWtI8zG9tL-K"', "48_1-KGhhWtI8zG9tL-K"),
        ("withings_token: '7470377838827347'", "7470377838827347"),
        ("acmeToken=49028817356620491837465520917364", "49028817356620491837465520917364"),
        ('Dim dbPassword As String = "dWoii40OqhuEw"', "dWoii40OqhuEw"),
        ('(connect {:api-key "QMsN6oclOJSjV" :port 80})', "QMsN6oclOJSjV"),
        ("https://mm.example/hooks/m6n9d7eqcskpbhh5m31kwa7ni2", "m6n9d7eqcskpbhh5m31kwa7ni2"),
        ("https://x.example/bot/v2/hook/6a89927b-0a13-4ec5-8b31-19c0547d170f", "6a89927b-0a13-4ec5-8b31-19c0547d170f"),
        ("https://x.example/cgi-bin/webhook/send?key=2b021b45-deaa-48db-9592-f3593a322dea", "2b021b45-deaa-48db-9592-f3593a322dea"),
        ("lösenord: yUVqQl6uRia", "yUVqQl6uRia"),
        ('surveymonkeyToken = "GlXrDiJJ8KTxbJzhHawG"', "GlXrDiJJ8KTxbJzhHawG"),
        ("npm config set //r.example/:_authToken 4L2AeZWFVfrlej8k", "4L2AeZWFVfrlej8k"),
        ("şifre=BKHZk6rm9Ku", "BKHZk6rm9Ku"),
        ('$env:AZURE_DEVOPS_EXT_PAT = "k9q2x4lm2vt7rzj3fw8d"', "k9q2x4lm2vt7rzj3fw8d"),
        ("wifi: Heron / pw: aTfH2yRgD2dW", "aTfH2yRgD2dW"),
        ("das Passwort lautet BHT0QEHVNeCdLi seit gestern", "BHT0QEHVNeCdLi"),
        ('new mysqli("localhost", "forum", "AChE4aQqeh8GQQN", "forum_db")', "AChE4aQqeh8GQQN"),
        ("$settings['hash_salt'] = 'wTylOFYQrS8rXHX7fjyySYyvKR6ThOOPoK2h';", "wTylOFYQrS8rXHX7fjyySYyvKR6ThOOPoK2h"),
        ('buildConfigField("String", "WEATHER_KEY", "\\"6e7fd89d65869b45cef47e9609b04ee3\\"")', "6e7fd89d65869b45cef47e9609b04ee3"),
    ],
)  # fmt: skip
def test_a_secret_is_hidden_where_people_and_programs_write_it_at_every_cut_alike(text, secret):
    whole = redactor().text(text)
    assert not leaks(whole, secret)
    assert redactor().text(whole) == whole
    for cut in range(len(text) + 1):
        assert streamed(text, [cut]) == whole


@pytest.mark.parametrize(
    "text",
    [
        "the password is required; password is not valid: needs 1 Upper",
        'setPassword("newPassword2")',
        "a password (see Rules2Follow)",
        'auth("google", "Sign in with Google2")',
        'auth=("user", "pass")',
        'auth=("user", k9Qx4Lm2Vt7Rz)',
        "pass: 12, fail: 3; bypass: a1B2c3D4e5F6g7H8; passed: a1B2!c3D4e5F6g7H8",
        "render pass: ShadowPass2",
        "docker run -p 8080:80 image && mysql -p app",
        "tar -p backup2024.tar; mkdir -pk9Qx4Lm2Vt7Rz; run --user 1000:1000; cat <<< 'Hello World2'; sort -b session=3e4339bb3a52761929ff713f63ac62aa",
        "curl https://host\ntool -b session=3e4339bb3a52761929ff713f63ac62aa",
        "errorcode=FVPLND9FZVOCwIN2Fh8IJUIx; Signature=RSA-SHA256",
        "ftp://anonymous:anonymous@ftp.example mongodb://<username>:<password>@cluster0.example",
        'validate_password("min")',
        "token=52908400098527886E0F7030069857D2e4169ee7",
        "cat curls -u me:k9#Lm2pQ; curl -u me https://host",
        ".password-meter--weak{background:#ff5a5f;width:25%}",
        "password: !vault |\n  $ANSIBLE_VAULT;1.1;AES256",
        "requirepass foobared\n# requirepass yourpassword",
        'jwt.sign(payload, process.env.SECRET_V2); hmac.new(key, b"Hello World2", "sha256")',
        'server.login(user, password); login("admin", "admin"); getConnection("jdbc:mysql://localhost:3306/app2")',
        'get_env("PASSWORD") || "secret"; os.environ.get("TOKEN") or "test"',
        "<type>token</type><id>550e8400-e29b-41d4-a716-446655440000</id>",
        "<password></password>\n<etag>9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c</etag>",
        "public key of the host: YmHezi5l5iu/QEStyZE5b8LEMTSOgjLuXusrFIbx3d+=",
        "key hash of the file: 9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c",
        "password reset email sent to user1234@acme.example; token count for gpt-4o-2024-08-06: 12345",
        'key = "9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c9f8a7b6c5d4e3f2a"',
        '"passwordLastChanged": "2024-05-01T10:00:00Z", "password_changed": "2024-05-01"',
        "resetPassword(token: String!, password: String!): Boolean!",
        "private_key: ed25519.Ed25519PrivateKey, signing_key: Ed448PrivateKey",
        "https://media.example/webhooks/417429632418316298/ .git/hooks/pre-commit src/hooks/useMediaQuery2.ts",
        "token=providers.*.baseUrlEnv; token: 111111111111111111; aws_auth_algorithm = 'AWS4-HMAC-SHA256'",
        "Cache restored from key: Linux-node-9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c9f8a7b6c5D4e3f2a",
        "- name: POSTGRES_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: postgres",
        "gpg --recv-keys 9DC858229FC7DD38854AE2D88D81803C0EBFCD88",
        'token_provider_version = "2024.11.3-rc.2+build.20241119T0834"',
        '<img alt="key" src="data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7">',
        '{file = "user_auth-1.0-py3-none-any.whl", hash = "sha256:9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c9f8a7b6c5d4e3f2a1b0c9d8e7f6a5b4c"}',
        '"/password-1.2.3.tgz","integrity":"sha512-q7LYyYtJmWmIrNdfM3Rs2v0gTqPz1Q8b7Qp3kX9Zy4Vb2Nc5Lm6Hd8Jf0Kg1Aa=="',
        "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "expect(md5('password')).toBe('5f4dcc3b5aa765d61d8327deb882cf99')",
        'const a={token:e,password:t,key:n.R5x},b=c=>c.token||"";',
    ],
)
def test_what_only_looks_like_such_a_place_is_left_alone(text):
    assert redactor().text(text) == text


@pytest.mark.parametrize(
    "name",
    [
        *(
            "clave",
            "miClave",
            "tokenClave",
            "chave_api",
            "chiave_api",
            "Schlüssel",
            "clé_api",
            "segreto",
            "mật_khẩu",
        ),
        *(
            "пароль",
            "Пароль",
            "токен",
            "密码",
            "密钥",
            "パスワード",
            "비밀번호",
            "كلمة المرور",
            "סיסמה",
            "पासवर्ड",
            "κωδικός",
        ),
    ],
)
def test_a_name_of_any_language_announces_a_secret_at_every_cut(name):
    secret = "q8Wk2Lr9Tz4Xc7Vb1Nm5"
    for text in (
        f'x {name} = "{secret}"\n',
        f"{name}: {secret}",
        f"a\n{name}={secret} b",
        f'{{"{name}":"{secret}"}}',
    ):
        whole = redactor().text(text)
        assert not leaks(whole, secret)
        assert streamed(text, list(range(len(text)))) == whole
        assert all(streamed(text, [cut]) == whole for cut in range(len(text)))


def test_words_of_other_scripts_alone_are_left_alone():
    text = "密码: 请输入密码。Пароль: введите пароль; токен = None\nパスワード: パスワードを入力 パスワード=${PASSWORD}\n"
    assert redactor().text(text) == text


def test_cookies_are_hidden_as_a_browser_lists_its_headers():
    text = '{"name": "Cookie", "value": "theme=dark; sid=0f4b9c2e7d1a6853c0e94d7b2f8a1c65"}'
    assert not leaks(redactor().text(text), "0f4b9c2e7d1a6853c0e94d7b2f8a1c65")
