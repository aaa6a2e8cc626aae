"""The runner's parts by themselves: wire, spool, ladder, pump."""

from __future__ import annotations

import contextlib
import copy
import errno
import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.io.runner import files as runner_files
from hub.io.runner import wire as runner_wire
from hub.io.runner.core import DEFAULT_GRACES, Ladder, read_graces
from hub.io.runner.input import Input
from hub.io.runner.loop import READ, Loop
from hub.io.runner.pump import MUCH, Pump

# --- wire ---------------------------------------------------------------------------------------------

MESSAGES = st.lists(st.tuples(st.integers(0, 255), st.binary(max_size=50)), max_size=10)

KEY = b"k" * 32


@given(MESSAGES, st.integers(1, 30))
def test_messages_come_out_whole_however_they_are_cut(messages, step):
    data = b"".join(runner_wire.encode(kind, payload) for kind, payload in messages)
    decoder = runner_wire.Decoder(50)
    out = []
    for at in range(0, len(data), step):
        out += decoder.feed(data[at : at + step])
    assert out == messages


def test_a_message_that_announces_too_much_is_refused_before_it_comes():
    decoder = runner_wire.Decoder(10)
    assert decoder.feed(runner_wire.encode(1, b"x" * 10)) == [(1, b"x" * 10)]
    with pytest.raises(runner_wire.WireError):
        decoder.feed(runner_wire.HEAD.pack(1, 11))


@given(st.text(min_size=1, max_size=20), st.binary(max_size=20))
def test_keyed_input_survives_the_wire(key, data):
    ((kind, payload),) = runner_wire.Decoder(1000).feed(runner_wire.encode_input(key, data))
    assert (kind, runner_wire.decode_input(payload)) == (runner_wire.INPUT, (key, data))


@given(st.integers(0, 2**63), st.integers(0, 2**60), st.binary(max_size=20))
def test_a_chunk_survives_the_wire(offset, at, data):
    ((_, payload),) = runner_wire.Decoder(1000).feed(
        runner_wire.encode_chunk(runner_wire.OUT, offset, at, data)
    )
    assert runner_wire.decode_chunk(payload) == (offset, at, data)


@given(st.binary(max_size=40))
def test_hostile_payloads_raise_one_error_only(payload):
    for decode in (runner_wire.decode_json, runner_wire.decode_input, runner_wire.decode_chunk):
        try:
            decode(payload)
        except runner_wire.WireError:
            continue


# --- spool --------------------------------------------------------------------------------------------


@pytest.fixture
def in_dir(tmp_path: Path, monkeypatch) -> Path:
    """The runner stands in its run directory."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


READS = st.lists(
    st.tuples(st.integers(0, 1), st.binary(min_size=1, max_size=9), st.integers(0, 99)), max_size=15
)


@settings(deadline=None, max_examples=60)
@given(READS, st.data())
def test_a_cursor_from_anywhere_gives_the_rest_in_order_and_with_its_times(tmp_path_factory, reads, data):
    with contextlib.chdir(tmp_path_factory.mktemp("spool")):
        spool = runner_files.Spool(stderr_limit=1000)
    for stream, chunk, at in reads:
        spool.append(stream, chunk, at)
    start = [data.draw(st.integers(0, spool.ends[0])), data.draw(st.integers(0, spool.ends[1]))]
    cursor = runner_files.Cursor(spool.files, spool.index, *start)
    expected, ends = [], [0, 0]
    for stream, chunk, at in reads:
        kept = chunk[max(0, start[stream] - ends[stream]) :]
        ends[stream] += len(chunk)
        if kept:
            expected.append((stream, ends[stream] - len(kept), at, kept))
    assert list(iter(lambda: cursor.next(1000), None)) == expected
    spool.close()


def test_a_chunk_is_never_larger_than_asked(in_dir):
    spool = runner_files.Spool(stderr_limit=0)
    spool.append(0, b"abcdefgh", 5)
    cursor = runner_files.Cursor(spool.files, spool.index, 1, 0)
    assert [cursor.next(3), cursor.next(3), cursor.next(3), cursor.next(3)] == [
        (0, 1, 5, b"bcd"),
        (0, 4, 5, b"efg"),
        (0, 7, 5, b"h"),
        None,
    ]
    spool.append(0, b"i", 6)
    assert cursor.next(3) == (0, 8, 6, b"i")
    spool.close()


def test_bytes_whose_record_was_lost_are_replayed_with_the_last_known_time(in_dir):
    """The machine lost power between the two files: the bytes are synced, the index is not."""
    spool = runner_files.Spool(stderr_limit=0)
    spool.append(0, b"one", 1)
    spool.append(0, b"two", 2)
    os.truncate(runner_files.INDEX, runner_files.RECORD.size + 7)
    cursor = runner_files.Cursor(spool.files, spool.index, 0, 0)
    assert cursor.next(10) == (0, 0, 1, b"one")
    assert cursor.next(10) is None
    assert cursor.rest(10) == (0, 3, 1, b"two")
    assert cursor.rest(10) is None
    spool.close()


def test_a_whole_file_is_there_or_the_one_before(in_dir):
    runner_files.write_json("state.json", {"n": 1}, KEY)
    with pytest.raises(TypeError):
        runner_files.write_json("state.json", {"n": object()}, KEY)
    assert runner_files.read_json("state.json", KEY) == {"n": 1}
    assert runner_files.read_json("nothing.json") is None


@pytest.mark.parametrize(
    "text", ['{"n": 1}', '{"n": 1,"seal":"' + "0" * 64 + '"}', "", "\\0", '{"n": 1,"seal":"x"}']
)
def test_a_file_that_the_runner_did_not_seal_is_not_read(in_dir, text):
    """Nothing of a forged verdict is even parsed."""
    Path("verdict.json").write_text(text)
    with pytest.raises(runner_files.UnsealedError):
        runner_files.read_json("verdict.json", KEY)


def test_a_seal_is_for_one_name_and_one_key(in_dir):
    runner_files.write_json("verdict.json", {"n": 1}, KEY)
    Path("verdict.json").rename("claim")
    with pytest.raises(runner_files.UnsealedError):
        runner_files.read_json("claim", KEY)
    Path("claim").rename("verdict.json")
    assert runner_files.read_json("verdict.json", KEY) == {"n": 1}
    with pytest.raises(runner_files.UnsealedError):
        runner_files.read_json("verdict.json", bytes(32))


def test_a_claim_is_taken_once_and_a_planted_link_is_not_followed(in_dir):
    assert runner_files.claim({"pid": 1}, KEY)
    assert not runner_files.claim({"pid": 2}, KEY)
    assert runner_files.read_json("claim", KEY) == {"pid": 1}
    Path("linked").symlink_to("claim")
    with pytest.raises(OSError, match="symbolic link"):
        runner_files.read_json("linked")
    assert sorted(one.name for one in in_dir.iterdir()) == ["claim", "linked"]


# --- ladder -------------------------------------------------------------------------------------------

GRACES = st.tuples(*[st.sampled_from([0.0, 0.5, 1.0, 9.0])] * 3)


def steps(ladder: Ladder) -> list[tuple[int, float]]:
    return list(iter(ladder.step, None))


@given(GRACES)
def test_a_ladder_rises_skips_zeros_and_ends_with_sigkill(graces):
    ladder = Ladder()
    assert ladder.begin("why", graces)
    order = [(signal.SIGINT, graces[0]), (signal.SIGTERM, graces[1]), (signal.SIGKILL, graces[2])]
    assert steps(ladder) == [(n, g) for n, g in order if g or n == signal.SIGKILL]


@given(GRACES, GRACES, st.integers(0, 2))
def test_a_second_stop_never_repeats_adds_or_lengthens_a_step(first, second, taken):
    ladder = Ladder()
    ladder.begin("first", first)
    before = [ladder.step() for _ in range(taken)]
    rest = dict(steps(copy.deepcopy(ladder)))
    hurried = ladder.begin("second", second)
    after = steps(ladder)
    assert ladder.reason == "first"
    assert hurried == (len(after) < len(rest))
    assert all(number in rest and grace <= rest[number] for number, grace in after)
    assert not {number for number, _ in after} & {step[0] for step in before if step}


@pytest.mark.parametrize(
    ("value", "graces"),
    [
        (None, DEFAULT_GRACES),
        ([1, 2, 3], (1, 2, 3)),
        ([0], (0, *DEFAULT_GRACES[1:])),
        (["x", -1, 4], (*DEFAULT_GRACES[:2], 4)),
        ("123", DEFAULT_GRACES),
    ],
)
def test_graces_from_outside_are_numbers_or_the_defaults(value, graces):
    assert read_graces(value) == graces


# --- pump ---------------------------------------------------------------------------------------------


@pytest.fixture
def loop() -> Iterator[Loop]:
    """The runner's loop in this process; Trio does not run meanwhile."""
    loop = Loop()
    yield loop
    loop.close()


@attrs.define
class Clock:
    """The runner's time: who sleeps moves it on."""

    now: float = 100.001
    slept: list[float] = attrs.field(factory=list)

    def monotonic(self) -> float:
        return self.now

    def time_ns(self) -> int:
        return int(self.now * 1e9)

    def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 6))
        self.now += seconds


@pytest.fixture
def clock(monkeypatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("hub.io.runner.pump.time", clock)
    return clock


@pytest.fixture
def pumped(in_dir, loop, clock) -> Iterator[tuple[Pump, runner_files.Spool, int]]:
    """A pump at work, its spool, and the agent's end of the standard output."""
    spool = runner_files.Spool(stderr_limit=0)
    (out, agent), (err, agent_err) = os.pipe(), os.pipe()
    for descriptor in (out, err):
        os.set_blocking(descriptor, False)
    pump = Pump(loop, spool, (out, err), lambda _: None)
    pump.watch()
    yield pump, spool, agent
    for descriptor in (out, err, agent, agent_err):
        os.close(descriptor)
    spool.close()


def test_what_an_agent_says_in_a_row_is_one_record(pumped, loop, clock):
    """A thousand lines a second were a thousand syncs, and as many wakeups of two processes; the first line waits for none."""
    pump, spool, agent = pumped
    os.write(agent, b"one\n")
    loop.turn()
    assert spool.records == 1
    pump.rest()
    assert clock.slept == [
        0.003
    ]  # the moments are those of the clock, so all runners rest until the same one
    os.write(agent, b"two\n")
    os.write(agent, b"three\n")
    loop.turn()
    assert (spool.records, spool.ends[0]) == (2, 14)
    clock.now += 1.0
    pump.rest()
    assert len(clock.slept) == 1


def test_a_turn_in_which_nothing_was_read_does_not_rest(pumped, loop, clock):
    pump, _, agent = pumped
    os.write(agent, b"one\n")
    loop.turn()
    pump.rest()
    loop.after("something else", 0.0, lambda: None)
    loop.turn()
    pump.rest()
    assert len(clock.slept) == 1


def test_a_flood_is_not_held_back(pumped, loop, clock):
    """At one read in four milliseconds a gigabyte would take longer than it has to."""
    pump, _, agent = pumped
    os.write(agent, b"x" * MUCH)
    loop.turn()
    pump.rest()
    assert not clock.slept


def test_a_failed_sync_is_never_tried_again_and_nothing_is_forwarded_after_it(in_dir, loop):
    """After EIO the kernel has thrown the pages away: a second fsync would succeed and lie (F10)."""
    spool = runner_files.Spool(stderr_limit=0)
    reading, broken_disk = (
        os.pipe()
    )  # writes work, syncs fail with EINVAL: as EIO would, but without a bad disk
    disk, spool.files[0] = spool.files[0], broken_disk
    out, agent = os.pipe()
    err, _agent_err = os.pipe()
    told: list[str] = []
    pump = Pump(loop, spool, (out, err), told.append)
    for descriptor in (out, err):
        os.set_blocking(descriptor, False)
    pump.watch()
    os.write(agent, b"precious")
    loop.turn()
    assert told == ["broken"]
    assert pump.broken
    assert not pump.no_space
    assert (spool.ends[0], spool.records) == (0, 0)
    os.write(agent, b"more")
    assert pump.empty()
    assert (spool.ends[0], spool.records) == (0, 0)
    for descriptor in (reading, agent, err, _agent_err, out, disk):
        os.close(descriptor)
    spool.close()


def test_timers_fire_in_the_loop_and_can_be_replaced_and_cancelled(loop):
    fired: list[str] = []
    loop.after("a", 0.0, lambda: fired.append("old"))
    loop.after("a", 0.0, lambda: fired.append("a"))
    loop.after("b", 0.0, lambda: fired.append("b"))
    loop.cancel("b")
    loop.turn()
    assert fired == ["a"]


def test_a_signal_is_handled_in_the_loop_and_a_callback_may_stop_another_watch(loop):
    seen: list[object] = []
    loop.on_signal(signal.SIGUSR1, lambda: seen.append("signal"))
    os.kill(os.getpid(), signal.SIGUSR1)
    assert seen == []
    loop.turn()
    assert seen == ["signal"]
    pipes = [os.pipe(), os.pipe()]
    for reading, writing in pipes:
        os.write(writing, b"x")
        loop.watch(reading, READ, lambda _: [loop.watch(one, 0) for one, _ in pipes] and seen.append("once"))
    loop.turn()
    assert seen == ["signal", "once"]
    for pair in pipes:
        for descriptor in pair:
            os.close(descriptor)
    signal.signal(signal.SIGUSR1, signal.SIG_DFL)


# --- a disk that fills up in the middle of a record ---------------------------------------------------


def _half_of_one_write(monkeypatch, descriptor, size):
    """The next write to the descriptor brings so many bytes to the disk, and the one after it none."""
    real, left = os.write, [size]

    def write(to, data):
        if to != descriptor or not left:
            return real(to, data)
        if size := left[0]:
            left[0] = 0
            return real(to, bytes(data)[:size])
        left.clear()
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "write", write)


def test_a_key_that_was_half_written_is_not_glued_to_the_next_one(in_dir, monkeypatch):
    """A line of two halves would be no key at all: the reply behind it would be given to the agent twice."""
    ours, theirs = os.pipe()
    record = Input(theirs)
    _half_of_one_write(monkeypatch, record._record, 9)
    assert record.take("lost", b"x", 1) == "no_space"
    assert Path(runner_files.KEYS).read_bytes() == b""
    assert record.take("kept", b"x", 2) == "accepted"
    lines = Path(runner_files.KEYS).read_bytes().splitlines()
    assert [json.loads(line)["key"] for line in lines] == ["kept"]
    os.close(ours)
    record.close()


def test_an_index_record_that_was_half_written_is_not_glued_to_the_next_one(in_dir, monkeypatch):
    """Every record behind it would be read at the wrong place: the replay would have another order and other bytes."""
    spool = runner_files.Spool(stderr_limit=1000)
    spool.append(0, b"one", 1)
    real, short = os.pwrite, [spool.index]

    def write(to, data, place):
        return real(short.pop(), data[:7], place) if to in short else real(to, data, place)

    monkeypatch.setattr(os, "pwrite", write)
    with pytest.raises(OSError, match="index"):
        spool.append(0, b"two", 2)
    assert Path(runner_files.INDEX).stat().st_size == runner_files.RECORD.size + 7
    spool.retry()
    spool.append(1, b"three", 3)
    spool.close()
    whole = Path(runner_files.INDEX).read_bytes()
    assert list(runner_files.RECORD.iter_unpack(whole)) == [(3, 0, 1), (6, 0, 2), (6, 5, 3)]
