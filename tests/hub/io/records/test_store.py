"""Durable records: what is read back, what is refused and why, and what becomes of a file that is not believed.

The samples in `old_records` are bytes as the hub of each older form wrote them, named `<file>-<version>.json`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.actors.approvals.store import FORM as APPROVALS
from hub.actors.outcomes import FORM as OUTCOMES
from hub.actors.quota.store import FORM as QUOTA
from hub.domain.approval import ApprovalState, By
from hub.domain.pipeline.state import NodeOutcome, NodeState
from hub.errors import Code, HubError
from hub.io.files import sealed
from hub.io.records import breakers, pipelines
from hub.io.records.store import Corruption, RecordCorrupt, RecordForm, RecordStore
from hub.io.runner import replies
from tests.refusals import refuses

OLD = Path(__file__).parent / "old_records"
FORMS = {
    "pipeline-run-1.json": pipelines._RUN,
    "approvals-1.json": APPROVALS,
    "breakers-0.json": breakers._FORM,
    "quota-0.json": QUOTA,
    "outcomes-0.json": OUTCOMES,
    "replies-0.json": replies.FORM,
}


@attrs.frozen
class Row:
    row_name: str
    share: float = 0.0
    counts: dict[str, int] = attrs.field(factory=dict)


@attrs.frozen
class Table:
    rows: tuple[Row, ...] = ()
    place: tuple[str, int] = ("", 0)


FORM = RecordForm(Table, "The table", version=2, older={1: lambda wire: Table(place=(wire["name"], 1))})
FULL = Table((Row("a \u2028 \U0001f600", 0.1, {"z_z": 1, "a": 2}), Row("b", 3.0)), ("here", 7))


@pytest.fixture
def path(tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    made = tmp_path / "project" / ".hub"
    made.mkdir(parents=True, mode=0o700)
    return made / "table.json"


@pytest.fixture
def store(path):
    return RecordStore(path, FORM, hint="Begin anew.")


def refused(data: bytes, form: RecordForm[Any] = FORM) -> Corruption:
    with pytest.raises(RecordCorrupt) as caught:
        form.decode(data)
    assert caught.value.code is Code.STATE_CORRUPT
    assert caught.value.problem()["reason"] == caught.value.reason
    return caught.value.reason


def with_crc(wire: dict[str, Any]) -> bytes:
    """Bytes with a right checksum, whatever the fields say."""
    from hub.io.records.store import _crc

    return msgspec.json.encode({**wire, "crc": _crc(wire)})


def bent(**changes: Any) -> bytes:
    wire = msgspec.json.decode(FORM.encode(FULL))
    del wire["crc"]
    return with_crc({**wire, **changes})


# --- the form -----------------------------------------------------------------------------------------


def test_a_record_has_its_fields_in_camel_case_its_version_and_a_checksum():
    wire = json.loads(FORM.encode(FULL))
    assert wire.keys() == {"rows", "place", "v", "crc"}
    assert wire["v"] == 2
    assert wire["rows"][0]["rowName"] == FULL.rows[0].row_name


@given(st.lists(st.builds(Row, st.text(st.characters(codec="utf-8")), st.floats(allow_nan=False, allow_infinity=False), st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=3), st.integers(-(2**63), 2**64 - 1)))).map(tuple))  # fmt: skip
def test_what_is_written_is_read_back_in_its_order(rows):
    """Of what is kept by use the order tells what goes first."""
    table = FORM.decode(FORM.encode(Table(rows)))
    assert table == Table(rows)
    assert [list(row.counts) for row in table.rows] == [list(row.counts) for row in rows]


@given(st.integers(1, len(FORM.encode(FULL)) - 1))
def test_every_truncation_is_refused_as_such(length):
    assert refused(FORM.encode(FULL)[:length]) is Corruption.TRUNCATED


@given(st.integers(0, len(FORM.encode(FULL)) * 8 - 1))
@settings(max_examples=200)
def test_every_flipped_bit_is_refused(bit):
    data = bytearray(FORM.encode(FULL))
    data[bit // 8] ^= 1 << bit % 8
    assert refused(bytes(data)) in set(Corruption)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", Corruption.EMPTY),
        (b" \n", Corruption.EMPTY),
        (b"hello", Corruption.DAMAGED),
        (FORM.encode(FULL) + b"x", Corruption.DAMAGED),
        (b"\xff", Corruption.DAMAGED),
        (b"null", Corruption.DAMAGED),
        (b"[1]", Corruption.DAMAGED),
        (b"{}", Corruption.DAMAGED),
        (b'{"v":"2"}', Corruption.DAMAGED),
        (b'{"v":0}', Corruption.DAMAGED),
        (b'{"v":2}', Corruption.DAMAGED),
        (b"[" * 100_000, Corruption.DAMAGED),
        (b'{"v":2,"crc":"0","rows":[1' + b"0" * 400 + b"]}", Corruption.DAMAGED),
        (b'{"v":3}', Corruption.NEWER_VERSION),
        (b'{"v":3,"crc":"of another kind"}', Corruption.NEWER_VERSION),
        (bent(rows=[{}]), Corruption.INVALID),
        (bent(rows=[{"rowName": 5}]), Corruption.INVALID),
        (bent(rows="ab"), Corruption.INVALID),
        (bent(place=["x"]), Corruption.INVALID),
        (bent(place=["x", "y"]), Corruption.INVALID),
        (b'{"v":1}', Corruption.INVALID),
        (b'{"v":1,"name":"n","crc":"0"}', Corruption.DAMAGED),
    ],
)
def test_bytes_that_are_no_record_are_refused(data, reason):
    """A damaged record is never guessed at."""
    assert refused(data) is reason


def test_every_wrong_field_is_told_with_its_place():
    with pytest.raises(RecordCorrupt, match=r"\$\.rows\[1\]\.share: Expected `number`, got `string`"):
        FORM.decode(bent(rows=[{"rowName": "a"}, {"rowName": "b", "share": "1"}]))


def test_a_member_that_nobody_knows_is_passed_over():
    """A newer hub added it, with a default, under the same version."""
    assert FORM.decode(bent(rows=[{"rowName": "a", "new": 1}], more={"x": []})).rows == (Row("a"),)


# --- older forms --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMS)
def test_what_an_older_hub_wrote_is_read_and_written_in_the_new_form(name):
    form = FORMS[name]
    value = form.decode((OLD / name).read_bytes())
    new = form.encode(value)
    assert json.loads(new)["v"] == form.version > int(name[-6])
    assert form.decode(new) == value
    assert json.loads((OLD / name).read_bytes()) != json.loads(new)


def test_the_samples_are_all_there_are():
    assert {path.name for path in OLD.iterdir()} == FORMS.keys()


def test_old_bytes_mean_what_they_meant():
    run = FORMS["pipeline-run-1.json"].decode((OLD / "pipeline-run-1.json").read_bytes())
    a, b = run.nodes
    assert (run.run_id, run.seq, a.state, a.how, a.snapshot) == (
        "p-1",
        3,
        NodeState.COMPLETED,
        NodeOutcome.EXECUTED,
        "b" * 40,
    )
    assert (b.error.code, run.definition("b").depends_on, b.verified) == (Code.VERIFY_FAILED, ("a",), None)
    one, two = APPROVALS.decode((OLD / "approvals-1.json").read_bytes()).approvals
    assert one.request.context["input"] == {"timeout_ms": 1.5, "some_list": [1, None]}
    assert (two.state, two.by, two.told, two.note) == (ApprovalState.DENIED, By.USER, True, "not today")
    first, second = FORMS["breakers-0.json"].decode((OLD / "breakers-0.json").read_bytes()).breakers
    assert (first.opened_at, first.until, first.trial, first.seen_at) == (1_767_225_600.25, 1_767_229_200.0, "d-9", 1_767_225_599.125)  # fmt: skip
    assert (second.provider, second.opened_at) == ("codex", None)
    kept = QUOTA.decode((OLD / "quota-0.json").read_bytes()).store()
    key = ("claude", "work", "five_hour")
    assert (kept.cursor, kept.warned, kept.burns[key].last.used_permille) == (
        41,
        {key: (1_767_220_000.0, 2)},
        420,
    )
    assert kept.elsewhere.places == {"/home/u/.claude/a_b.jsonl": 2048}


def test_an_old_record_that_was_damaged_is_refused():
    data = (OLD / "pipeline-run-1.json").read_bytes().replace(b'"p-1"', b'"p-2"')
    assert refused(data, FORMS["pipeline-run-1.json"]) is Corruption.DAMAGED


# --- the place ----------------------------------------------------------------------------------------


def test_a_record_is_kept_and_found_again(store):
    assert store.load() == (None, None)
    store.save(FULL)
    assert store.look() == FULL
    assert store.load() == (FULL, None)


def test_one_that_was_damaged_is_kept_aside_and_said(store, path):
    store.save(FULL)
    path.write_bytes(path.read_bytes().replace(b"here", b"hare"))
    with pytest.raises(RecordCorrupt, match="The table: its checksum does not fit"):
        store.look()
    found, damage = store.load()
    (aside,) = path.parent.glob("table.json.corrupt-*")
    assert found is None
    assert (damage.code, damage.detail) == (
        Code.STATE_CORRUPT,
        f"The table: its checksum does not fit; the file was kept as {aside.name}.",
    )
    assert b"hare" in aside.read_bytes()
    store.save(FULL)
    assert store.load() == (FULL, None)


def test_one_that_is_whole_and_another_s_is_kept_aside_and_said(store, path):
    path.write_bytes(FORM.encode(FULL))
    found, damage = store.load()
    (aside,) = path.parent.glob("table.json.unsealed-*")
    assert (found, damage.code, damage.hint) == (None, Code.NOT_SEALED, "Begin anew.")
    assert aside.name in damage.detail
    assert aside.read_bytes() == FORM.encode(FULL)


def test_a_newer_hub_s_is_left_and_nothing_is_written_over_it(store, path):
    sealed.write_sealed(path, b'{"v":3,"other":"form"}')
    before = path.read_bytes()
    found, damage = store.load()
    assert (found, damage.code) == (None, Code.STATE_CORRUPT)
    assert damage.detail == "The table: it has version 3, this hub reads up to 2; it was left as it is."
    assert "newer hub" in damage.hint
    with pytest.raises(HubError) as caught:
        store.save(FULL)
    assert caught.value is damage
    assert [(each.name, each.read_bytes()) for each in path.parent.iterdir()] == [("table.json", before)]


@pytest.mark.parametrize("name", FORMS)
def test_every_record_leaves_a_newer_hub_s_alone(name, path):
    store = RecordStore(path, FORMS[name])
    sealed.write_sealed(path, b'{"v":99}')
    assert store.load() == (None, store.refused)
    with pytest.raises(HubError):
        store.save(FORMS[name].decode((OLD / name).read_bytes()))


def test_a_disk_that_fails_is_no_damage(store, path, monkeypatch):
    """What cannot be read now may be whole: it is not put aside, and nobody may go on as if there were none."""
    import errno

    store.save(FULL)

    def fail(*_args, **_more):
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as broken:
        broken.setattr("hub.io.records.store.read_bounded", fail)
        with refuses(Code.DISK_FAILED):
            store.load()
    with monkeypatch.context() as broken:
        broken.setattr("hub.io.files.sealed.write_atomic", fail)
        with refuses(Code.READ_ONLY):
            store.save(Table())
    assert store.load() == (FULL, None)
