"""Made-up secrets of many services, and the ways in which they are written down.

Owns: the generators. Every secret is drawn anew from a seed, so that no rule can know one by heart.
Must not: hold a real secret, or anybody's collection of them.
"""

from __future__ import annotations

import base64
import json
import random
import string
import uuid
from collections.abc import Callable, Iterator

LOWER, UPPER = string.ascii_lowercase + string.digits, string.ascii_uppercase + string.digits
ALNUM = string.ascii_letters + string.digits
URLSAFE = ALNUM + "_-"
HEX = "0123456789abcdef"
Draw = Callable[[random.Random], str]


def form(*parts: str | tuple[str, int]) -> Draw:
    """A secret of literals and of so many letters drawn from an alphabet."""

    def draw(rng: random.Random) -> str:
        return "".join(
            part if isinstance(part, str) else "".join(rng.choices(part[0], k=part[1])) for part in parts
        )

    return draw


def jwt(rng: random.Random) -> str:
    """Three parts, the first two of which are JSON."""
    head, body = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "HS256", "typ": "JWT"}, {"sub": str(rng.random()), "exp": rng.randrange(10**9)})
    )
    return f"{head}.{body}.{form((URLSAFE, 43))(rng)}"


def pem(rng: random.Random) -> str:
    """The inside of a private key."""
    return "\n".join("".join(rng.choices(ALNUM + "+/", k=64)) for _ in range(12)) + "=="


BROKERED: dict[str, Draw] = {
    "anthropic": form("sk-ant-api03-", (URLSAFE, 93), "AA"),
    "anthropic-oauth": form("sk-ant-oat01-", (URLSAFE, 86), "AA"),
    "openai": form("sk-", (ALNUM, 20), "T3BlbkFJ", (ALNUM, 20)),
    "openai-project": form("sk-proj-", (URLSAFE, 74), "T3BlbkFJ", (URLSAFE, 74)),
    "openai-service": form("sk-svcacct-", (URLSAFE, 74)),
    "google": form("AIza", (URLSAFE, 35)),
    "google-oauth": form("ya29.a0", (URLSAFE, 120)),
    "google-client": form("GOCSPX-", (URLSAFE, 28)),
    "google-refresh": form("1//0", (URLSAFE, 60)),
    "github": form("ghp_", (ALNUM, 36)),
    "github-oauth": form("gho_", (ALNUM, 36)),
    "github-copilot": form("ghu_", (ALNUM, 36)),
    "github-fine": form("github_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "dashscope": form("sk-", (HEX, 32)),
    "deepseek": form("sk-", (HEX, 32)),
    "moonshot": form("sk-", (ALNUM, 48)),
    "openrouter": form("sk-or-v1-", (HEX, 64)),
    "bedrock": form("ABSK", (ALNUM + "+/", 120)),
    "aws-id": form("AKIA", (UPPER, 16)),
    "aws-session-id": form("ASIA", (UPPER, 16)),
    "groq": form("gsk_", (ALNUM, 52)),
    "xai": form("xai-", (ALNUM, 80)),
    "perplexity": form("pplx-", (ALNUM, 48)),
    "cerebras": form("csk-", (LOWER, 48)),
    "nvidia": form("nvapi-", (URLSAFE, 64)),
    "huggingface": form("hf_", (ALNUM, 34)),
    "replicate": form("r8_", (ALNUM, 37)),
}
"""Keys of every provider hub brokers, where they have a form of their own: found wherever they stand."""

NAMED: dict[str, tuple[str, Draw]] = {
    "aws-secret": ("aws_secret_access_key", form((ALNUM + "+/", 40))),
    "mistral": ("MISTRAL_API_KEY", form((ALNUM, 32))),
    "cohere": ("COHERE_API_KEY", form((ALNUM, 40))),
    "azure-openai": ("AZURE_OPENAI_API_KEY", form((HEX, 32))),
    "together": ("TOGETHER_API_KEY", form((HEX, 64))),
    "unknown-hex": ("acmeToken", form((HEX, 40))),
    "unknown-lower": ("vendor_secret", form((LOWER, 24))),
    "unknown-short": ("serviceToken", form((LOWER, 16))),
    "unknown-uuid": ("X-Api-Key", lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4))),
    "unknown-prefixed": ("clientSecret", form("acme_live_", (ALNUM, 30))),
    "unknown-number": ("client_id", form(("123456789", 1), (string.digits, 17))),
    "password": ("DB_PASSWORD", form((ALNUM, 6), "!", (ALNUM, 6), "7")),
}
"""Keys without a form: found where their name stands before them."""

COMMON: dict[str, Draw] = {
    "gitlab": form("glpat-", (URLSAFE, 20)),
    "slack": form("xoxb-", (string.digits, 12), "-", (string.digits, 12), "-", (ALNUM, 24)),
    "stripe": form("sk_live_", (ALNUM, 24)),
    "npm": form("npm_", (ALNUM, 36)),
    "sendgrid": form("SG.", (URLSAFE, 22), ".", (URLSAFE, 43)),
    "digitalocean": form("dop_v1_", (HEX, 64)),
    "shopify": form("shpat_", (HEX, 32)),
    "vault": form("hvs.", (URLSAFE, 90)),
    "linear": form("lin_api_", (ALNUM, 40)),
    "docker": form("dckr_pat_", (URLSAFE, 27)),
    "jwt": jwt,
}
"""Keys of other services that have a form of their own."""


SERVICES = (
    "cloudflare",
    "datadog",
    "fastly",
    "netlify",
    "facebook",
    "discord",
    "dropbox",
    "linear",
    "mapbox",
)
"""Services whose keys have no form, so that an engine goes by their name; with no word of secrets in it."""


def about(*parts: str | tuple[str, int]) -> Draw:
    """A text about some service: `form` behind its name."""

    def draw(rng: random.Random) -> str:
        return rng.choice(SERVICES) + form(*parts)(rng)

    return draw


WITHOUT: dict[str, Draw] = {
    "commit": form("commit ", (HEX, 40), " (HEAD -> main)"),
    "picked commit": about(": fix of the client (cherry picked from commit ", (HEX, 40), ")"),
    "pinned action": about("/setup-action@", (HEX, 40), " # v4"),
    "request of a service": about(" request id: ", (HEX, 32)),
    "commit of a service": about(': "', (HEX, 40), '"'),
    "digest of a service": about(': "', (HEX, 32), '"'),
    "object of a service": about(': "', (ALNUM, 40), '"'),
    "image": form("image: acme/agent@sha256:", (HEX, 64)),
    "integrity": form('"integrity": "sha512-', (ALNUM + "+/", 86), '=="'),
    "module": form("example.com/acme/sdk v1.2.3 h1:", (ALNUM + "+/", 43), "="),
    "build": form("assets/index-", (ALNUM, 8), ".js"),
    "tool call": form('"tool_use_id": "toolu_01', (ALNUM, 22), '"'),
    "message": form('"id": "msg_01', (ALNUM, 22), '"'),
    "session": lambda rng: f"session {uuid.UUID(int=rng.getrandbits(128), version=4)} began",
    "page": form('nextPageToken: "', (ALNUM, 20), '"'),
    "public key": form('public_key = "', (HEX, 66), '"'),
    "key's id": form("key_id: ", (HEX, 16)),
    "path": form("TOKEN_FILE=/run/secrets/", (LOWER, 20)),
    "variable": form('api_key = os.environ["ACME_', (UPPER, 12), '"]'),
    "placeholder": form('token = "your-token-here-', (string.digits, 4), '"'),
    "address on a chain": form("token=0x", (HEX, 40)),
    "retired key": form("CLOUDFLARE_ORIGIN_CA: v1.0-", (HEX, 24), "-", (HEX, 146)),
}
"""Texts without a secret, each as random as one: ids, digests, places, what is public, what opens nothing."""


def written(name: str, value: str) -> Iterator[str]:
    """A value assigned to a name, as the languages, formats and shells write it."""
    camel = name[:1].lower() + name[1:]
    yield from (
        f"{name}={value}",
        f'export {name}="{value}"',
        f"{name}: {value}",
        f"  {name}: '{value}'",
        f'{{\n  "{name}": "{value}"\n}}',
        json.dumps({"text": json.dumps({name: value})}),
        json.dumps({"file": f"{name.upper()}={value}\nDEBUG=true"}),
        f"<{name}>\n    {value}\n</{name}>",
        f'var {camel} string = "{value}"',
        f'const {camel}: string = "{value}";',
        f"{camel} := `{value}`",
        f'${camel} .= "{value}"',
        f'System.setProperty("{name}", "{value}")',
        f'  "{name}" => "{value}"',
        f'{name} ?= "{value}"',
        f'- name: {name}\n  value: "{value}"',
        f"--{name.lower().replace('_', '-')}={value}",
    )


def told(value: str) -> Iterator[str]:
    """A value that stands for itself, as agents and programs print it."""
    yield from (
        value,
        f"the key is {value}, keep it",
        f"({value})",
        f"https://api.example.com/v1/models?key={value}&alt=json",
        f"export KEY\\n{value}\\n",
        json.dumps({"out": f"line one\n{value}\nline three"}),
        f"curl -H 'Authorization: Bearer {value}' https://api.example.com",
        f"`{value}`",
    )
