"""The suite's result, as a table and as one document, and whether it is good enough.

Owns: the sums over recordings, the thresholds (`thresholds.toml` in a suite's folder), and what a reader sees of both.
Must not: measure.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import attrs

from hub.errors import Code, HubError
from hub.evals.labels import Class, Way
from hub.evals.measure import Measured, MeasuredFault, Tally

THRESHOLDS = "thresholds.toml"
GOLDEN = Path(__file__).parent / "golden"
"""The suite that ships with hub."""
_SIDES = ("recall", "precision")
_ALL = "all"


@attrs.frozen
class ThresholdKey:
    """Which figure a threshold is for."""

    way: Way
    side: str
    kind: Class
    provider: str = ""
    """An agent's name; "" = every agent that has no threshold of its own."""


@attrs.frozen
class Shortfall:
    """A figure below its threshold."""

    provider: str
    way: Way
    kind: Class
    side: str
    value: float
    wanted: float

    def __str__(self) -> str:
        """In one line."""
        return f"{self.provider}, {self.way}: {self.side} of {self.kind} is {self.value:.3f}, below {self.wanted:.3f}"


def thresholds(folder: Path) -> Mapping[ThresholdKey, float]:
    """What each agent must reach by itself; that of hub's own suite where a suite's folder says none.

    Raises:
        HubError: The file is malformed.
    """
    path = folder / THRESHOLDS
    path = path if path.exists() else GOLDEN / THRESHOLDS
    try:
        told = tomllib.loads(path.read_text())
        return {key: float(least) for name, part in told.items() for key, least in _thresholds(name, part)}
    except (ValueError, AttributeError, TypeError) as error:
        raise HubError(
            Code.INVALID,
            f"{path}: {error}.",
            hint="A threshold stands in [way.recall], [way.precision], or in such a table of [agent].",
        ) from error


def _thresholds(
    name: str, part: Mapping[str, Any], provider: str = ""
) -> Iterator[tuple[ThresholdKey, float]]:
    if name not in set(Way):
        if provider:
            raise ValueError(f"there is no way {name!r}")
        for way, sides in part.items():
            yield from _thresholds(way, sides, name)
        return
    for side, kinds in part.items():
        for kind, least in kinds.items():
            yield ThresholdKey(Way(name), _SIDES[_SIDES.index(side)], Class(kind), provider), least


def summed(measured: Iterable[Measured]) -> dict[Way, dict[Class, Tally]]:
    """The counts of all of them, by way and class."""
    sums = {way: {kind: Tally() for kind in Class} for way in Way}
    for one in measured:
        for kind, tally in one.tallies.items():
            sums[one.way][kind].add(tally)
    return sums


def shortfalls(measured: Iterable[Measured], wanted: Mapping[ThresholdKey, float]) -> list[Shortfall]:
    """Every figure of an agent that is below its threshold; where there is nothing to count, nothing falls short."""
    measured, found = list(measured), []
    for provider in dict.fromkeys(one.provider for one in measured):
        sums = summed(one for one in measured if one.provider == provider)
        for way, side, kind in product(Way, _SIDES, Class):
            value: float | None = getattr(sums[way][kind], side)
            least = wanted.get(
                ThresholdKey(way, side, kind, provider), wanted.get(ThresholdKey(way, side, kind), 0.0)
            )
            if value is not None and value < least:
                found.append(Shortfall(provider, way, kind, side, value, least))
    return found


def document(measured: Iterable[Measured], short: Iterable[Shortfall]) -> dict[str, object]:
    """Everything, for a program."""
    measured, short = list(measured), list(short)
    return {
        "ok": not short,
        "recordings": [
            {
                "provider": one.provider,
                "recording": one.recording,
                "way": one.way,
                "cuts": one.cuts,
                "classes": _figures(one.tallies),
                "missed": _faults(one.missed),
                "wrong": _faults(one.wrong),
            }
            for one in measured
        ],
        "overall": {way: _figures(tallies) for way, tallies in summed(measured).items()},
        "below": [attrs.asdict(one) for one in short],
    }


def table(measured: Iterable[Measured], short: Iterable[Shortfall], *, faults: bool = False) -> str:
    """The figures for a person: per cent of the labelled facts that were kept, and of what is told that is a fact."""
    measured = list(measured)
    lines = []
    for side, title in zip(
        _SIDES, ("Of the labelled facts, kept (%)", "Of what is told, true (%)"), strict=True
    ):
        lines += [title, _row("", "", [kind.replace("_", " ") for kind in Class])]
        lines += [
            _row(*name, [_percent(getattr(t, side)) for t in tallies]) for name, tallies in _rows(measured)
        ]
        lines.append("")
    cuts = sum(one.cuts for one in measured)
    lines.append(f"{len({(one.provider, one.recording) for one in measured})} recordings, {cuts} cuts")
    if faults:
        lines += ["", *_listed(measured)]
    lines += [f"below its threshold: {one}" for one in short]
    return "\n".join(line.rstrip() for line in lines)


def _rows(measured: list[Measured]) -> Iterator[tuple[tuple[str, str], list[Tally]]]:
    for way in Way:
        of_way = [one for one in measured if one.way is way]
        for provider in dict.fromkeys(one.provider for one in of_way):
            sums = summed(one for one in of_way if one.provider == provider)[way]
            yield (way, provider), list(sums.values())
        if of_way:
            yield (way, _ALL), list(summed(of_way)[way].values())


def _row(way: str, provider: str, cells: list[str]) -> str:
    return f"{way:<9}{provider:<10}" + "".join(f"{cell:>12}" for cell in cells)


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.0f}"


def _listed(measured: list[Measured]) -> Iterator[str]:
    for one in measured:
        for what, faults in (("missed", one.missed), ("wrong", one.wrong)):
            for fault in faults:
                moments = ",".join(map(str, fault.moments))
                yield f"{one.provider}/{one.recording} {one.way} {what} {fault.kind}: {fault.text!r} at {moments}"


def _figures(tallies: Mapping[Class, Tally]) -> dict[Class, dict[str, object]]:
    """Of each class of which there is anything."""
    return {
        kind: {**attrs.asdict(tally), "recall": tally.recall, "precision": tally.precision}
        for kind, tally in tallies.items()
        if tally.facts or tally.items
    }


def _faults(faults: Iterable[MeasuredFault]) -> list[dict[str, object]]:
    return [{"class": fault.kind, "text": fault.text, "moments": list(fault.moments)} for fault in faults]
