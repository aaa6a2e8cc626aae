"""The contract: frozen bytes of version 1, signatures, and every refusal."""

import json
from pathlib import Path

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.api.schema import Schemas
from hub.domain import contract as contracts
from hub.domain.canonical import canonical
from hub.domain.contract import (
    MAX_CHANGES,
    Anchor,
    Contract,
    ContractInvalid,
    Evidence,
    EvidenceKind,
    ManifestEntry,
    Refusal,
    Snippet,
    Sourced,
    _mac,
    change_evidence,
    encode,
    sign,
    to_json,
    verify,
)
from hub.errors import Code
from tests.described import described

KEY = bytes(range(32))
V1_BYTES = (Path(__file__).parent / "fixtures" / "contract-v1.json").read_bytes()
V1 = Contract(
    version=1,
    contract_id="c-1",
    session_id="s-1",
    task_id="t-1",
    task_goal="Fix the parser",
    next_action="write the test",
    do_not_redo=("renamed the module",),
    acceptance_assertions=("make test",),
    file_manifest=(
        ManifestEntry(
            "src/größe.py", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", modified=True
        ),
    ),
    decisions=(Sourced("use a B-tree", 3),),
    constraints=(Sourced("must not touch the schema", 4),),
    snapshot_commit_sha="0123456789abcdef0123456789abcdef01234567",
)
V2 = attrs.evolve(
    V1,
    version=2,
    initial_prompt="Fix the parser",
    plan=("read", "write"),
    tasks_remaining=("write",),
    skills_loaded=("a", "b"),
    skills_in_use=("a",),
    skills_to_use=("b",),
    in_flight_code=(Snippet("src/größe.py", "def f():"),),
    audit=Anchor(9, "0" * 64),
    handoff_id="h-1",
    created_at="2026-01-02T03:04:05.678Z",
    from_provider="claude",
    to_provider="codex",
    evidence=(
        Evidence(EvidenceKind.COMMAND, "make test", 5, 1),
        Evidence(EvidenceKind.INTERRUPT, "no safe point", 6),
    ),
)
SIGNED = encode(sign(V2, KEY))

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
texts = st.lists(text, max_size=3).map(tuple)
ids = st.integers(0, 2**53 - 1)
drafts = st.builds(
    Contract,
    contract_id=text,
    session_id=text,
    task_id=text,
    task_goal=text,
    snapshot_commit_sha=text,
    version=st.just(2),
    next_action=text,
    do_not_redo=texts,
    decisions=st.lists(st.builds(Sourced, text, ids), max_size=3).map(tuple),
    file_manifest=st.lists(st.builds(ManifestEntry, text, text, st.booleans()), max_size=3).map(tuple),
    evidence=st.lists(
        st.builds(Evidence, st.sampled_from(EvidenceKind), text, ids, st.none() | st.integers(0, 255)),
        max_size=3,
    ).map(tuple),
    audit=st.none() | st.builds(Anchor, ids, text),
    in_flight_code=st.lists(st.builds(Snippet, text, text), max_size=2).map(tuple),
)


def refused(data: bytes, key: bytes = KEY, **binding: str) -> Refusal:
    with pytest.raises(ContractInvalid) as caught:
        verify(data, key, **{"session_id": "s-1", **binding})
    assert caught.value.code is Code.CONTRACT_INVALID
    assert caught.value.problem()["reason"] == caught.value.reason
    return caught.value.reason


def signed_as_is(wire: dict) -> bytes:
    """Bytes with a right signature, whatever the members say."""
    return canonical({**wire, "signature": _mac(wire, KEY)})


def test_version_1_has_the_bytes_it_had_before_there_was_a_version_2():
    """The fixture was signed with openssl, not with hub."""
    assert encode(sign(V1, KEY)) == V1_BYTES
    assert verify(V1_BYTES, KEY, session_id="s-1") == sign(V1, KEY)


def test_version_1_omits_the_whole_intent_block_even_where_it_is_filled():
    assert to_json(attrs.evolve(V2, version=1)) == to_json(V1)


def test_version_2_has_every_member_the_specification_names():
    specified = {
        "contractId", "sessionId", "taskId", "version", "taskGoal", "nextAction", "doNotRedo", "initialPrompt", "plan",
        "tasksRemaining", "skillsLoaded", "skillsInUse", "skillsToUse", "inFlightCode", "acceptanceAssertions",
        "fileManifest", "decisions", "constraints", "snapshotCommitSHA", "signature",
    }  # fmt: skip
    extras = {"audit", "handoffId", "createdAt", "fromProvider", "toProvider", "evidence"}
    assert set(to_json(V2)) == specified | extras


SERVED = json.loads(SIGNED)


@pytest.mark.parametrize(
    "wire",
    [
        SERVED,
        json.loads(V1_BYTES),
        {name: value for name, value in SERVED.items() if name not in contracts._OPTIONAL[2]},
    ],
    ids=["version 2", "version 1", "without extras"],
)
def test_what_is_signed_is_as_the_api_describes_it(wire):
    """`GET /api/contract` was described as an object and no more, so that nobody noticed a member that nobody knows."""
    assert described("GET", "/api/contract", wire) is wire


@pytest.mark.parametrize(
    "wire",
    [
        {**SERVED, "strange": 1},
        {**SERVED, "audit": {**SERVED["audit"], "strange": 1}},
        {**SERVED, "evidence": [{"exitCode": 1, "kind": "command", "text": "make test", "source": 5}]},
        {**SERVED, "plan": "write"},
        {name: value for name, value in SERVED.items() if name != "snapshotCommitSHA"},
    ],
)
def test_what_is_not_described_is_noticed(wire):
    with pytest.raises(AssertionError, match="not answered as described"):
        described("GET", "/api/contract", wire)


def test_the_api_describes_every_member_by_its_name():
    known = Schemas()
    known.of(Contract)
    assert set(known.components["Contract"]["properties"]) == set(SERVED)
    assert set(known.components["Evidence"]["properties"]) == set(SERVED["evidence"][0])
    assert known.components["Contract"]["properties"]["plan"] == {
        "type": "array",
        "items": {"type": "string"},
        "default": [],
    }


def test_the_shapes_of_the_nested_members():
    wire = to_json(V2)
    assert wire["inFlightCode"] == [{"path": "src/größe.py", "snippet": "def f():"}]
    assert wire["decisions"] == [{"text": "use a B-tree", "source": 3}]
    assert wire["audit"] == {"seq": 9, "hash": "0" * 64}
    assert set(wire["fileManifest"][0]) == {"path", "sha256", "modified"}


@given(drafts)
@settings(max_examples=60)
def test_what_was_signed_verifies_and_is_the_same(draft):
    data = encode(sign(draft, KEY))
    again = verify(
        data,
        KEY,
        session_id=draft.session_id,
        handoff_id=draft.handoff_id,
        snapshot=draft.snapshot_commit_sha,
    )
    assert again == sign(draft, KEY)


def test_a_contract_of_the_specifications_members_alone_verifies():
    wire = {name: value for name, value in to_json(V2).items() if name not in contracts._OPTIONAL[2]}
    assert verify(signed_as_is(wire), KEY, session_id="s-1").plan == ("read", "write")


def test_the_signature_is_not_over_itself():
    assert sign(V2, KEY) == sign(attrs.evolve(V2, signature="x"), KEY)


@given(st.integers(0, len(SIGNED) * 8 - 1))
@settings(max_examples=150)
def test_every_flipped_bit_is_refused(bit):
    data = bytearray(SIGNED)
    data[bit // 8] ^= 1 << bit % 8
    assert refused(bytes(data)) in {Refusal.NOT_JSON, Refusal.NOT_CANONICAL, Refusal.BAD_SIGNATURE}


def test_another_key_is_refused():
    """X12: the key was rotated."""
    assert refused(SIGNED, bytes(32)) is Refusal.BAD_SIGNATURE


@pytest.mark.parametrize("given_signature", ["", "0" * 64, "ä", None, 5, ["x"]])
def test_a_planted_contract_without_the_key_is_refused(given_signature):
    """Security row 25: the agent wrote a contract of valid shape itself."""
    assert refused(canonical({**to_json(V2), "signature": given_signature})) is Refusal.BAD_SIGNATURE


def test_a_contract_without_signature_is_refused():
    wire = to_json(V2)
    del wire["signature"]
    assert refused(canonical(wire)) is Refusal.BAD_SIGNATURE


@pytest.mark.parametrize(
    "data", [b"", b"{", b"[]", b'"x"', b'{"version":1,"version":2}', b"\xff", b"[" * 100_000, b'{"a":NaN}']
)
def test_what_is_not_strict_json_is_refused(data):
    assert refused(data) is Refusal.NOT_JSON


@pytest.mark.parametrize(
    "data",
    [
        SIGNED + b"\n",
        b" " + SIGNED,
        json.dumps(json.loads(SIGNED)).encode(),
        SIGNED.replace(b'"seq":9', b'"seq":9.0'),
    ],
)
def test_other_bytes_of_the_same_value_are_refused(data):
    assert refused(data) is Refusal.NOT_CANONICAL


@pytest.mark.parametrize("version", [0, 3, True, "2", None])
def test_an_unknown_version_is_refused_though_signed(version):
    assert refused(signed_as_is({**to_json(V2), "version": version})) is Refusal.UNKNOWN_VERSION


@pytest.mark.parametrize(
    "change",
    [
        {"extra": 1},
        {"plan": "read"},
        {"evidence": [{"kind": "rumour"}]},
        {"audit": {"seq": "9"}},
        {"taskGoal": None},
    ],
)
def test_members_that_do_not_validate_are_refused_though_signed(change):
    assert refused(signed_as_is({**to_json(V2), **change})) is Refusal.INVALID


def test_a_missing_member_and_an_intent_block_in_version_1_are_refused():
    wire = to_json(V2)
    del wire["plan"]
    assert refused(signed_as_is(wire)) is Refusal.INVALID
    assert refused(signed_as_is({**to_json(V1), "plan": []})) is Refusal.INVALID


@pytest.mark.parametrize(
    "binding", [{"session_id": "s-2"}, {"handoff_id": "h-2"}, {"handoff_id": ""}, {"snapshot": "f" * 40}]
)
def test_a_replayed_contract_of_another_session_handoff_or_snapshot_is_refused(binding):
    """Security row 26."""
    assert refused(SIGNED, **binding) is Refusal.WRONG_BINDING


def test_an_unbound_version_1_contract_does_not_pass_for_a_handoff():
    assert refused(V1_BYTES, handoff_id="h-1") is Refusal.WRONG_BINDING


def test_a_short_key_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="32 bytes"):
        sign(V2, b"short")


def test_an_unknown_version_is_not_written():
    with pytest.raises(ValueError, match="version 3"):
        encode(attrs.evolve(V2, version=3))


def test_changed_files_are_told_with_how_much_of_them():
    found = change_evidence([("a b.py", "+3 -1"), ("c.png", "binary file")])
    assert [(one.kind, one.text) for one in found] == [
        ("change", "+3 -1 a b.py"),
        ("change", "binary file c.png"),
    ]
    assert len(change_evidence([("a", "+1 -0")] * 9999)) == MAX_CHANGES
