"""hub.toml is read whole or refused with every place that is wrong."""

from __future__ import annotations

import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.api.convert import fields_of
from hub.api.tables import parse_config
from hub.domain.accounts.account import Account
from hub.domain.config import schema
from hub.domain.config.reader import Config
from hub.domain.config.values import env_name_problem
from hub.errors import Code, HubError
from tests.refusals import refuses

FULL = """
[server]
port = 0
host = "::1"
token = "0123456789abcdef"
socket = ".hub/hub.sock"
allowed_origins = ["vscode-webview://x"]

[session]
chain = ["claude", "codex"]
concurrent = 3
threshold = 1
maxHandoffs = 0
onLimit = "wait"
verify = ["make test"]
verifyTimeout = 10
verifyTries = 0
maxCost = 2.5
maxTokens = 1000000
pauseGrace = 0
silentAfter = 60.5
orphanGrace = 0
retries = 3

[worktree]
setup = ["npm ci"]
setupTimeout = 1800
copy = [".env", "config/local.toml"]
link = ["node_modules"]

[providers.claude]
enabled = true
declaredCap = 100
coAuthor = "Claude <c@example.com>"
concurrency = 2
quotaEndpoint = true
quotaUrl = "https://quota.example.org"
model = "opus"
baseUrl = "http://127.0.0.1:1/v1"
program = "/opt/claude"
env = { ANTHROPIC_API_KEY = "k" }
options = { anything = [1, { x = 2 }] }

[[providers.claude.accounts]]
label = "home"
[[providers.claude.accounts]]
label = "work"
configDir = "~/claude-work"
active = true
env = { CLAUDE_CODE_OAUTH_TOKEN = "t" }

[providers.demo-first]
script = "steps.json"

[providers.goose]
kind = "acp"
command = "goose acp --with 'a b'"
displayName = "Goose"
keyNames = ["OPENAI_API_KEY"]
homeEnv = "GOOSE_PATH_ROOT"
baseUrlEnv = "OPENAI_HOST"
modelEnv = "GOOSE_MODEL"

[[profiles]]
name = "careful"
chain = ["codex"]
kinds = ["fix"]
skills = ["review"]
contextHint = "tests first"

[[pipelines]]
name = "p"
[[pipelines.nodes]]
id = "a"
provider = "claude"
task = "do"
dependsOn = []
fallback = ["codex"]
verify = ["true"]

[terminal]
command = "kitty -e 'a b'"

[[approvals]]
action = "tool"
provider = "claude"
timeout = 60
tool = "Bash"
command = "rm *"
decision = "deny"
severity = "danger"
reason = "no"

[redaction]
detection = false

[notify]
on = ["needs"]
bell = false
desktop = true
command = "say hello"
urls = ["json://127.0.0.1"]

[detect]
ambient = false
interval = 3

[vision]
enabled = true
provider = "ollama"
model = "llava"
baseUrl = "http://localhost:11434"
maxPixels = 1000
"""


def refused(text: str) -> HubError:
    with refuses(Code.CONFIG_INVALID) as caught:
        parse_config(text)
    return caught.value


def problems(text: str) -> dict[str, tuple[int, int, str]]:
    return {e["path"]: (e["line"], e["column"], e["message"]) for e in refused(text).extra["errors"]}


def test_every_setting_is_read():
    config = parse_config(FULL)
    assert (config.server.port, config.server.token, config.session.threshold) == (0, "0123456789abcdef", 1.0)
    assert config.session.chain == ("claude", "codex")
    assert config.providers["claude"].options == {"anything": [1, {"x": 2}]}
    assert config.providers["goose"].command == ("goose", "acp", "--with", "a b")
    assert config.terminal.command == ("kitty", "-e", "a b")
    assert config.profiles[0].context_hint == "tests first"
    assert config.pipelines[0].nodes[0].fallback == ("codex",)
    assert config.approvals[0].decision == "deny"
    assert config.vision.max_pixels == 1000
    assert config.redaction.detection is False
    assert (config.detect.ambient, config.detect.interval) == (False, 3.0)


def test_every_setting_is_in_the_full_example():
    """A setting that is added must be tested here."""
    known = [key for table in _tables(Config) for key in fields_of(table)]
    assert [key for key in known if key not in FULL and key not in {"stopGrace", "resumeTimeout"}] == []


def _tables(kind):
    from hub.domain.config import model as config_model

    return [
        kind,
        *(t for t in vars(config_model).values() if attrs.has(t) and t.__module__ == config_model.__name__),
    ]


def test_an_empty_file_is_the_defaults():
    assert parse_config("") == Config()
    assert Config().session.max_handoffs == 5


def test_secrets_stay_out_of_the_repr():
    assert not any(word in repr(parse_config(FULL)) for word in ("0123456789abcdef", '"k"', "'k'", "'t'"))


def test_accounts_have_the_active_one_first():
    config = parse_config(FULL)
    work = Account("work", "~/claude-work", {"CLAUDE_CODE_OAUTH_TOKEN": "t"}, active=True)
    assert config.accounts("claude") == (work, Account("home"))
    assert config.accounts("nobody") == (Account("default", active=True),)
    assert config.account("claude", "home") == Account("home")
    assert config.account("claude", "removed") == Account("removed")


def test_providers_are_on_unless_they_are_scripted_or_turned_off():
    names = ["demo-first", "claude", "codex"]
    assert Config().enabled_providers(names) == ("claude", "codex")
    text = "[providers.claude]\nenabled = false\n[providers.demo-first]\nenabled = true"
    assert parse_config(text).enabled_providers(names) == ("demo-first", "codex")


def test_a_script_is_an_option_of_its_provider():
    assert parse_config(FULL).provider("demo-first").options == {"script": "steps.json"}
    assert parse_config(FULL).provider("nobody").options == {}


def test_profile_chains():
    config = parse_config(FULL)
    assert config.profile("careful").chain == ("codex",)
    assert config.profile("").chain == ()
    with pytest.raises(HubError, match="no profile 'x'") as refused:
        config.profile("x")
    assert "careful" in refused.value.hint, "what there is"
    with pytest.raises(HubError) as refused:
        Config().profile("x")
    assert "[[profiles]]" in refused.value.hint, "or where to describe one"


def test_a_kind_of_task_finds_its_profile():
    """The first that names it; where none does, what there is."""
    assert (
        parse_config('[[profiles]]\nname = "a"\n[[profiles]]\nname = "b"\nkinds = ["docs"]').profile_for(
            "docs"
        )
        == "b"
    )
    for text, hint in [
        ('[[profiles]]\nname = "b"\nkinds = ["docs", "bug"]', "There are profiles for: bug, docs."),
        ('[[profiles]]\nname = "b"', "Give a profile `kinds` in hub.toml."),
    ]:
        with pytest.raises(HubError) as caught:
            parse_config(text).profile_for("poem")
        assert (caught.value.code, caught.value.hint) == (Code.INVALID, hint)
        assert [problem["path"] for problem in caught.value.extra["errors"]] == ["$.kind"]


def test_all_problems_are_told_at_once_each_with_its_place():
    text = """[server]
port = 99999
[session]
  treshold = 0.5
threshold = "x"
chain = ["claude",
 3]
verify = '''
a''' # one string
retries = true
[providers.claude]
env = {PATH = "x", ok = "y"}
accounts = [{label = "a"}, {labl = "b"}]
"""
    found = problems(text)
    assert found["server.port"] == (2, 1, "must be a whole number from 0 to 65535, not 99999")
    assert found["session.treshold"][:2] == (4, 3)
    assert 'did you mean "threshold"' in found["session.treshold"][2]
    assert "maxHandoffs" in found["session.treshold"][2]
    assert found["session.threshold"] == (5, 1, "must be a number above 0 and at most 1, not this string")
    assert found["session.chain[1]"][:2] == (6, 1)
    assert found["session.verify"][:2] == (8, 1)
    assert found["session.retries"] == (10, 1, "must be a whole number from 0 to 100, not a boolean")
    assert found["providers.claude.env.PATH"][:2] == (12, 1)
    assert found["providers.claude.env.ok"][:2] == (12, 1)
    assert found["providers.claude.accounts[1].label"] == (13, 1, "missing")
    assert found["providers.claude.accounts[1].labl"][:2] == (13, 1)
    assert len(found) == 10
    error = refused(text)
    assert error.detail.startswith("hub.toml:2:1: server.port must be")
    assert error.detail.endswith("(and 9 more)")
    assert (error.extra["line"], error.extra["column"]) == (2, 1)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a = ", (1, 5)),
        ('ok = 1\na = "x\n', (2, 7)),
        ("[server]\n[server]\n", (2, 8)),
        ("a = " + "[" * 5000, (1, 1)),
        ("a = " + "9" * 5000, (1, 1)),
    ],
)
def test_a_syntax_error_tells_line_and_column(text, place):
    error = refused(text)
    assert (error.extra["line"], error.extra["column"]) == place
    assert f"hub.toml:{place[0]}:{place[1]}: " in error.detail


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ('[[profiles]]\nname = "x"\n[[profiles]]\nname = "x"', "profiles[1].name", 4),
        ('[[pipelines]]\nname = "x"\n[[pipelines]]\nname = "x"', "pipelines[1].name", 4),
        (
            '[[providers.c.accounts]]\nlabel="x"\n[[providers.c.accounts]]\nlabel="x"',
            "providers.c.accounts[1].label",
            4,
        ),
        (
            '[[providers.c.accounts]]\nlabel="x"\nactive=true\n[[providers.c.accounts]]\nlabel="y"\nactive=true',
            "providers.c.accounts[1].active",
            6,
        ),
        (
            '[[providers.c.accounts]]\nlabel="x"\nconfigDir="/d"\n[[providers.d.accounts]]\nlabel="x"\nconfigDir="/d/"',
            "providers.d.accounts[0].configDir",
            6,
        ),
        (
            '[[pipelines]]\nname="p"\n[[pipelines.nodes]]\nid="a"\nprovider="c"\ntask=" "',
            "pipelines[0].nodes[0].task",
            6,
        ),
        ("[providers.Claude]\nenabled = true", "providers.Claude", 1),
        ('providers."a b".enabled = true', "providers.a b", 1),
        ("server = 1", "server", 1),
        ("providers = 1", "providers", 1),
        ("profiles = 1", "profiles", 1),
        ('[terminal]\ncommand = "a \'b"', "terminal.command", 2),
        ("[terminal]\ncommand = 1", "terminal.command", 2),
        ("[providers.c]\noptions = 1", "providers.c.options", 2),
        ("[server]\ntoken = 'short'", "server.token", 2),
        ("[server]\nport = 1979-05-27", "server.port", 2),
        ("[session]\nsilentAfter = inf", "session.silentAfter", 2),
        ("[session]\nonLimit = 'never'", "session.onLimit", 2),
        ("[vision]\nbaseUrl = 'http://user:pw@host/'", "vision.baseUrl", 2),
        ('[providers.c]\nenv = {A = "x\\ny"}', "providers.c.env.A", 2),
        ('[providers.c]\nmodel = "x\\u0000"', "providers.c.model", 2),
        ('[session]\nverify = ["true", "x\\u0000"]', "session.verify[1]", 2),
        ('[providers.c.options]\nedit_format = "x\\u0000"', "providers.c.options.edit_format", 2),
        ('[providers.c]\nenv = {A = "x\\u0000"}', "providers.c.env.A", 2),
        ('[providers.c]\nmodel = "--dangerously-skip-permissions"', "providers.c.model", 2),
        ('[providers.c.options]\nargs = ["--ok"]\nedit_format = "-c"', "providers.c.options.edit_format", 3),
        ("[[providers.c.accounts]]\nlabel='a'\nconfigDir='../x'", "providers.c.accounts[0].configDir", 3),
        ('[[providers.c.accounts]]\nlabel="\\u202ex"', "providers.c.accounts[0].label", 2),
        ("[[approvals]]\n[[approvals]]\ntool = 1", "approvals[1].tool", 3),
        ('[[approvals]]\nseverity = "critical"', "approvals[0].severity", 2),
        ('[[approvals]]\nseverity = "Warn"', "approvals[0].severity", 2),
        ("[[approvals]]\nseverity = 1", "approvals[0].severity", 2),
        ('[providers.c]\nkind = "mcp"', "providers.c.kind", 2),
        ('[providers.c]\nkind = "acp"', "providers.c", 1),
        ('[providers.c]\nkind = "acp"\ncommand = []', "providers.c", 1),
        ('[providers.c]\nkind = "acp"\ncommand = [" "]', "providers.c", 1),
        ('[providers.c]\ncommand = ["c"]', "providers.c.command", 2),
        ('[providers.c]\nmodelEnv = "C_MODEL"', "providers.c.modelEnv", 2),
        ('[providers.claude]\nkind = "acp"\ncommand = "c"', "providers.claude.kind", 2),
        (
            '[providers.c]\nkind = "acp"\ncommand = "c"\nhomeEnv = "LD_PRELOAD"',
            "providers.c.homeEnv",
            4,
        ),
        (
            '[providers.c]\nkind = "acp"\ncommand = "c"\nkeyNames = ["a"]',
            "providers.c.keyNames[0]",
            4,
        ),
    ],
)
def test_what_is_wrong_is_found_at_its_line(text, path, line):
    found = problems(text)
    assert list(found) == [path]
    assert found[path][0] == line


def test_a_secret_is_not_repeated_in_the_refusal():
    error = refused("[server]\ntoken = 'hunter2hunter'\n[providers.c]\nenv = {KEY = \"hunter2\\nhunter\"}")
    assert "hunter2" not in str(error.problem())


@pytest.mark.parametrize("name", ["ANTHROPIC_API_KEY", "A", "HTTP_PROXY", "A" * 64, "PATHS", "X_PATH"])
def test_env_names(name):
    assert env_name_problem(name) == ""


@pytest.mark.parametrize(
    "name",
    # security row 16
    [
        "",
        "a",
        "1A",
        "A-B",
        "A=1\nB",
        "A\n",
        "A" * 65,
        "LD_PRELOAD",
        "DYLD_X",
        "PYTHONPATH",
        "PYTHON",
        "NODE_OPTIONS",
        "GIT_SSH_COMMAND",
        "PATH",
        "BASH_ENV",
        "Ä",
    ],
)
def test_env_names_that_are_refused(name):
    assert env_name_problem(name) != ""


def test_locate_knows_quoted_and_dotted_keys_and_comments():
    text = '# [x]\na."b.c".d = 1\n\n[t."u v"] # [no]\n"k" = 1\n  l.m = """\n[x]\nq = 1\n"""\nn = 2\n'
    assert schema.locate(text, ("a", "b.c", "d")) == (2, 1)
    assert schema.locate(text, ("t", "u v", "k")) == (5, 1)
    assert schema.locate(text, ("t", "u v", "l")) == schema.locate(text, ("t", "u v", "l", "m")) == (6, 3)
    assert schema.locate(text, ("t", "u v", "n")) == (10, 1)
    assert schema.locate(text, ("t", "u v", "zz")) == (4, 1)
    assert schema.locate(text, ("zz",)) == (1, 1)
    assert schema.locate(text.replace("\n", "\r\n"), ("t", "u v", "n")) == (10, 1)


words = st.sampled_from(
    [
        "[server]",
        "[[profiles]]",
        "[providers.x]",
        "port = 1",
        'name = "a"',
        "chain = [",
        "]",
        "=",
        '"""',
        "'",
        "#",
        "x.y = 2",
        "\\",
    ]
)


@given(st.lists(words, max_size=8).map("\n".join) | st.text(max_size=80))
def test_any_text_is_read_or_refused_with_a_place(text):
    try:
        config = parse_config(text)
    except HubError as error:
        lines = text.split("\n")
        for problem in error.extra["errors"]:
            assert 1 <= problem["line"] <= len(lines) + 1
            assert problem["column"] >= 1
    else:
        assert isinstance(config, Config)


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("[session]\nthreshold =", "a number, true, false, or a list"),
        ("[session]\nthreshold = 0,9", "a point, as in 0.9"),
        ("[session\nretries = 1", "[table] or [[table]]"),
        ("[session]\nretries: 1", "key = value"),
        ('[session]\nverify = ["a" "b"]', "commas between the values"),
        ("[session]\nretries = 1\nretries = 2", "each key once"),
    ],
)
def test_a_syntax_error_tells_what_is_allowed(text, allowed):
    """`Invalid value` alone sent people to a manual of TOML."""
    assert allowed in refused(text).detail


def test_an_agent_that_nobody_knows_is_a_mistake():
    """A table of a misspelt agent was ignored: its settings did nothing, in silence."""
    error = refused("[providers.clade]\nenabled = false")
    assert (error.extra["line"], error.extra["column"]) == (1, 1)
    assert 'providers.clade is not a known key; did you mean "claude"?' in error.detail
    assert 'kind = "acp"' in error.detail


def test_accounts_outlive_the_agent_they_are_of():
    """hub keeps them in a file of its own; taking the agent's table out of `hub.toml` is no mistake."""
    kept = parse_config('[[providers.gone.accounts]]\nlabel = "work"\nconfigDir = "/d"')
    assert [account.label for account in kept.accounts("gone")] == ["work"]


def test_accounts_and_rules_are_taken_from_a_newer_configuration():
    """All else stays as the session began with; where nothing changed it is the very same configuration."""
    old = parse_config('[session]\nmaxHandoffs = 1\n[providers.claude]\nmodel = "x"\n')
    accounts = '[[providers.claude.accounts]]\nlabel = "a"\n[[providers.codex.accounts]]\nlabel = "b"\n'
    rules = '[[approvals]]\ntool = "Bash"\n'
    new = parse_config(f'[session]\nmaxHandoffs = 2\n[providers.claude]\nmodel = "y"\n{accounts}{rules}')
    taken = old.amended_by(new)
    assert (taken.session.max_handoffs, taken.provider("claude").model) == (1, "x")
    assert [taken.accounts(name)[0].label for name in ("claude", "codex")] == ["a", "b"]
    assert [rule.tool for rule in taken.approvals] == ["Bash"]
    assert taken.amended_by(new) is taken
    assert taken.amended_by(old) == attrs.evolve(
        old, providers={**old.providers, "codex": new.provider("codex").__class__()}, approvals=()
    )


@pytest.mark.parametrize(
    "path",
    ["../x", "/etc/passwd", "a/../../b", ".git/config", ".hub/.env", ".GIT/x", "", "a//b", "./a", "a\nb"],
)
def test_what_a_worktree_is_given_lies_in_the_project(path):
    """A copy of anything else would be a way to read it."""
    with pytest.raises(HubError):
        parse_config(f"[worktree]\ncopy = {json.dumps([path])}")


def test_what_a_worktree_is_given_is_in_no_commit():
    config = parse_config('[worktree]\ncopy = ["config/", ".env"]\nlink = ["node_modules/"]')
    assert config.worktree.apart == ("config", ".env", "node_modules")
