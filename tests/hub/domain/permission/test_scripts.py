"""What a script says in plain words is judged as if the agent had typed it, unless a rule is about the script's name."""

import attrs
import pytest

from hub.domain.approval import RuleVerdict
from hub.domain.config.model import ApprovalRule as Rule
from hub.domain.permission.places import Where
from hub.domain.permission.rules import judge_script
from hub.domain.permission.scripts import Script, said, scripts
from tests.hub.domain.permission.test_rules import FOLDER, shell

MAKEFILES = ("GNUmakefile", "makefile", "Makefile")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("./run.sh x", [Script("run.sh")]),
        ("cd a && ./run.sh", [Script("run.sh"), Script("a/run.sh")]),
        ("sudo /opt/x", [Script("/opt/x")]),
        ("bash -eu run.sh x", [Script("run.sh", named=True)]),
        (". ./env", [Script("env", named=True)]),
        ("bash -o pipefail -O extglob run.sh", [Script("run.sh", named=True)]),
        ("bash --rcfile a -ic ls", [Script("a", named=True)]),
        ("bash -c 'ls'", []),
        ("bash", []),
        ("npm test", [Script("package.json", name) for name in ("pretest", "test", "posttest")]),
        ("pnpm run build", [Script("package.json", name) for name in ("prebuild", "build", "postbuild")]),
        ("yarn build", [Script("package.json", name) for name in ("prebuild", "build", "postbuild")]),
        ("npm run", []),
        ("npm", []),
        ("npm install x", []),
        ("ls > x", []),
        ("make -j 4 -n all", [Script(name, "all", maker="make") for name in MAKEFILES]),
        ("make -fa.mk x A=1", [Script("a.mk", "x A=1", maker="make")]),
        ("make --file=a.mk -f b.mk", [Script(name, maker="make") for name in ("a.mk", "b.mk")]),
        (
            "make -I more -C sub",
            [Script(f"{at}{name}", maker="make") for at in ("", "sub/") for name in MAKEFILES],
        ),
        ("sudo just --justfile a d", [Script("a", "d", maker="just")]),
    ],
)
def test_scripts_are_known_by_their_names(line, found):
    assert scripts(line) == found


@pytest.mark.parametrize(
    ("script", "text", "line"),
    [
        (Script("a"), "#!/bin/sh\nls", "ls"),
        (Script("a"), "#!/usr/bin/env -S bash -e\nls", "ls"),
        (Script("a"), "ls", "ls"),
        (Script("a"), "#!/usr/bin/python3\nls", ""),
        (Script("a", named=True), "#!/usr/bin/python3\nls", "ls"),
        (Script("a"), "\x7fELF\0", ""),
        (Script("p", "x"), '{"scripts": {"x": "ls"}}', "ls"),
        (Script("p", "x"), '{"scripts": {"x": 1}}', ""),
        (Script("p", "x"), '{"scripts": {}}', ""),
        (Script("p", "x"), "[]", ""),
        (Script("p", "x"), "not JSON", ""),
        (Script("Makefile", "x", maker="make"), "x:\n\trm y\n", "rm y"),
        (Script("a b/Makefile", "x", maker="make"), "x:\n\trm y\n", "cd 'a b'\nrm y"),
        (Script("a/Makefile", "y", maker="make"), "x:\n\trm y\n", ""),
        (Script("justfile", maker="just"), "x:\n  rm y\n", "rm y"),
    ],
)
def test_a_script_says_what_a_shell_would_run(script, text, line):
    assert said(script, text) == line


@pytest.mark.parametrize(
    ("rules", "answer"),
    [
        ([Rule(command="rm *", decision="deny")], "deny"),
        ([Rule(command="rm *")], "ask"),
        ([Rule(command="d/secret.txt", decision="deny", reason="mine")], "deny"),
        ([Rule(command="git push*", decision="deny")], None),
        ([Rule(command="./run.sh", decision="allow"), Rule(command="rm *", decision="deny")], None),
        ([Rule(command="rm *", decision="allow"), Rule(decision="allow")], None),
    ],
)
def test_its_lines_are_judged_where_no_rule_is_about_its_name(rules, answer):
    request = attrs.evolve(shell("./run.sh"), folder=FOLDER)
    found = judge_script(rules, request, "echo hello\nrm x; cat d/secret.txt\n$X", Where("/p", "/home/u"))
    assert (found and found.decision) == answer
    assert found is None or found.reason in ("A script that it runs does it.", "mine")


def test_a_line_of_a_script_is_judged_as_a_typed_one_in_the_same_folder():
    """All that the rule says holds: how grave it is, and how long it waits."""
    request = attrs.evolve(shell("./run.sh"), folder=FOLDER, context={"command": "./run.sh", "cwd": "sub"})
    rules = [Rule(command="sub/x", severity="danger", reason="r", timeout=5.0)]
    where = Where("/p", "/home/u")
    assert judge_script(rules, request, "cat x", where) == RuleVerdict("ask", "danger", "r", 5.0)
    assert judge_script(rules, request, "cat ../x", where) is None
