"""The paid remote models, played on loopback: they speak the vendors' wire protocols to the real agent programs.

Owns: nothing itself; re-exports what a test needs.
Must not: import hub (a double that shares code with what it tests proves nothing).

A test scripts what the model of one account does, starts an agent against the server's URLs, and reads back
every request the agent made:

    with ModelServer() as models:
        models.script("key-a", Turn.write("hello.txt", "hi\\n"), Turn.limit(resets_in=7200))
        models.script("key-b", Turn.write("rest.txt", "done\\n"), Turn.text("All done."))
        env = {"ANTHROPIC_BASE_URL": models.anthropic_url, "ANTHROPIC_API_KEY": "key-a", **models.proxy_env()}
        ...
        assert "doNotRedo" in models.mains("key-b")[0].text
"""

from .scenario import FOR_EVER, Call, Kind, Script, Turn
from .server import ModelServer
from .wire import Seen

__all__ = ["FOR_EVER", "Call", "Kind", "ModelServer", "Script", "Seen", "Turn"]
