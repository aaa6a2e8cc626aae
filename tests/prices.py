"""Makes `hub/io/models/prices.json` anew from genai-prices: `python -m tests.prices`, or `nox -s prices`.

The package itself would bring ten others into every installation, for a list that is as old as its release either way.
What is taken along are the prices of tokens, of the makers whom a model's name alone tells, for that is how hub asks.
"""

from __future__ import annotations

import json
import re
from datetime import UTC
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from genai_prices.data import providers
from genai_prices.types import (
    ClauseAnd,
    ClauseContains,
    ClauseEndsWith,
    ClauseEquals,
    ClauseOr,
    ClauseRegex,
    ClauseStartsWith,
    ModelPrice,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)

FILE = Path(__file__).resolve().parent.parent / "hub/io/models/prices.json"
TOKENS = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")


def pattern(clause: Any) -> str:
    """One regular expression for a clause; names are compared in lower case."""
    found = ""
    match clause:
        case ClauseEquals(equals=text):
            found = rf"\A{re.escape(text.lower())}\Z"
        case ClauseStartsWith(starts_with=text):
            found = rf"\A{re.escape(text.lower())}"
        case ClauseEndsWith(ends_with=text):
            found = rf"{re.escape(text.lower())}\Z"
        case ClauseContains(contains=text):
            found = re.escape(text.lower())
        case ClauseRegex(regex=text):
            found = text
        case ClauseOr(or_=parts):
            found = "|".join(f"(?:{pattern(part)})" for part in parts)
        case ClauseAnd(and_=parts):
            found = r"\A" + "".join(f"(?=.*?(?:{pattern(part)}))" for part in parts)
    assert found, f"{type(clause).__name__} is a kind of clause that nobody knows here"
    return found


def amount(price: Any) -> list[list[float]] | None:
    """A price for a million tokens by the size of a request: from so many tokens in, so much."""
    if isinstance(price, TieredPrices):
        return [[0, float(price.base)], *([tier.start, float(tier.price)] for tier in price.tiers)]
    return None if price is None else [[0, float(price)]]


def prices(found: Any) -> list[list[Any]]:
    """Each set of prices with when it holds: always (""), from a day on, or between two times of the day."""
    if isinstance(found, ModelPrice):
        return [["", *(amount(getattr(found, key)) for key in TOKENS)]]
    rows = []
    for each in found:
        match each.constraint:
            case None:
                when = ""
            case StartDateConstraint(start_date=day):
                when = day.isoformat()
            case TimeOfDateConstraint(start_time=start, end_time=end):
                assert {start.tzinfo, end.tzinfo} <= {None, UTC}
                when = "/".join(at.replace(tzinfo=None).isoformat() for at in (start, end))
        rows.append([when, *(amount(getattr(each.prices, key)) for key in TOKENS)])
    return rows


def made() -> str:
    """The file."""
    told = distribution("genai-prices")
    listed = [provider for provider in providers if provider.model_match is not None]
    notice = next(file.read_text() for file in told.files or () if file.name == "LICENSE")
    head = {
        "source": f"genai-prices {told.version}",
        "notice": " ".join(notice.split()),
    }
    makers = ",\n".join(
        json.dumps(provider.id)
        + ": "
        + json.dumps(
            {"match": pattern(provider.model_match), "also": provider.fallback_model_providers or []}
        )[:-1]
        + ', "models": [\n'
        + ",\n".join(json.dumps([pattern(model.match), prices(model.prices)]) for model in provider.models)
        + "\n]}"
        for provider in listed
    )
    return f'{json.dumps(head)[:-1]}, "makers": {{\n{makers}\n}}}}\n'


if __name__ == "__main__":
    FILE.write_text(made())
