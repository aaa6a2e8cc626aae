"""Sentences in which an agent says that something is done.

Owns: the wording of such a claim.
Must not: believe one (`hub.domain.result.proof` says what shows it).

More is a claim than is taken for something that is not to be redone: there a false find would keep the next agent from work
that is left, here it costs it a look.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from hub.domain.contract import Evidence, EvidenceKind, Sourced
from hub.domain.intent.listed import finished
from hub.domain.intent.statements import EMPHASIS, SENTENCE, prose
from hub.domain.text.patterns import late
from hub.domain.text.typography import typed

MAX_CLAIMS = 8
MAX_CLAIM = 300
_DEED = (
    r"(?:done|complete[d]?|finished|implemented|written|created|added|fixed|updated|removed|deleted|renamed|migrated|tested"
    r"|verified|refactored|in place|wired(?: up)?|ready|working|passing|green|resolved|solved|replaced|documented|applied"
    r"|installed|configured|moved|extracted|rewritten|covered|clean)"
)
_PAST = (
    r"(?:completed|finished|implemented|wrote|created|added|fixed|updated|removed|deleted|renamed|migrated|tested|verified"
    r"|refactored|wired|resolved|solved|replaced|documented|applied|installed|configured|moved|extracted|rewrote)"
)
_SO = r"(?:(?:now|already|all|just|also|fully|successfully|both|all now) )*"
_CLAIM = late(
    rf"\b(?:has|have) {_SO}been {_SO}{_DEED}\b"
    rf"|\b(?:I|we)(?:'ve| have) {_SO}{_DEED}\b|^(?:and |then )?(?:I|we) {_SO}{_PAST}\b"
    rf"|\b(?:is|are) {_SO}{_DEED}\b"
    rf"|^(?:successfully )?{_PAST}\b(?! (?:by|in|at|on|to)\b)"
    r"|\b(?:tests?|build|suite|lint(?:er)?|checks?|type ?check)\b.* (?:pass|passed|passes|succeeds?|succeeded)\b"
    r"|^everything (?:now )?(?:works|passes)\b",
    re.IGNORECASE,
)
_OPEN = late(
    r"\b(?:not|no|never|isn't|aren't|hasn't|haven't|don't|doesn't|didn't|won't|cannot|can't|until|unless|if|when|once|after"
    r"|should|must|would|could|may|might|will|to be|before|whether|fail\w*|partly|partially|almost|next|todo)\b",
    re.IGNORECASE,
)
_BULLET = late(r"^(?:(?:[-*+•]|\d{1,3}[.)])\s+)?(?:\[[xX]\]\s+|[✅✔☑✓]\ufe0f?\s*)?")


def claimed(text: str) -> Iterator[str]:
    """The claims in a text, each a sentence; what stands in a code block or a quotation is none."""
    for line in prose(text):
        plain = EMPHASIS().sub("", _BULLET().sub("", typed(line))).strip()
        yield from (one[:MAX_CLAIM] for one in SENTENCE().split(plain) if _claims(one))


def claims_of(evidence: Iterable[Evidence]) -> tuple[Sourced, ...]:
    """The newest claims in an agent's quoted turns."""
    turns = (one for one in evidence if one.kind is EvidenceKind.TURN)
    found = [Sourced(claim, turn.source) for turn in turns for claim in claimed(turn.text)]
    return tuple(found[-MAX_CLAIMS:])


def _claims(sentence: str) -> bool:
    head = sentence[:MAX_CLAIM]
    return (
        not sentence.endswith("?")
        and bool(_CLAIM().search(head))
        and not _OPEN().search(head)
        and not finished(head)
    )
