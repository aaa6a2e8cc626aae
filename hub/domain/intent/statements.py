"""Decisions, constraints and the like, found in prose.

Owns: the patterns, and the care around them.
Must not: look at anything but text, or claim to understand it. What is found is quoted, never interpreted.

Theory of operation. A false find costs the next agent a line of reading, a missed one perhaps a wrong turn;
but most of a contract comes from structured events anyway. So the patterns ask for explicit wording, each
sentence is matched by itself, and code blocks, quotations, tables, headings and questions are passed over.
Agents say a thousand sentences a second at times, and most state nothing: a pattern is only tried where a word stands
with which it may begin.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache

import attrs

from hub.domain.text.patterns import late
from hub.domain.text.typography import typed

MAX_LINE = 2000
MAX_STATEMENT = 400


class StatementKind(StrEnum):
    """What a statement is."""

    DECISION = "decision"
    CONSTRAINT = "constraint"
    DO_NOT_REDO = "do_not_redo"
    NEXT = "next"


@attrs.frozen
class Statement:
    """One find."""

    kind: StatementKind
    text: str


_LABELS = late(
    r"(?P<decision>decision|decided|design decision)"
    r"|(?P<constraint>constraint|requirement|restriction)"
    r"|(?P<redo>done|already done|completed|finished|do not redo|don't redo)"
    r"|(?P<next>next|next steps?|next action|next up|up next|todo|to do|still to do|remaining|left to do)",
    re.IGNORECASE,
)
_LABELLED = late(r"(?P<label>[A-Za-z' ]{3,20})\s?:\s+(?P<rest>\S.*)")

_WORD = re.compile(r"[A-Za-z]+")


def _first(words: str) -> frozenset[str]:
    """The words with which a pattern may begin."""
    return frozenset(words.split())


_PATTERNS: tuple[tuple[StatementKind, frozenset[str], Callable[[], re.Pattern[str]]], ...] = (
    (
        StatementKind.DO_NOT_REDO,
        _first("do don no never is are was were has have"),
        late(
            r"\b(?:do not|don't|no need to|never) "
            r"(?:redo|repeat|re-?run|retry|re-?implement|re-?write|try again)\b"
            r"|\b(?:is|are|was|were|has been|have been) already "
            r"(?:done|implemented|fixed|written|added|applied|in place|migrated|renamed|tested)\b",
            re.IGNORECASE,
        ),
    ),
    (
        StatementKind.DECISION,
        _first("i we let"),
        late(
            r"\b(?:I|we)(?:'ll| will|'m going to| am going to|'re going to| are going to) "
            r"(?:use|go with|keep|choose|pick|switch to|adopt|stick with|avoid)\b"
            r".*\b(?:because|since|so that|as it|instead of|rather than)\b"
            r"|\b(?:I|we)(?:'ve| have)? (?:decided|chosen|chose|opted|settled|agreed) (?:to|on|for|against|not)\b"
            r"|\b(?:I'm|I am|we're|we are) going (?:with|for)\b|\b(?:I|we)(?:'ve| have)? (?:went with|ruled out|rejected)\b"
            r"|\b(?:I|we)(?:'ve| have)? (?:considered|thought (?:of|about)|looked (?:at|into)|tried)\b"
            r".*\b(?:but|and) (?:then )?(?:dropped|rejected|discarded|gave up|went (?:with|for)|stayed with)\b"
            r"|^let's (?:use|go with|keep|stick with|avoid)\b.*\b(?:because|since|so that|instead of|rather than)\b"
            r"|\b(?:I|we)(?:'d| would) (?:rather|sooner|prefer)\b.*\b(?:than|over|instead of|to)\b",
            re.IGNORECASE,
        ),
    ),
    (
        StatementKind.CONSTRAINT,
        _first(
            "must mustn may do don never please avoid only has have need needs should shouldn at no but and"
            " also keep leave make ensure stay stick use"
        ),
        late(
            r"\b(?:must|mustn't|may not|do not|don't|never|please|avoid)\b|\bonly\b.*\bmay\b|\b(?:has|have|needs?) to\b"
            r"|\bshould(?:n't| not| never| always| stay| remain| keep)\b|\b(?:at most|at least|no more than|no new)\b"
            r"|^(?:but |and |also,? )?(?:keep|leave|make sure|ensure|stay|stick|use only)\b",
            re.IGNORECASE,
        ),
    ),
    (
        StatementKind.NEXT,
        _first("next now let i we the my all what that"),
        late(
            r"^(?:next,? (?:I|we|comes?)|now,? (?:I|we|let me)|let me (?:now|next)|(?:I|we)(?:'ll| will) (?:now|next)"
            r"|(?:the|my) next (?:step|thing|task)\b.*\bis|(?:all )?(?:what|that)(?:'s| is) (?:still )?(?:left|missing)"
            r"|what remains|(?:I|we) still (?:need|have) to)\b",
            re.IGNORECASE,
        ),
    ),
)
_AGENT_CONSTRAINT = late(
    r"\b(?:must (?:not|never|always|stay|remain|keep)|mustn't|may not)\b|\bonly\b.*\bmay (?:be|only)\b"
    # Said to whoever comes next: an agent does not ask itself.
    r"|^(?:but |so |and )?(?:please (?:do not|don't|never|keep|leave|avoid)"
    r"|(?:do not|don't|never|avoid) "
    r"(?:touch|chang|edit|renam|remov|delet|mov|us|replac|upgrad|call|import|switch|commit)(?:e|ing)?)\b",
    re.IGNORECASE,
)
_IDLE = late(r"\b(?:don't|do not) (?:know|see|think|have|need|believe|understand|yet)\b", re.IGNORECASE)

_IMMINENT = late(r"^(?:now|let me|(?:I|we)(?:'ll| will))\b", re.IGNORECASE)
_NAMED = late(r"[\w./-]*\w\.[A-Za-z]\w{0,9}\b")

_BULLET = late(r"^(?:[-*+•]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
SENTENCE = late(r"(?<=[.!?;])\s+")
EMPHASIS = late(r"\*\*|__|`")


@lru_cache(maxsize=512)  # the folds that run over the same events ask for the same texts, one a moment behind
def statements(text: str, *, by_user: bool = False) -> tuple[Statement, ...]:
    """The statements in `text`, in order, one a sentence at most.

    Args:
        text: Prose; Markdown is understood as far as it says what is not prose.
        by_user: The user speaks: plain "do not ..." and "never ..." are then constraints too. An agent says
            these of its own doings all the time.
    """
    return tuple(found for line in prose(text) for found in _of_line(line[:MAX_LINE], by_user=by_user))


def prose(text: str) -> Iterator[str]:
    """The lines of a text, but for code blocks, quotations, tables and headings."""
    fenced = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(("```", "~~~")):
            fenced = not fenced
        elif stripped and not fenced and not stripped.startswith((">", "|", "#")):
            yield stripped


def imminent(text: str) -> bool:
    """Whether a statement of what comes next tells what the agent is about to do at once."""
    return bool(_IMMINENT().match(text))


def files_named(text: str) -> frozenset[str]:
    """The names of files in a statement, without their folders."""
    return frozenset(name.rpartition("/")[2] for name in _NAMED().findall(text))


def alike(text: str) -> str:
    """Two statements that differ in case, white space and their last mark only are the same."""
    return " ".join(text.casefold().split()).rstrip(".!;:")


def _of_line(line: str, *, by_user: bool) -> Iterator[Statement]:
    plain = EMPHASIS().sub("", _BULLET().sub("", typed(line))).strip()
    sentences = SENTENCE().split(plain)
    if _labelled(plain):
        # What follows the label belongs to it, up to the next label: "Done: the parser. Next: its tests."
        end = next((at for at, one in enumerate(sentences) if at and _labelled(one)), len(sentences))
        yield from filter(None, [_labelled(" ".join(sentences[:end]))])
        sentences = sentences[end:]
    for sentence in sentences:
        if sentence and not sentence.endswith("?"):
            found = _labelled(sentence) or _unlabelled(sentence[:MAX_STATEMENT], by_user=by_user)
            if found:
                yield found


def _labelled(line: str) -> Statement | None:
    parts = _LABELLED().match(line)
    label = _LABELS().fullmatch(parts["label"].strip()) if parts else None
    if not parts or not label:
        return None
    kinds = {
        "decision": StatementKind.DECISION,
        "constraint": StatementKind.CONSTRAINT,
        "redo": StatementKind.DO_NOT_REDO,
        "next": StatementKind.NEXT,
    }
    return Statement(kinds[str(label.lastgroup)], parts["rest"][:MAX_STATEMENT].strip())


def _unlabelled(sentence: str, *, by_user: bool) -> Statement | None:
    words = [(word[0].lower(), word.start()) for word in _WORD.finditer(sentence)]  # "don't" is "don" and "t"
    for kind, first, pattern in _PATTERNS:
        places = [at for word, at in words if word in first]
        if (
            places
            and _matches(pattern(), sentence, places)
            and (kind is not StatementKind.CONSTRAINT or _binds(sentence, by_user=by_user))
        ):
            return Statement(kind, sentence)
    return None


def _matches(pattern: re.Pattern[str], sentence: str, places: Sequence[int]) -> bool:
    """Whether a pattern matches at one of the places where it may begin; to look at each letter is three times as dear."""
    return any(pattern.match(sentence, at) for at in places)


def _binds(sentence: str, *, by_user: bool) -> bool:
    if by_user:
        return not _IDLE().search(sentence)
    return bool(_AGENT_CONSTRAINT().search(sentence))
