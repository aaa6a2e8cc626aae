"""What holds for every test: the same examples on every run, and no user's settings."""

import os

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("searching", deadline=None)
settings.load_profile(os.environ.get("HUB_TEST_PROFILE", "repeatable"))

for name in [n for n in os.environ if n.startswith("HUB_") and not n.startswith("HUB_TEST_")]:
    del os.environ[name]
