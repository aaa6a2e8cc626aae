"""The layers of the configuration: which wins, and where each value comes from."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from hub.api.tables import parse_config, parse_toml
from hub.errors import Code, HubError
from hub.io.config import file
from hub.io.config.file import user_config
from tests.refusals import refuses


def read(path: Path, user: Path | None = None, environ: dict[str, str] | None = None, **flags):
    return file.settings(path, user or path.parent / "none.toml", environ=environ or {}, flags=flags)


# --- layers ---------------------------------------------------------------------------------------------------


def test_no_file_at_all_is_the_built_in(tmp_path):
    found = read(tmp_path / "hub.toml")
    assert (found.config, found.origin) == (parse_config(""), {})
    assert found.of("session.threshold") == "built-in"


def test_flag_beats_environment_beats_project_beats_user(place, tmp_path):
    """Flag > HUB_* environment > hub.toml > user config > built-in."""
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


def test_the_users_own_file_is_found(tmp_path, monkeypatch):
    assert user_config({}).name == "config.toml"
    environ = {"HUB_CONFIG_DIR": str(tmp_path)}
    (tmp_path / "config.toml").write_text("[server]\nport = 77")
    assert file.settings(tmp_path / "hub.toml", environ=environ).config.server.port == 77


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
    with refuses(Code.CONFIG_INVALID) as caught:
        read(tmp_path / "hub.toml", None, environ, **flags)
    assert caught.value.detail.startswith(words)


def test_a_bad_file_is_named_with_its_line(place, tmp_path):
    user = tmp_path / "user.toml"
    user.write_text("\n[sever]\n")
    with pytest.raises(HubError) as caught:
        read(place, user)
    assert caught.value.detail.startswith(f"{user}:2:1: sever is not a known key")


def test_two_layers_may_contradict_each_other(tmp_path):
    """Each file is right by itself; the directory is used twice only when both count."""
    account = f'accounts]]\nlabel="x"\nconfigDir="{tmp_path}/accounts/a/x"'
    (tmp_path / "hub.toml").write_text(f"[[providers.a.{account}")
    (tmp_path / "user.toml").write_text(f"[[providers.b.{account}")
    environ = {"HUB_STATE_DIR": str(tmp_path), "HUB_TRUST": "1"}
    with pytest.raises(HubError, match="another account's directory"):
        read(tmp_path / "hub.toml", tmp_path / "user.toml", environ)


def test_bytes_that_are_not_utf8_are_told_with_their_place(place):
    place.write_bytes(b"# ok\n# \xff\n")
    with pytest.raises(HubError, match=r"hub.toml:2:3: it is not UTF-8"):
        read(place)


def test_a_byte_order_mark_is_no_part_of_the_text(place):
    place.write_bytes(b"\xef\xbb\xbf[server]\nport = 9")
    assert read(place).config.server.port == 9


def test_a_file_that_is_too_large_is_not_read(place):
    place.write_bytes(b"#" * (file.MAX_BYTES + 1))
    with refuses(Code.TOO_LARGE):
        read(place)


def test_a_link_that_leads_to_itself_is_no_file(place):
    """It was told as a mistake of hub's own."""
    place.unlink()
    place.symlink_to(place.name)
    with refuses(Code.NO_PERMISSION):
        read(place)


@pytest.mark.parametrize("part", ["a", '"a"', "'a b'", r'"\""', '"\u2028"', '"#"'])
@pytest.mark.parametrize("form", ["{} = 1", "[{}]", "a = {{{} = 1}}", "a = {{b = '''\n\" ''', {} = 1}}"])
def test_a_key_of_thousands_of_parts_is_refused_at_once(place, part, form):
    """Reading 40 kB of it took minutes, in each command, before anybody had trusted the project."""
    place.write_text("\n" + form.format(" . ".join([part] * 20_000)) + "\n")
    with refuses(Code.CONFIG_INVALID, f"hub.toml:{2 + form.count(chr(10))}:1: a key has too many parts"):
        read(place)


@pytest.mark.parametrize(
    "text",
    [
        "# " + "." * 200 + "\nx = 1",
        "# " + ", ".join(f"m{number}.py" for number in range(200)) + "\nx = 1",
        'x = "' + "a." * 200 + '"',
        "x = '" + "a." * 200 + "'",
        'x = """\n' + "a." * 200 + ' "" \\" \n"""',
        "x = [" + ", ".join(["1.5"] * 200) + "]",
        "x = {" + ", ".join(f"a.b{number} = 1" for number in range(200)) + "}",
    ],
)
def test_points_that_part_no_key_are_as_many_as_one_likes(text):
    assert parse_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize("text", ['"\\"' * 100_000, '"""' + '"\\' * 100_000, "'" * 200_001, ". " * 200_000])
def test_what_is_no_toml_is_refused_at_once(text):
    with refuses(Code.CONFIG_INVALID):
        parse_toml(text)


def test_paths_in_a_file_are_relative_to_it_or_to_the_home(place):
    place.write_text(
        '[providers.demo-first]\nscript = "steps.json"\n[providers.demo-second]\nscript = "~/steps.json"\n'
    )
    user = place.with_name("user.toml")
    user.write_text(
        '[[providers.claude.accounts]]\nlabel = "a"\nconfigDir = "~/.claude-a"\n'
        '[[providers.claude.accounts]]\nlabel = "b"'
    )
    config = read(place, user, {"HOME": "/home/me", "HUB_TRUST": "1"}).config
    assert config.provider("demo-first").script == str(place.parent / "steps.json")
    assert config.provider("demo-second").script == "/home/me/steps.json"
    assert config.account("claude", "a").config_dir == "/home/me/.claude-a"
