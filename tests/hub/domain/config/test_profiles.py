"""The list of profiles: those of `hub.toml` are the user's, the others can be changed over the API."""

from hub.api.convert import unstructure
from hub.api.tables import read_profile
from hub.domain.config.model import ProfileSettings
from hub.domain.config.profiles import MAX_PROFILES, removed, together, upserted
from hub.errors import Code
from tests.refusals import refuses

FAST, DEEP = (
    ProfileSettings("fast", ("claude",)),
    ProfileSettings("deep", ("codex", "claude"), ("bug",), ("tdd",), "think"),
)
KNOWN = ("claude", "codex")


def refused(code, call, *args):
    with refuses(code) as caught:
        call(*args)
    return caught.value


def test_what_is_told_can_be_read_back():
    assert read_profile(unstructure(DEEP), KNOWN) == DEEP
    assert list(unstructure(DEEP)) == ["name", "chain", "kinds", "skills", "contextHint"]


def test_every_problem_is_told_with_its_place():
    error = refused(
        Code.INVALID, read_profile, {"name": " ", "chain": ["Claude"], "contextHint": "\0"}, KNOWN
    )
    assert [entry["path"] for entry in error.extra["errors"]] == ["$.name", "$.chain[0]", "$.contextHint"]
    assert "and 2 more" in error.detail


def test_a_chain_names_providers_that_exist():
    error = refused(Code.INVALID, read_profile, {"name": "p", "chain": ["claude", "cluade"]}, KNOWN)
    assert error.extra["errors"] == [
        {"path": "$.chain[1]", "message": "'cluade' is no provider; known are claude, codex"}
    ]


def test_a_configured_profile_stands_before_a_stored_one_of_its_name():
    other = ProfileSettings("fast", ("codex",))
    assert together([FAST], [other, DEEP]) == (FAST, DEEP)


def test_an_upsert_keeps_the_place():
    changed = ProfileSettings("fast", ("codex",))
    assert upserted([], [FAST, DEEP], changed) == (changed, DEEP)
    assert upserted([], [FAST], DEEP) == (FAST, DEEP)


def test_a_profile_of_the_configuration_is_changed_there():
    refused(Code.INVALID, upserted, [FAST], [], ProfileSettings("fast"))
    refused(Code.INVALID, removed, [FAST], [], "fast")
    assert upserted([FAST], [DEEP], FAST) == (DEEP,), "what a GET answered can be sent back"


def test_a_removal_names_one_that_is_there():
    assert removed([], [FAST, DEEP], "fast") == (DEEP,)
    refused(Code.NOT_FOUND, removed, [], [FAST], "deep")


def test_there_is_an_end_to_profiles():
    full = [ProfileSettings(f"p{number}") for number in range(MAX_PROFILES)]
    refused(Code.INVALID, upserted, [], full, FAST)
    assert len(upserted([], full, ProfileSettings("p3", ("claude",)))) == MAX_PROFILES
