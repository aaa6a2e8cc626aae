"""What counts whole files: what it begins with, and what it does with files that cannot be read.

In a process of its own: this one may have threads.
"""

import json
import subprocess
import sys

from tests.hub.providers.claude.summed import answer

_COUNTED = """
import json, sys
from hub.usage.counting import counting
home, *envs = sys.argv[1:]
with counting(home, {"CLAUDE_CONFIG_DIR": envs[0]}, 0) as count:
    count.begin(home, [{"CLAUDE_CONFIG_DIR": env} for env in envs], 0)
    found = count.sum()
print(json.dumps([sum(figures[0] for figures in found.models.values()), found.unreadable, count.gaps]))
"""
_GONE = """
import json, sys
from hub.usage import counting
root, path = sys.argv[1:]
class Gone(counting.Count):
    def _new(self, *_):
        yield counting.File(root, path, 9)
with Gone() as count:
    count.begin("home", [{}], 0)
    print(json.dumps([len(count.sum().models), count.gaps]))
"""


def said(script, *args):
    done = subprocess.run([sys.executable, "-c", script, *args], capture_output=True, text=True, check=True)
    return done.stdout


def made(root, *figures):
    place = root / "projects" / "a"
    place.mkdir(parents=True)
    for number, out in enumerate(figures):
        (place / f"{number}.jsonl").write_bytes(answer(f"m{out}", "r", out, "", "assistant"))
    return str(root)


def test_answers_of_several_crews_count_once(tmp_path):
    """An account's folder may begin with a copy of the user's own sessions; what was begun is not begun again."""
    first, second = made(tmp_path / "one", 1, 20), made(tmp_path / "two", 20, 300)
    assert json.loads(said(_COUNTED, "home", first, second, first)) == [321, 0, []]


def test_a_file_that_is_gone_when_its_turn_comes_is_a_gap(tmp_path):
    """Whatever counts was found before: a session may be deleted meanwhile."""
    (tmp_path / "projects" / "a").mkdir(parents=True)
    gone = f"{tmp_path}/projects/a/1.jsonl"
    assert json.loads(said(_GONE, str(tmp_path), gone)) == [
        0,
        [f"{gone} cannot be read: No such file or directory."],
    ]
