"""The contract's fields, from the intent and what hub itself knows.

Owns: which field says what.
Must not: sign, or put an agent's words where the user's belong (goal, acceptance commands).
"""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from hub.domain.contract import Contract, Evidence, EvidenceKind, Snippet, Sourced
from hub.domain.intent.fold import Intent, mend_text
from hub.domain.intent.statements import alike
from hub.domain.result.proof import Proofs


def draft(
    known: Contract,
    intent: Intent,
    *,
    verify_evidence: tuple[Evidence, ...] = (),
    more_evidence: tuple[Evidence, ...] = (),
    claims: tuple[Sourced, ...] = (),
    skills: tuple[str, ...] = (),
    proofs: Proofs | None = None,
) -> Contract:
    """The unsigned contract: what hub itself knows (goal, commands, files, snapshot), with the intent.

    An acceptance command that failed is the next action where there is no other. What is said to be done, in the intent or
    among `claims`, is believed where `proofs` shows it (None = always); the rest is told as a claim, and is not to be redone
    only where it is a step that the agent's plan has ticked off. `skills` are those that the user's profile wants used,
    `more_evidence` is what hub saw besides the intent.
    """
    failing = [
        mend_text(e.text) for e in verify_evidence if e.kind is EvidenceKind.VERIFY and e.exit_code != 0
    ]
    shown = [
        item
        for item in intent.do_not_redo
        if proofs is None or item in intent.done or proofs.shows(item.text)
    ]
    said = {alike(item.text): item for item in (*intent.do_not_redo, *claims)}
    unshown = [item for item in said.values() if proofs is not None and not proofs.shows(item.text)]
    return attrs.evolve(
        known,
        next_action=intent.next_action.text if intent.next_action else next(iter(failing), ""),
        do_not_redo=_texts(shown),
        decisions=intent.decisions,
        constraints=intent.constraints,
        initial_prompt=intent.initial_prompt,
        plan=_texts(intent.plan),
        tasks_remaining=_texts(intent.tasks_remaining),
        skills_loaded=_texts(intent.skills_loaded),
        skills_in_use=_texts(intent.skills_in_use),
        skills_to_use=tuple(dict.fromkeys((*skills, *_texts(intent.skills_to_use)))),
        in_flight_code=tuple(Snippet(code.path, code.snippet) for code in intent.in_flight_code),
        evidence=(
            *verify_evidence,
            *_evidence(intent),
            *(Evidence(EvidenceKind.CLAIM, item.text, item.source) for item in unshown),
            *more_evidence,
        ),
    )


def _evidence(intent: Intent) -> tuple[Evidence, ...]:
    return (
        *(Evidence(EvidenceKind.COMMAND, c.command, c.source, c.exit_code) for c in intent.commands),
        *(Evidence(EvidenceKind.FAILED_ATTEMPT, a.text, a.source) for a in intent.failed_attempts),
        *(Evidence(EvidenceKind.MODEL, m.text, m.source) for m in (intent.model,) if m),
        *(Evidence(EvidenceKind.HARNESS, h.text, h.source) for h in intent.mcps),
    )


def _texts(items: Iterable[Sourced]) -> tuple[str, ...]:
    return tuple(item.text for item in items)
