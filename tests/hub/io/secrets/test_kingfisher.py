"""The real engine behind the seam: what it finds, where, and what is said where it is missing."""

import random
import sys

import pytest

from hub.domain.redaction.engine import APART
from hub.io.secrets.kingfisher import Detection, installed, kind_of
from tests.redaction.made import BROKERED, COMMON

DETECTION = Detection()
SECRET = "ghp_" + "k3J9s0Lq2W" * 3 + "aB4c5D"


@pytest.fixture(scope="module")
def engine():
    found = DETECTION.load()
    if found is None:
        pytest.skip(DETECTION.trouble)
    return found


def test_a_find_has_its_place_and_its_family(engine):
    text = f"the token {SECRET} is it"
    assert engine.find(text) == [(10, 50, "github")]


def test_places_are_characters_where_the_text_is_not_ascii(engine):
    text = f"ключ ж€😀 {SECRET} тут"
    ((start, end, kind),) = engine.find(text)
    assert (text[start:end], kind) == (SECRET, "github")


def test_questions_asked_together_are_seen_as_when_asked_alone(engine):
    """What stands between them is an end to every rule of the engine: this is what asking them together rests on."""
    rng = random.Random("together")
    drawn = [draw(rng) for draw in (*BROKERED.values(), *COMMON.values()) for _ in range(4)]
    questions = [
        line.split("\n")[0] for value in drawn for line in (value, f'"acme": "{value}', f"vendor_key={value}")
    ]
    alone = [bool(engine.find(question)) for question in questions]
    assert 0.3 < sum(alone) / len(alone) < 1
    order = list(range(len(questions)))
    for _ in range(3):
        rng.shuffle(order)
        finds = engine.find(APART.join(questions[number] for number in order))
        place, seen = 0, set()
        for number in order:
            end = place + len(questions[number])
            if any(first < end and last > place for first, last, _ in finds):
                seen.add(number)
            place = end + len(APART)
        assert {number for number, found in enumerate(alone) if found} <= seen


def test_no_secret_is_shown_by_the_engine_itself(engine):
    engine.find(SECRET)
    assert SECRET not in repr(engine)
    assert SECRET not in repr(DETECTION)


def test_it_is_loaded_once(engine):
    assert DETECTION.load() is engine


def test_an_engine_that_cannot_be_loaded_is_told_and_not_tried_again(monkeypatch):
    """Rules alone must work; and that is said, never silent."""
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    detection = Detection()
    assert detection.load() is None
    assert "kingfisher_sdk" in detection.trouble
    monkeypatch.undo()
    assert detection.load() is None


def test_whether_it_is_there_is_known_without_loading_it(monkeypatch):
    assert isinstance(installed(), bool)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert not installed()


@pytest.mark.parametrize(
    ("rule", "kind"),
    [
        ("betterleaks.github-pat", "github"),
        ("veles.secrets/cloudflareapitoken", "cloudflareapitoken"),
        ("kingfisher.aws.1", "aws"),
        ("?", "engine"),
    ],
)
def test_the_family_of_a_rule_names_its_marker(rule, kind):
    assert kind_of(rule) == kind
