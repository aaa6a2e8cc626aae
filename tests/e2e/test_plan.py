"""Claude Code's own list of tasks is a checklist in `hub run`, and no rule about a word holds it up."""

import pytest

from tests.agents import base_env
from tests.hub.cli.command import hub
from tests.model_server import Turn

pytestmark = pytest.mark.agents

OFFERED = "CLAUDE_CODE_ENABLE_TODO_TOOLS"
"""What makes the program keep a list with every model. It names the tools to the model only once they are searched for, so
the calls here are native."""
RULES = """
[[approvals]]
command = "*migration*"
decision = "deny"
reason = "migrations are written by people"
"""


@pytest.mark.parametrize("rules", ["", RULES])
def test_claudes_list_of_tasks_is_a_checklist(team, rules):
    """The real program makes its tasks and ends one. Under the rule each was denied, though a task changes nothing."""
    team.hire("claude")
    config = team.made.root / "hub.toml"
    env = "[providers.claude.env]\n"
    config.write_text(config.read_text().replace(env, f'{env}{OFFERED} = "1"\n') + rules)
    first, second = "Look at the migration", "Write one.txt"
    team.script(
        "claude",
        Turn.tool("native", "TaskCreate", {"subject": first, "description": first, "activeForm": first}),
        Turn.tool("native", "TaskCreate", {"subject": second, "description": second, "activeForm": second}),
        Turn.tool("native", "TaskUpdate", {"taskId": "1", "status": "completed"}),
        Turn.shell("echo migration > two.txt"),
        Turn.write("one.txt", "one\n"),
        Turn.text("All is there."),
    )
    home = team.tmp / "home"
    home.mkdir()
    done = hub("run", "Write one.txt", cwd=team.made.root, env=team.made.environ(**base_env(home)))
    print(done.stderr)
    shown = [line.strip() for line in done.stderr.splitlines()]
    assert (done.returncode, f"[x] {first}" in shown, f"[ ] {second}" in shown) == (0, True, True)
    assert not [line for line in shown if line.startswith(("TaskCreate", "TaskUpdate"))]
    assert ("migrations are written by people" in done.stderr) == bool(rules)
    files = team.made.show(f"hub/{team.made.fsm()['sessionId']}^{{tree}}").decode()
    assert ("one.txt" in files, "two.txt" in files) == (True, not rules)
