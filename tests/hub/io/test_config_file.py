"""The layers of the configuration, and patches that keep what the user wrote."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.domain.config import parse_config, parse_toml
from hub.errors import Code, HubError
from hub.io import config_file
from hub.io.config_file import load, origins, patch, patch_provider, user_config

WRITTEN = """# my agents
[server]
port = 5 # five

[providers.claude] # the good one
model = "x"   # the big model

[session]
threshold = 0.8

[providers.codex]
enabled = true

[[profiles]]
name = "fast"
"""


@pytest.fixture
def place(tmp_path):
    path = tmp_path / "hub.toml"
    path.write_text(WRITTEN)
    return path


def read(path: Path, user: Path | None = None, environ: dict[str, str] | None = None, **flags):
    return config_file.settings(path, user or path.parent / "none.toml", environ=environ or {}, flags=flags)


# --- layers ---------------------------------------------------------------------------------------------------


def test_no_file_at_all_is_the_built_in(tmp_path):
    found = read(tmp_path / "hub.toml")
    assert (found.config, found.origin) == (parse_config(""), {})
    assert found.of("session.threshold") == "built-in"


def test_flag_beats_environment_beats_project_beats_user(place, tmp_path):
    """decisions 1: flag > HUB_* environment > hub.toml > user config > built-in."""
    user = tmp_path / "user.toml"
    user.write_text(
        "[server]\nport = 1\nhost = '::1'\n[session]\nthreshold = 0.1\nretries = 9\n[providers.claude]\nprogram='c'"
    )
    environ = {"HUB_PORT": "2", "HUB_THRESHOLD": "0.2", "HUB_HOST": ""}
    found = read(place, user, environ, port=3, threshold=None)
    assert (found.config.server.port, found.of("server.port")) == (3, "--port")
    assert (found.config.session.threshold, found.of("session.threshold")) == (0.2, "HUB_THRESHOLD")
    assert (found.config.server.host, found.of("server.host")) == ("::1", str(user))
    assert found.of("providers.claude.model") == str(place)
    assert found.config.provider("claude").program == "c"
    assert found.of("session.pauseGrace") == "built-in"
    assert found.config.session.retries == 9


def test_load_and_origins_are_the_two_halves(place):
    none = place.parent / "none.toml"
    assert load(place, none, environ={}).server.port == 5
    assert (
        origins(place, none, environ={}, flags={"max_handoffs": 2})["session.maxHandoffs"] == "--max-handoffs"
    )


def test_the_users_own_file_is_found(tmp_path, monkeypatch):
    assert user_config({}).name == "config.toml"
    environ = {"HUB_CONFIG_DIR": str(tmp_path)}
    (tmp_path / "config.toml").write_text("[server]\nport = 77")
    assert load(tmp_path / "hub.toml", environ=environ).server.port == 77


def test_environment_and_flags_are_typed():
    environ = {
        "HUB_CHAIN": "claude, codex,",
        "HUB_TOKEN": "0123456789abcdef",
        "HUB_MAX_HANDOFFS": "0",
        "HUB_ON_LIMIT": "stop",
        "HUB_DEMO": "yes",
        "HUB_DEMO_SCRIPT": "/x/steps.json",
    }
    config = read(Path("/nonexistent/hub.toml"), None, environ, verify=("true",)).config
    assert config.session.chain == ("claude", "codex")
    assert (config.session.max_handoffs, config.session.on_limit, config.session.verify) == (
        0,
        "stop",
        ("true",),
    )
    assert config.enabled_providers(["demo-first", "demo-second"]) == ("demo-first", "demo-second")
    assert config.provider("demo-second").options == {"script": "/x/steps.json"}


@pytest.mark.parametrize(
    ("environ", "flags", "words"),
    [
        ({"HUB_PORT": "http"}, {}, "HUB_PORT: server.port must be a whole number"),
        ({"HUB_PORT": "70000"}, {}, "HUB_PORT: server.port must be a whole number from 0 to 65535"),
        ({"HUB_DEMO": "maybe"}, {}, "HUB_DEMO: providers.demo-first.enabled must be true or false"),
        ({}, {"on_limit": "never"}, "--on-limit: session.onLimit must be one of"),
    ],
)
def test_a_bad_variable_or_option_is_named(tmp_path, environ, flags, words):
    with pytest.raises(HubError) as caught:
        read(tmp_path / "hub.toml", None, environ, **flags)
    assert caught.value.code is Code.CONFIG_INVALID
    assert caught.value.detail.startswith(words)


def test_a_bad_file_is_named_with_its_line(place, tmp_path):
    user = tmp_path / "user.toml"
    user.write_text("\n[sever]\n")
    with pytest.raises(HubError) as caught:
        read(place, user)
    assert caught.value.detail.startswith(f"{user}:2:1: sever is not a known key")


def test_two_layers_may_contradict_each_other(tmp_path):
    """Each file is right by itself; the directory is used twice only when both count."""
    (tmp_path / "hub.toml").write_text('[[providers.a.accounts]]\nlabel="x"\nconfigDir="/d"')
    (tmp_path / "user.toml").write_text('[[providers.b.accounts]]\nlabel="x"\nconfigDir="/d"')
    with pytest.raises(HubError, match="another account's directory"):
        read(tmp_path / "hub.toml", tmp_path / "user.toml")


def test_bytes_that_are_not_utf8_are_told_with_their_place(place):
    place.write_bytes(b"# ok\n# \xff\n")
    with pytest.raises(HubError, match=r"hub.toml:2:3: it is not UTF-8"):
        read(place)


def test_a_byte_order_mark_is_no_part_of_the_text(place):
    place.write_bytes(b"\xef\xbb\xbf[server]\nport = 9")
    assert read(place).config.server.port == 9


def test_a_file_that_is_too_large_is_not_read(place):
    place.write_bytes(b"#" * (config_file.MAX_BYTES + 1))
    with pytest.raises(HubError) as caught:
        read(place)
    assert caught.value.code is Code.TOO_LARGE


def test_paths_in_a_file_are_relative_to_it_or_to_the_home(place):
    place.write_text(
        '[providers.demo-first]\nscript = "steps.json"\n[providers.demo-second]\nscript = "~/steps.json"\n'
        '[[providers.claude.accounts]]\nlabel = "a"\nconfigDir = "~/.claude-a"\n'
        '[[providers.claude.accounts]]\nlabel = "b"'
    )
    config = read(place, None, {"HOME": "/home/me"}).config
    assert config.provider("demo-first").script == str(place.parent / "steps.json")
    assert config.provider("demo-second").script == "/home/me/steps.json"
    assert config.account("claude", "a").config_dir == "/home/me/.claude-a"


# --- patches --------------------------------------------------------------------------------------------------


def test_a_patch_keeps_comments_and_order(place):
    config = patch_provider(place, "claude", {"model": "y", "enabled": False})
    assert (config.provider("claude").model, config.provider("claude").enabled) == ("y", False)
    text = place.read_text()
    assert [line for line in WRITTEN.splitlines() if line not in text.splitlines()] == [
        'model = "x"   # the big model'
    ]
    assert 'model = "y"   # the big model' in text
    assert text.index("[server]") < text.index("[providers.claude] # the good one") < text.index("[session]")


def test_a_patch_adds_and_removes(place):
    patch_provider(place, "gemini", {"declaredCap": 5, "baseUrl": "http://127.0.0.1:1"})
    assert read(place).config.provider("gemini").declared_cap == 5
    patch_provider(place, "gemini", {"declaredCap": None, "model": None})
    assert read(place).config.provider("gemini").declared_cap is None
    before = place.read_text()
    patch_provider(place, "nobody", {"model": None})
    assert place.read_text() == before


def test_a_patch_makes_the_file(tmp_path):
    path = tmp_path / "hub.toml"
    patch_provider(path, "claude", {"enabled": True})
    assert read(path).config.provider("claude").enabled is True
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_patch_writes_accounts(place):
    accounts = [{"label": "work", "configDir": "/w", "active": True}, {"label": "home"}]
    config = patch(place, {("providers", "claude", "accounts"): accounts, ("session", "threshold"): 0.5})
    assert [account.label for account in config.accounts("claude")] == ["work", "home"]
    assert "# the good one" in place.read_text()


@pytest.mark.parametrize(
    "text", ["providers = { claude = { model = 'x' } } # c\n", "providers.claude.model = 'x' # c\n"]
)
def test_a_patch_of_inline_and_dotted_tables_is_right_or_refused(place, text):
    place.write_text(text)
    try:
        patch_provider(place, "claude", {"model": "y"})
    except HubError:
        assert place.read_text() == text
    else:
        assert read(place).config.provider("claude").model == "y"
        assert "# c" in place.read_text()


def test_a_value_cannot_break_out(place):
    """security row 15: the value is a value, whatever it looks like."""
    evil = 'x"\n[evil]\nverify = "rm"'
    assert patch_provider(place, "claude", {"model": evil}).provider("claude").model == evil
    assert set(parse_toml(place.read_text())) == {"server", "providers", "session", "profiles"}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("a.b]\n[c", {"model": "x"}),
        ("claude", {"modle": "x"}),
        ("claude", {"declaredCap": -1}),
        ("claude", {"declaredCap": True}),
        ("claude", {"baseUrl": "javascript:x"}),
        ("claude", {"env": {"LD_PRELOAD": "x"}}),
    ],
)
def test_a_patch_that_does_not_validate_changes_nothing(place, name, changes):
    with pytest.raises(HubError) as caught:
        patch_provider(place, name, changes)
    assert caught.value.code is Code.CONFIG_INVALID
    assert place.read_text() == WRITTEN


def test_a_file_that_is_broken_already_is_not_patched(place):
    place.write_text("[server\n")
    with pytest.raises(HubError, match=r"hub.toml:1:8"):
        patch_provider(place, "claude", {"model": "y"})
    assert place.read_text() == "[server\n"


def test_a_value_in_the_way_is_not_overwritten(place):
    with pytest.raises(HubError, match="port is not a table"):
        patch(place, {("server", "port", "x"): 1})
    assert place.read_text() == WRITTEN


def test_a_patch_that_changes_nothing_does_not_touch_the_file(place):
    before = place.stat()
    patch_provider(place, "claude", {"model": "x"})
    assert place.stat().st_ino == before.st_ino


def test_a_text_that_does_not_read_back_the_same_is_not_written(place, monkeypatch):
    """Should tomlkit ever lose something, the user's file stays."""
    import tomlkit

    monkeypatch.setattr(tomlkit, "dumps", lambda _: "[server]\nport = 6\n")
    with pytest.raises(HubError, match="without losing something") as caught:
        patch_provider(place, "claude", {"model": "y"})
    assert "providers.claude.model" in caught.value.hint
    assert place.read_text() == WRITTEN


def test_a_linked_file_stays_a_link(place, tmp_path):
    """People keep their dot-files in a repository and link them."""
    link = tmp_path / "link.toml"
    link.symlink_to(place)
    patch_provider(link, "claude", {"model": "y"})
    assert link.is_symlink()
    assert 'model = "y"' in place.read_text()


texts = st.text(st.characters(blacklist_categories=("Cs",), blacklist_characters="\0"), max_size=30)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50)
@given(
    st.dictionaries(st.sampled_from(["model", "program", "script"]), texts | st.none(), min_size=1),
    st.sampled_from(["claude", "codex", "new"]),
)
def test_whatever_is_patched_is_read_back_and_the_rest_is_as_it_was(place, changes, name):
    place.write_text(WRITTEN)
    patch_provider(place, name, changes)
    wanted = parse_toml(WRITTEN)
    table = wanted["providers"].setdefault(name, {})
    for key, value in changes.items():
        table.pop(key, None) if value is None else table.__setitem__(key, value)
    found = parse_toml(place.read_text())
    assert (
        found if found["providers"].get(name) else {**found, "providers": {**found["providers"], name: {}}}
    ) == wanted
    assert "# five" in place.read_text()
    assert list(place.parent.iterdir()) == [place]
