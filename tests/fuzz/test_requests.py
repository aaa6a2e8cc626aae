"""Thousands of generated requests, by the API's own description: none is answered by a mistake of hub's.

`HUB_TEST_FUZZ_EXAMPLES` is the number of generated requests an operation gets besides the fixed ones (some 25 each); it runs
where that is set: `nox -s tests` makes some 1,500 requests in all, `nox -s fuzz` more than 10,000. They are the same in every
run, but for another `HUB_TEST_FUZZ_SEED`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from hub.client.quick import Api
from tests.faults.harness import HUB, project

EXAMPLES = int(os.environ.get("HUB_TEST_FUZZ_EXAMPLES", "0"))
SEED = os.environ.get("HUB_TEST_FUZZ_SEED", "20260101")
HERE = Path(__file__).parent
RUN = "from schemathesis.cli import schemathesis; schemathesis()"
EXCLUDED = ("/ws", "/api/events/stream", "/api/providers/install")
"""Two that never end, and one that would put a program onto this machine."""
PROGRAMS = ("git", "sh", "true")
"""All that the daemon finds on its PATH: a generated name starts nothing else."""

pytestmark = pytest.mark.skipif(
    not EXAMPLES or find_spec("schemathesis") is None, reason="nox -s fuzz runs it: it takes minutes"
)


@pytest.mark.parametrize("places", [1, 3])
def test_no_generated_request_meets_a_mistake(tmp_path, places):
    """No 5xx, no status or body that is not described, no invalid request accepted; and all records are whole.

    Where there are several places, each has a session at work before the first request.
    """
    (tmp_path / "bin").mkdir()
    for name in PROGRAMS:
        (tmp_path / "bin" / name).symlink_to(str(shutil.which(name)))
    with project(tmp_path) as made:
        made.script(
            "demo-first", {"write": {"path": "a.txt", "text": "x\n"}}, {"ask": "go on?"}, {"done": "ok"}
        )
        made.script("demo-second", {"write": {"path": "b.txt", "text": "y\n"}}, {"done": "ok"})
        accounts = "".join(
            f'\n[[providers.{name}.accounts]]\nlabel = "{label}"\n'
            for name in ("demo-first", "demo-second")
            for label in "abc"[:places]
        )
        made.configure(accounts, session=f"concurrent = {places}\n")
        api = made.start(PATH=str(tmp_path / "bin"))
        if places > 1:
            for number in range(places):
                api.post("/api/run", {"task": f"task {number}"})
        calls = tmp_path / "calls"
        done = generated(made.port, calls)
        statuses = Counter(json.loads(line)[2] for line in calls.read_text().splitlines())
        slowest = max(map(json.loads, calls.read_text().splitlines()), key=lambda call: call[3])
        print(f"{statuses.total()} requests: {dict(sorted(statuses.items()))}, the slowest {slowest}")
        assert done.returncode == 0, done.stdout[-6000:]
        assert [status for status in statuses if status >= 500] == []
        assert statuses.total() > 30 * 30
        assert statuses[200] > 100
        assert whole(api)
        assert made.stop() == 0
        log = (tmp_path / "daemon.log").read_text()
        assert "Traceback" not in log, log[-3000:]
        audited = subprocess.run([*HUB, "audit", "verify"], cwd=made.root, env=made.environ(), check=False)
        assert audited.returncode == 0


def generated(port: int, calls: Path) -> subprocess.CompletedProcess[str]:
    """Schemathesis, in a process of its own: its plugins are none of this one's."""
    options = [
        "--phases=examples,coverage,fuzzing", f"--max-examples={EXAMPLES}", f"--seed={SEED}",
        "--generation-database=none", "--no-color", "--continue-on-failure",
        "--no-shrink", "--request-timeout=60", "--warnings=off",
    ]  # fmt: skip
    excluded = [f"--exclude-path={path}" for path in EXCLUDED]
    url = f"http://127.0.0.1:{port}/openapi.json"
    config = ["--config-file", str(HERE / "schemathesis.toml")]
    env = {**os.environ, "SCHEMATHESIS_HOOKS": "tests.fuzz.hooks", "HUB_FUZZ_CALLS": str(calls)}
    # Which letters an encoding has is computed once for all tests, not in each folder from which it is started.
    env["HYPOTHESIS_STORAGE_DIRECTORY"] = str(HERE.parent.parent / ".hypothesis")
    return subprocess.run(
        [sys.executable, "-c", RUN, *config, "run", url, *options, *excluded],
        env={**env, "PYTHONPATH": str(HERE.parent.parent)},
        cwd=calls.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def whole(api: Api) -> bool:
    """Every part of the daemon is there, and the event log has no gap."""
    ids = []
    while page := api.get("/api/events", {"since": ids[-1] if ids else 0, "limit": 1000}):
        ids += [event["id"] for event in page]
    return api.get("/api/health")["ok"] and ids == list(range(1, len(ids) + 1))
