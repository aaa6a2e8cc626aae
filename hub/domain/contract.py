"""The continuation contract: what one agent leaves to the next, signed by hub.

Owns: the contract's fields in both versions, its canonical bytes, its signature, and the refusal of any other
bytes.
Must not: hold the key, read a file, or gather what the contract says (`hub.domain.intent.fold` does).

Rules:
 1. The signature is HMAC-SHA256, in hex, over the canonical JSON of all members but `signature`. There is no
    algorithm field and no key id: nothing in the bytes can choose how they are checked.
 2. Nothing of the bytes is believed before the signature fits, beyond what it takes to compute it.
 3. A good signature is not enough: the contract must be of this session, this handoff and this snapshot, or
    an old one could be put back.
 4. Version 1 has no intent block and no extras; its bytes are what they were before there was a version 2.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated

import attrs
import msgspec

from hub.domain.canonical import NotCanonicalError, StrictJsonError, canonical, parse_strict
from hub.domain.config.schema import called, outside
from hub.errors import Code, HubError

VERSION = 2
MIN_KEY_BYTES = 32
MAX_BYTES = 64 * 1024 * 1024
"""Of a contract's file that is read."""
MAX_CHANGES = 500
"""Files of which a contract says how much of them has changed; all of them are in its manifest."""


@attrs.frozen
class Sourced:
    """A statement and the event it was read from."""

    text: str
    source: Annotated[
        int, "Event id; 0 when it does not stem from the event log (a user's order, an adopted transcript)."
    ]


@attrs.frozen
class Snippet:
    """Code the outgoing agent was writing."""

    path: str
    snippet: str


@attrs.frozen
class ManifestEntry:
    """One file of the work."""

    path: str
    sha256: Annotated[str, 'Of the file\'s bytes in the snapshot; "" when the work deleted it.']
    modified: bool


class EvidenceKind(StrEnum):
    """What an evidence entry is about."""

    VERIFY = "verify"
    """An acceptance command hub ran."""
    COMMAND = "command"
    """A command the agent ran."""
    FAILED_ATTEMPT = "failed_attempt"
    """Something the agent tried that did not work."""
    INTERRUPT = "interrupt"
    """The agent was stopped in the middle of a tool call: no safe point came in time."""
    HARNESS = "harness"
    """A tool server the agent worked with."""
    MODEL = "model"
    """The model it worked with."""
    CLAIM = "claim"
    """Something the agent says is done, and nothing shows it."""
    DECIDED = "decided"
    """What the user, or a rule of the user's, said to the agent while it worked."""
    TURN = "turn"
    """What the agent said last, word for word."""
    FOLDER = "folder"
    """Where an agent worked that hub had not started."""
    WROTE = "wrote"
    """A file that such an agent wrote, by its own transcript."""
    CHANGE = "change"
    """A file the work has changed, with how much: `+3 -1 src/a.py`, or `binary file a.png`."""


@attrs.frozen
class Evidence:
    """One fact hub saw happen."""

    kind: EvidenceKind
    text: str
    source: int
    exit_code: int | None = attrs.field(default=None, metadata=called("exit_code"))
    output: Annotated[str, "The end of what a failing acceptance command wrote, redacted."] = ""


def change_evidence(changes: Sequence[tuple[str, str]]) -> tuple[Evidence, ...]:
    """Changed files, each a path with how much of it has changed."""
    return tuple(Evidence(EvidenceKind.CHANGE, f"{how} {path}", 0) for path, how in changes[:MAX_CHANGES])


@attrs.frozen
class Anchor:
    """A place in the audit chain."""

    seq: int
    hash: str


@attrs.frozen(kw_only=True)
class Contract:
    """Every field of both versions. A version 1 contract leaves the fields after `constraints` empty."""

    contract_id: str
    session_id: str
    task_id: str
    task_goal: Annotated[str, "The user's own words; never an agent's."]
    snapshot_commit_sha: Annotated[str, "The commit that holds every byte of the work."] = attrs.field(
        metadata=called("snapshotCommitSHA")
    )
    version: int = VERSION
    next_action: str = ""
    do_not_redo: tuple[str, ...] = ()
    acceptance_assertions: tuple[str, ...] = ()
    file_manifest: tuple[ManifestEntry, ...] = ()
    decisions: tuple[Sourced, ...] = ()
    constraints: tuple[Sourced, ...] = ()
    signature: Annotated[str, "HMAC-SHA256, in hex, of the canonical form of all other members."] = ""

    initial_prompt: str = ""
    plan: tuple[str, ...] = ()
    tasks_remaining: tuple[str, ...] = ()
    skills_loaded: tuple[str, ...] = ()
    skills_in_use: tuple[str, ...] = ()
    skills_to_use: tuple[str, ...] = ()
    in_flight_code: tuple[Snippet, ...] = ()

    audit: Annotated[Anchor | None, "The audit chain's head when the contract was made."] = None
    handoff_id: str = ""
    created_at: str = ""
    from_provider: str = ""
    to_provider: str = ""
    evidence: tuple[Evidence, ...] = ()


_FIELDS = [field.name for field in attrs.fields(Contract)]
_INTENT, _EXTRAS = _FIELDS.index("initial_prompt"), _FIELDS.index("audit")
"""From where on version 1 has none of them, and version 2 need not."""
_WIRE = {field.name: outside(field) for field in attrs.fields(Contract)}
_WRITTEN: Mapping[int, Mapping[str, str]] = {1: {name: _WIRE[name] for name in _FIELDS[:_INTENT]}, 2: _WIRE}
_OPTIONAL: Mapping[int, frozenset[str]] = {
    1: frozenset(),
    2: frozenset(_WIRE[name] for name in _FIELDS[_EXTRAS:]),
}


class Refusal(StrEnum):
    """Why bytes are not a contract to act on."""

    GONE = "gone"
    NOT_JSON = "not_json"
    NOT_CANONICAL = "not_canonical"
    BAD_SIGNATURE = "bad_signature"
    UNKNOWN_VERSION = "unknown_version"
    INVALID = "invalid"
    WRONG_BINDING = "wrong_binding"


class ContractInvalid(HubError):
    """The contract must not be given to an agent."""

    def __init__(self, reason: Refusal, detail: str) -> None:
        super().__init__(Code.CONTRACT_INVALID, f"The contract was refused: {detail}.", reason=reason.value)
        self.reason = reason


def to_json(contract: Contract) -> dict[str, object]:
    """The members of the contract's version, as JSON values.

    Raises:
        ValueError: The version is unknown.
    """
    names = _WRITTEN.get(contract.version)
    if names is None:
        raise ValueError(f"contract version {contract.version} is unknown")
    values = msgspec.to_builtins(contract)
    return {wire: _listed(values[name]) for name, wire in names.items()}


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def encode(contract: Contract) -> bytes:
    """The canonical bytes: what `.hub/envelope.json` holds."""
    return canonical(to_json(contract))


def sign(contract: Contract, key: bytes) -> Contract:
    """The contract with its signature.

    Raises:
        ValueError: The key is shorter than 32 bytes.
    """
    return attrs.evolve(contract, signature=_mac(to_json(contract), key))


def verify(
    data: bytes,
    key: bytes,
    *,
    session_id: str | None = None,
    handoff_id: str | None = None,
    snapshot: str | None = None,
) -> Contract:
    """The contract in `data`, after every check.

    Args:
        data: The bytes as they were found.
        key: The contract key.
        session_id: The session it must be of; None asks nothing.
        handoff_id: The handoff it must be of; None asks nothing.
        snapshot: The snapshot commit it must be of; None asks nothing.

    Raises:
        ContractInvalid: With the reason. Takes the same time for every wrong signature.
    """
    wire = _parse(data)
    given = wire.get("signature")
    if not isinstance(given, str) or not hmac.compare_digest(given.encode(), _mac(wire, key).encode()):
        raise ContractInvalid(Refusal.BAD_SIGNATURE, "its signature does not fit")
    contract = _structure(wire)
    _bound("session", contract.session_id, session_id)
    _bound("handoff", contract.handoff_id, handoff_id)
    _bound("snapshot", contract.snapshot_commit_sha, snapshot)
    return contract


def _mac(wire: Mapping[str, object], key: bytes) -> str:
    if len(key) < MIN_KEY_BYTES:
        raise ValueError(f"a contract key has at least {MIN_KEY_BYTES} bytes")
    unsigned = {name: value for name, value in wire.items() if name != "signature"}
    return hmac.new(key, canonical(unsigned), hashlib.sha256).hexdigest()


def _parse(data: bytes) -> dict[str, object]:
    try:
        wire = parse_strict(data)
    except StrictJsonError as error:
        raise ContractInvalid(Refusal.NOT_JSON, f"it is not strict JSON ({error})") from error
    if not isinstance(wire, dict):
        raise ContractInvalid(Refusal.NOT_JSON, "it is not an object")
    if not _is_canonical(wire, data):
        raise ContractInvalid(Refusal.NOT_CANONICAL, "its bytes are not in canonical form")
    return wire


def _is_canonical(wire: Mapping[str, object], data: bytes) -> bool:
    try:
        return canonical(wire) == data
    except NotCanonicalError:
        return False


def _structure(wire: Mapping[str, object]) -> Contract:
    version = wire.get("version")
    if type(version) is not int or version not in _WRITTEN:
        raise ContractInvalid(Refusal.UNKNOWN_VERSION, f"its version {version!r} is unknown")
    names = {member: name for name, member in _WRITTEN[version].items()}
    strange = sorted(wire.keys() - names.keys())
    missing = sorted(names.keys() - wire.keys() - _OPTIONAL[version])
    if strange or missing:
        raise ContractInvalid(Refusal.INVALID, f"members unknown: {strange}, missing: {missing}")
    try:
        return msgspec.convert(
            {names[member]: value for member, value in wire.items()}, Contract, strict=True
        )
    except msgspec.ValidationError as error:
        raise ContractInvalid(Refusal.INVALID, f"a member does not validate ({error})") from error


def _bound(what: str, found: str, expected: str | None) -> None:
    if expected is not None and found != expected:
        raise ContractInvalid(Refusal.WRONG_BINDING, f"it is of {what} {found!r}, not of {expected!r}")
