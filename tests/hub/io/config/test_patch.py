"""Changes of hub.toml keep comments, order and what an editor saves meanwhile; else nothing is changed."""

import stat

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hub.api.tables import parse_config, parse_toml
from hub.errors import Code, HubError
from hub.io.config.patch import edit, patch
from tests.hub.io.config.conftest import WRITTEN
from tests.refusals import refuses


def patch_provider(path, name, changes):
    return patch(path, {("providers", name, key): value for key, value in changes.items()})


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
    assert parse_config(place.read_text()).provider("gemini").declared_cap == 5
    patch_provider(place, "gemini", {"declaredCap": None, "model": None})
    assert parse_config(place.read_text()).provider("gemini").declared_cap is None
    before = place.read_text()
    patch_provider(place, "nobody", {"model": None})
    assert place.read_text() == before


def test_a_patch_makes_the_file(tmp_path):
    path = tmp_path / "hub.toml"
    patch_provider(path, "claude", {"enabled": True})
    assert parse_config(path.read_text()).provider("claude").enabled is True
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
        assert parse_config(place.read_text()).provider("claude").model == "y"
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
    with refuses(Code.CONFIG_INVALID):
        patch_provider(place, name, changes)
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
    st.sampled_from(["claude", "codex", "qwen"]),
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


# --- somebody else writes too -----------------------------------------------------------------------------------


def while_an_editor_saves(place, texts):
    """An edit during which the user's editor saves one text after the other, each before the replacement."""
    left = list(texts)

    def change(tables):
        tables["session"]["threshold"] = 0.5
        # Both forms are edited; the editor saves in between.
        if left and type(tables) is not dict:
            place.write_text(left.pop(0))

    return change


def test_what_an_editor_saves_meanwhile_is_not_lost(place):
    """Compare-and-swap on the bytes: the change is made to the newer text."""
    newer = WRITTEN.replace("port = 5 # five", "port = 6 # six")
    config = edit(place, while_an_editor_saves(place, [newer]), "by hand")
    assert (config.server.port, config.session.threshold) == (6, 0.5)
    assert place.read_text() == newer.replace("0.8", "0.5")


def test_a_file_that_an_editor_makes_meanwhile_is_not_overwritten(tmp_path):
    path = tmp_path / "hub.toml"
    saved = []

    def change(tables):
        tables["session"] = {"threshold": 0.5}
        if type(tables) is not dict and not saved:
            saved.append(path.write_text("# mine\n"))

    edit(path, change, "by hand")
    assert path.read_text().startswith("# mine\n")
    assert parse_config(path.read_text()).session.threshold == 0.5


def test_a_file_that_never_rests_is_left_to_its_writer(place):
    texts = [WRITTEN.replace("five", f"take {number}") for number in range(20)]
    with pytest.raises(HubError) as caught:
        edit(place, while_an_editor_saves(place, texts), "by hand")
    assert (caught.value.code, caught.value.hint) == (Code.CONFIG_CHANGED, "by hand")
    assert place.read_text() in texts
    assert list(place.parent.iterdir()) == [place]


def test_a_file_keeps_its_mode(place):
    """hub.toml is the user's, and often shared with a team."""
    place.chmod(0o644)
    patch_provider(place, "claude", {"model": "y"})
    assert stat.S_IMODE(place.stat().st_mode) == 0o644
