"""What Schemathesis is told besides the API's description.

Owns: the record of every answer, and the acceptance commands of generated runs.
Must not: change what a request is for.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import schemathesis

CALLS = Path(os.environ["HUB_FUZZ_CALLS"]).open("a", buffering=1)  # noqa: SIM115  # until the process ends

URL = re.compile(r"https?://[^\s/?#@]{1,200}([/?#]\S{0,1000})?")
NOBODY = "http://127.0.0.1:9"
"""Where nobody answers."""


@schemathesis.hook
def after_call(context: Any, case: Any, response: Any) -> None:
    """One line for each answer: its method, its path, its status, and the seconds it took."""
    call = [case.method, case.operation.path, response.status_code, round(response.elapsed, 3)]
    CALLS.write(json.dumps(call) + "\n")


@schemathesis.hook
def map_query(context: Any, query: Any) -> Any:
    """No generated server is asked anything: a URL that is one becomes one of this machine."""
    return _here(query)


def _here(fields: Any) -> Any:
    url = fields.get("baseUrl") if isinstance(fields, dict) else None
    return {**fields, "baseUrl": NOBODY} if isinstance(url, str) and URL.fullmatch(url) else fields


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    """A generated acceptance command is a program of nobody's choosing; it becomes one that does nothing."""
    body = _here(body)
    if isinstance(body, dict) and "task" in body and isinstance(body.get("verify"), list):
        return {
            **body,
            "verify": ["true" if isinstance(text, str) and text else text for text in body["verify"]],
        }
    return body
