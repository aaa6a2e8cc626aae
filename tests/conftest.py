"""What holds for every test: the same examples, no user's settings of hub or git, bytecode that is kept, nothing that is
left open; and a project for those that want one.
"""

import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

from tests.left import _nothing_is_left

__all__ = ["_nothing_is_left"]

# What tests share says what it found as they do: both values, not a bare `AssertionError`.
pytest.register_assert_rewrite(
    "tests.drive", "tests.faults", "tests.hub", "tests.model_server", "tests.refusals"
)

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None)
settings.load_profile(os.environ.get("HUB_TEST_PROFILE", "repeatable"))

for name in [n for n in os.environ if n.startswith("HUB_") and not n.startswith("HUB_TEST_")]:
    del os.environ[name]

# A user with a name, and nothing of this machine's git: neither its settings nor its templates, hooks or whoever works here.
for name in [n for n in os.environ if n.startswith("GIT_")]:
    del os.environ[name]
os.environ |= {
    f"GIT_{who}_{what}": "t@example.com" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
}
os.environ |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

# A test of a fault starts hub three times, and a start is nearly all importing: as from an installed package,
# whatever the machine says about bytecode. It is shared by everything the tests start, and by the next run.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
_KEPT = Path(__file__).resolve().parent.parent / ".pytest_cache"
os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix = str(_KEPT / "bytecode")
sys.dont_write_bytecode = (
    False  # what pytest makes of a test's assertions, two thirds of the time that collecting takes
)

# The detection engine keeps its compiled rules in the user's cache. A test with a home of its own had none, and compiling
# them takes a processor for four seconds.
os.environ["KF_RULE_CACHE_DIR"] = str(_KEPT / "rules")

# A run in a shell's background ignores Ctrl-C, and so would everything it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test's project is the test's own. Those of the question itself take this away again.
os.environ["HUB_TRUST"] = "1"

# Other tests run real agents meanwhile: only the tests of the detector look for them.
os.environ["HUB_AMBIENT"] = "0"


@pytest.fixture
def made(tmp_path):
    """A project with nothing of hub's in it yet; see `tests.faults.harness`."""
    from tests.faults.harness import project  # most tests need none of it

    with project(tmp_path) as found:
        yield found
