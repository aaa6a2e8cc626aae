"""The suite that ships with hub: every driven agent, cut at ten points and more, above its thresholds."""

import re
from pathlib import Path

import pytest

from hub.evals import labels, measure, recording, report
from hub.evals.labels import Class, Way
from hub.providers.stores import DRIVEN

RECORDINGS = list(recording.suite(report.GOLDEN))
LARGEST = 300_000
names = pytest.mark.parametrize("found", RECORDINGS, ids=lambda found: f"{found.provider}-{found.name}")


@pytest.fixture(scope="module")
def measured():
    """The figures of all recordings: seconds of work, not for whoever only collects."""
    return [one for found in RECORDINGS for one in measure.measure(found)]


def test_every_driven_agent_is_measured_on_both_ways_at_ten_cuts_and_more(measured):
    """The decision: recorded sessions of every agent that hub runs, cut at many points."""
    assert {(one.provider, one.way) for one in measured} == {(name, way) for name in DRIVEN for way in Way}
    assert min(one.cuts for one in measured) >= 10


def test_no_agent_is_below_a_threshold(measured):
    """A change that loses facts fails here; a threshold is lowered with a reason beside it, or not at all."""
    assert [str(one) for one in report.shortfalls(measured, report.thresholds(report.GOLDEN))] == []


@names
def test_every_label_quotes_its_session(found):
    """A label is what was said, planned or run in this very session, not what somebody wishes it had been."""
    text = labels.norm(
        " ".join(
            [line.decode() for line in found.stream]
            + [line for file in found.files.values() for line in file]
        )
        .replace("\\n", " ")
        .replace('\\"', '"')
        .replace("\\\\", "\\")
        .replace("''", "'")
    )
    assert [fact.words for fact in found.facts if not any(words in text for words in fact.words)] == []


@names
def test_the_store_as_it_was_grows_to_what_it_is(found, tmp_path):
    """Each moment knows at least what the one before knew: nothing of the end leaks into the beginning."""
    sizes = [sum(end for _, end in moment.files.values()) for moment in found.moments]
    assert sizes == sorted(sizes)
    lines = [moment.lines for moment in found.moments]
    assert lines == sorted(lines)
    assert lines[-1] == len(found.stream)


@names
def test_a_recording_is_small_and_names_no_machine(found):
    """It ships with the package: its folder is nobody's home, and its key was a word."""
    text = b"\n".join(found.stream).decode() + "".join("".join(file) for file in found.files.values())
    assert len(text) < LARGEST
    assert not re.search(r"(?<!<)/root|(?<!\.gemini)/tmp/|sk-[A-Za-z0-9]{8}|Bearer ", text)
    assert str(Path(__file__).resolve().parents[3]) not in text


def test_a_class_that_is_lost_is_seen():
    """The measure can fail: what is left out of what is told is missing in the figures."""
    found = next(one for one in RECORDINGS if one.provider == "codex")
    told = list(measure.over_store(found))
    assert measure.compare(found, Way.STORE, told).tallies[Class.COMMANDS].recall == 1
    poorer = [[item for item in items if item.kind is not Class.COMMANDS] for items in told]
    assert measure.compare(found, Way.STORE, poorer).tallies[Class.COMMANDS].recall == 0
