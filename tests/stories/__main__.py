"""Tells the stories, and compares what is said of them with what is kept.

Owns: the form of `kept/`: a file for each story; what is said as in the first one, where nothing has run, is not repeated.
Must not: change a kept answer unless it was asked to.
"""

from __future__ import annotations

import argparse
import difflib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from tests.stories.said import told
from tests.stories.told import STORIES

KEPT = Path(__file__).parent / "kept"
FIRST = "idle"


def main() -> int:
    """0 where all is said as it is kept, or was kept anew."""
    parser = argparse.ArgumentParser(prog="nox -s stories --")
    parser.add_argument("--write", action="store_true", help="keep what is said now")
    parser.add_argument("stories", nargs="*", metavar="STORY", help=f"of {', '.join(STORIES)}; all")
    given = parser.parse_args()
    (base,) = said(FIRST).values()
    same = True
    for name in given.stories or STORIES:
        now = news(said(name), {} if name == FIRST else base)
        place = KEPT / f"{name}.json"
        if given.write:
            KEPT.mkdir(exist_ok=True)
            place.write_text(written(now))
            continue
        kept = json.loads(place.read_text()) if place.exists() else {}
        same = same and now == kept
        lines = difflib.unified_diff(shown(kept), shown(now), f"{name}, kept", f"{name}, now", lineterm="")
        print("\n".join(lines) or f"{name}: as it is kept", flush=True)
    return 0 if same else 1


def said(name: str) -> dict[str, Any]:
    """One story, in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return told(name, Path(folder))


def news(looks: dict[str, Any], base: dict[str, Any]) -> dict[str, Any]:
    """Only what is said otherwise than in `base`."""
    return {
        when: {who: what for who, what in look.items() if base.get(who) != what}
        for when, look in looks.items()
    }


def written(looks: dict[str, Any]) -> str:
    """JSON with an answer a line."""
    parts = (
        f"{json.dumps(when)}: {{\n"
        + ",\n".join(f"{json.dumps(who)}: {json.dumps(what, sort_keys=True)}" for who, what in look.items())
        + "\n}"
        for when, look in looks.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"


def shown(looks: dict[str, Any]) -> list[str]:
    """Line by line, for a person."""
    return json.dumps(looks, indent=1, sort_keys=True, ensure_ascii=False).splitlines()


if __name__ == "__main__":
    sys.exit(main())
