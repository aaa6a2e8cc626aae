"""`.hub/.env` holds keys and nothing that acts: security rows 16 to 18."""

import os
import stat

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from hub.errors import Code, HubError
from hub.io.secrets.dotenv import MAX_VALUE, read_env, write_env
from tests.refusals import refuses

ALLOWED = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "PATH")


@pytest.fixture
def place(tmp_path):
    return tmp_path / ".env"


def test_no_file_is_no_keys(place):
    assert read_env(place, ALLOWED) == {}


def test_what_is_written_is_read_and_only_the_owner_may(place, open_umask):
    write_env(place, "ANTHROPIC_API_KEY", "sk", ALLOWED)
    assert read_env(place, ALLOWED) == {"ANTHROPIC_API_KEY": "sk"}
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_comments_and_other_names_stay(place):
    place.write_text("# mine\nexport OTHER='x y' # c\nANTHROPIC_API_KEY=old\n\nLAST=1")
    write_env(place, "ANTHROPIC_API_KEY", "new", ALLOWED)
    write_env(place, "OPENAI_API_KEY", "o", ALLOWED)
    write_env(place, "ANTHROPIC_API_KEY", None, ALLOWED)
    assert place.read_text() == "# mine\nexport OTHER='x y' # c\n\nLAST=1\nOPENAI_API_KEY='o'\n"
    assert read_env(place, ALLOWED) == {"OPENAI_API_KEY": "o"}


def test_nothing_is_interpolated_and_only_allowed_names_are_read(place):
    place.write_text("OPENAI_API_KEY=${HOME}$HOME\nANTHROPIC_API_KEY\nPATH=/evil\nOTHER=1\n= broken\n")
    assert read_env(place, ALLOWED) == {"OPENAI_API_KEY": "${HOME}$HOME"}


@pytest.mark.parametrize(
    "name", ["A=1\nB", "LD_PRELOAD", "PATH", "GIT_SSH_COMMAND", "OTHER_API_KEY", "", "a"]
)
def test_names_that_are_not_allowed_are_refused(place, name):
    with refuses(Code.INVALID):
        write_env(place, name, "x", ALLOWED)
    assert not place.exists()


@pytest.mark.parametrize("value", ["a\nb", "a\rb", "a\0b", "a\u2028b", "\ud800", "x" * (MAX_VALUE + 1)])
def test_values_that_could_be_two_lines_are_refused_and_not_repeated(place, value):
    with refuses(Code.INVALID) as caught:
        write_env(place, "OPENAI_API_KEY", value, ALLOWED)
    assert value not in caught.value.detail


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), max_size=40))
@example("${HOME}")
@example("'\"\\' # x")
@example(" trailing ")
@example("\\")
def test_any_value_of_one_line_comes_back_as_it_was(place, value):
    write_env(place, "OPENAI_API_KEY", value, ALLOWED)
    assert read_env(place, ALLOWED) == {"OPENAI_API_KEY": value}
    assert place.read_text().count("\n") == 1


def test_a_link_is_not_followed(place, tmp_path):
    target = tmp_path / "bashrc"
    target.write_text("OPENAI_API_KEY=x\n")
    place.symlink_to(target)
    for act in (lambda: read_env(place, ALLOWED), lambda: write_env(place, "OPENAI_API_KEY", "y", ALLOWED)):
        with refuses(Code.NO_PERMISSION):
            act()
    assert target.read_text() == "OPENAI_API_KEY=x\n"


def test_a_pipe_does_not_hang(place):
    os.mkfifo(place)
    with refuses(Code.NO_PERMISSION):
        read_env(place, ALLOWED)


def test_a_file_others_may_read_is_made_private(place):
    place.write_text("OPENAI_API_KEY=x\n")
    place.chmod(0o644)
    assert read_env(place, ALLOWED) == {"OPENAI_API_KEY": "x"}
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_file_is_refused(place):
    place.write_text("OPENAI_API_KEY=x\n")
    os.chown(place, 12345, 12345)
    with pytest.raises(HubError, match="another user"):
        read_env(place, ALLOWED)


def test_a_byte_order_mark_is_skipped_and_other_bytes_are_refused(place):
    place.write_bytes(b"\xef\xbb\xbfOPENAI_API_KEY=x\n")
    assert read_env(place, ALLOWED) == {"OPENAI_API_KEY": "x"}
    place.write_bytes(b"OPENAI_API_KEY=\xff\n")
    with pytest.raises(HubError, match="not UTF-8"):
        read_env(place, ALLOWED)


def test_a_file_that_cannot_be_kept_as_it_is_is_left_alone(place):
    """A quote that is not closed would swallow the line that is added."""
    place.write_text("OTHER='unclosed")
    with pytest.raises(HubError, match="cannot be changed safely"):
        write_env(place, "OPENAI_API_KEY", "it's", ALLOWED)
    assert place.read_text() == "OTHER='unclosed"
