"""The Handoff Fidelity Score: how much of the truth a contract carries, and nothing else.

Owns: the reading of a contract as claims, and the score.
Must not: gather facts (`hub.domain.fidelity.gold` does), check a signature or hash a tree (the caller tells), or take
an agent's word that something is done (`hub.domain.result.proof` says what shows it).

hfs = round(100 * I * phi * sum(w * R) * P^2), where
 R    per facet, the weighted share of gold facts the contract claims; a facet without facts is dropped and
      the weights are shared out anew;
 P    the share of the contract's claims that the log supports and that nothing later contradicts;
 I    1 if the contract is audited and free of secrets, else 0 (of one that is not signed or canonical there is no score);
 phi  1 if the receiver found the very tree of the snapshot, else 0.

Only a supported claim counts as found, so inventing cannot pay. All arithmetic is exact: no order of events
or of claims, and no machine, changes a digit.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from fractions import Fraction

import attrs

from hub.domain.contract import Contract, Evidence, EvidenceKind
from hub.domain.fidelity.fact import WEIGHTS, Facet, Facts, Key, code, norm, status
from hub.domain.intent.activity import below
from hub.domain.result.proof import Proofs

_DONE = "done "
_NO_CLAIMS = frozenset(
    {
        EvidenceKind.INTERRUPT,
        EvidenceKind.DECIDED,
        EvidenceKind.TURN,
        EvidenceKind.CHANGE,
        EvidenceKind.FOLDER,
        EvidenceKind.WROTE,
    }
)


@attrs.frozen
class Fidelity:
    """The score and what it is made of."""

    hfs: int
    """0 to 100."""
    exact: Fraction
    """The same before rounding, 0 to 1."""
    per_class: Mapping[str, float]
    """Recall by facet; a facet without facts is not in it."""
    missing: tuple[str, ...]
    """Gold facts the contract does not carry, `facet: fact`, sorted."""
    unsupported: tuple[str, ...]
    """Claims the log does not support, `facet: claim`, sorted."""


@attrs.frozen
class Claim:
    """One thing a contract says; any of its keys may be the fact that supports it."""

    keys: tuple[Key, ...]
    source: int | None = None
    """The event the contract names; None where the contract's form has no place for one."""


def weigh(
    facts: Facts,
    contract: Contract,
    *,
    audited: bool,
    secret_free: bool,
    tree_matches: bool,
    root: str = "",
    snapshot_paths: Collection[str] | None = None,
    proofs: Proofs | None = None,
) -> Fidelity:
    """The contract's fidelity to the facts.

    Args:
        facts: Of the log up to the contract.
        contract: As the receiver got it: its bytes were canonical, and their signature fitted.
        audited: The contract's hash is in an intact audit chain.
        secret_free: Nothing in it looks like a secret.
        tree_matches: The worktree's tree hash at take-over was the snapshot's.
        root: The worktree, as a prefix of the paths in the log.
        snapshot_paths: The files the snapshot changed; None leaves what the log does not tell of uncounted.
        proofs: By which what an agent said to be done is believed; None = its word is enough.
    """
    claims = list(_claims(contract, facts, root, snapshot_paths))
    idle = frozenset() if proofs is None else _unshown(facts, proofs)
    found: set[Key] = set()
    unsupported: list[Key] = []
    for claim in claims:
        fitting = [key for key in claim.keys if facts.supports(key, claim.source) and key not in idle]
        found.update(fitting)
        if not fitting:
            unsupported.append(claim.keys[0])
    precision = Fraction(len(claims) - len(unsupported), len(claims)) if claims else Fraction(1)
    gold = {facet: [key for key in facts.gold(facet) if key not in idle] for facet in Facet}
    recalls = {facet: _recall(facts, keys, found) for facet, keys in gold.items() if keys}
    recall = _weighted(recalls)
    whole = audited and secret_free and tree_matches
    exact = recall * precision**2 if whole else Fraction(0)
    return Fidelity(
        hfs=round(100 * exact),
        exact=exact,
        per_class={facet.value: float(share) for facet, share in recalls.items()},
        missing=_told({key for keys in gold.values() for key in keys} - found),
        unsupported=_told(unsupported),
    )


def verified(facts: Facts, acceptance: Collection[str]) -> bool:
    """Whether the log tells that every acceptance command passed last, and there is one."""
    return bool(acceptance) and all(
        facts.supports((Facet.VERIFICATION, status(command, 0)), None) for command in acceptance
    )


def done_claims(facts: Facts) -> tuple[str, ...]:
    """What agents said to be done, in the wording of facts."""
    return tuple(
        text.removeprefix(_DONE)
        for facet, text in facts.by_key
        if facet is Facet.NEXT and text.startswith(_DONE)
    )


def _unshown(facts: Facts, proofs: Proofs) -> frozenset[Key]:
    """What agents said to be done, and nothing shows: no fact, whoever repeats it."""
    return frozenset(
        (facet, text)
        for facet, text in facts.by_key
        if facet is Facet.NEXT and text.startswith(_DONE) and not proofs.shows(text.removeprefix(_DONE))
    )


def _recall(facts: Facts, gold: Collection[Key], found: Collection[Key]) -> Fraction:
    return Fraction(sum(facts.weight(key) for key in gold if key in found), sum(map(facts.weight, gold)))


def _weighted(recalls: Mapping[Facet, Fraction]) -> Fraction:
    """Of a log without any fact nothing can be lost."""
    total = sum(WEIGHTS[facet] for facet in recalls)
    return (
        sum((WEIGHTS[f] * share for f, share in recalls.items()), Fraction(0)) / total
        if total
        else Fraction(1)
    )


def _told(keys: Iterable[Key]) -> tuple[str, ...]:
    return tuple(sorted(f"{facet}: {text}" for facet, text in keys))


def _claims(
    contract: Contract, facts: Facts, root: str, snapshot_paths: Collection[str] | None
) -> Iterator[Claim]:
    """What the contract says. An empty member says nothing."""
    for goal in filter(None, (contract.task_goal, contract.initial_prompt)):
        yield _plain(Facet.OBJECTIVE, f"goal {norm(goal)}")
    for command in contract.acceptance_assertions:
        yield _plain(Facet.OBJECTIVE, f"accept {norm(command)}")
    for said in (*contract.decisions, *contract.constraints):
        text = norm(said.text)
        yield Claim(((Facet.DECISIONS, text), (Facet.OBJECTIVE, f"order {text}")), said.source)
    if contract.snapshot_commit_sha and facts.gold(Facet.REPOSITORY):
        yield _plain(Facet.REPOSITORY, contract.snapshot_commit_sha)
    listed = {*contract.do_not_redo}
    for item in contract.evidence:
        if item.kind is not EvidenceKind.CLAIM or item.text not in listed:  # else it is a claim already
            yield from _evidence(item)
    yield from _artifacts(contract, facts, root, snapshot_paths)
    yield from _work(contract)


def _artifacts(
    contract: Contract, facts: Facts, root: str, snapshot_paths: Collection[str] | None
) -> Iterator[Claim]:
    for entry in contract.file_manifest:
        key = (Facet.ARTIFACTS, entry.path)
        # git saw more than the log tells (what a command wrote): neither for nor against the contract. The
        # tree hash vouches for it, or, where they are given, the paths of the snapshot.
        if key in facts.by_key or (snapshot_paths is not None and entry.path not in snapshot_paths):
            yield Claim((key,))
    for piece in contract.in_flight_code:
        yield _plain(Facet.ARTIFACTS, code(below(root, piece.path), piece.snippet))


def _evidence(item: Evidence) -> Iterator[Claim]:
    """No claim comes of what is hub's or git's own word, nor of a quotation: neither says how the work stands."""
    if item.kind in _NO_CLAIMS:
        return
    text, run = norm(item.text), status(item.text, item.exit_code)
    keys: Mapping[EvidenceKind, tuple[Key, ...]] = {
        EvidenceKind.VERIFY: ((Facet.VERIFICATION, run),),
        EvidenceKind.COMMAND: ((Facet.COMMANDS, run),),
        EvidenceKind.FAILED_ATTEMPT: ((Facet.FAILED_ATTEMPTS, text),),
        EvidenceKind.HARNESS: ((Facet.HARNESS, f"server {text}"),),
        EvidenceKind.MODEL: ((Facet.HARNESS, f"model {text}"),),
        EvidenceKind.CLAIM: ((Facet.NEXT, f"{_DONE}{text}"),),
    }
    yield Claim(keys[item.kind], item.source)


def _work(contract: Contract) -> Iterator[Claim]:
    for step in contract.tasks_remaining:
        yield _plain(Facet.NEXT, f"left {norm(step)}")
    for step in contract.do_not_redo:
        yield _plain(Facet.NEXT, f"{_DONE}{norm(step)}")
    for step in contract.plan:
        yield _plain(Facet.NEXT, f"plan {norm(step)}")
    if contract.next_action:
        step = norm(contract.next_action)
        yield Claim(((Facet.NEXT, f"next {step}"), (Facet.NEXT, f"left {step}")))
    for skill in (*contract.skills_loaded, *contract.skills_in_use, *contract.skills_to_use):
        yield _plain(Facet.HARNESS, f"skill {norm(skill)}")


def _plain(facet: Facet, text: str) -> Claim:
    return Claim(((facet, text),))
