"""What a line of shell proves: its parts where the shell's rules say so, and nothing where they do not."""

import shlex
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hub.domain.intent.shell import MAX_LINE, proven, same, written


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        ("make", {"make"}),
        ("make  2>&1", {"make"}),
        ("make && echo ok", {"make", "echo ok", "make && echo ok"}),
        ("cd app && make && make test", {"cd app && make", "cd app && make test"}),
        ("make && cd app && make test", {"make"}),
        ("make lint; make test", {"make test"}),
        ("make lint\nmake test && echo ok", {"make test", "echo ok"}),
        ("make test | tail -3 && echo ok", {"make test | tail -3", "echo ok"}),
        ("echo 'a && make' && ls", {"echo 'a && make'", "ls"}),
    ],
)
def test_what_is_sure_to_have_passed(line, parts):
    assert parts <= proven(line)


@pytest.mark.parametrize(
    ("line", "part"),
    [
        ("make || echo failed", "make"),
        ("make & echo begun", "make"),
        ("(make; true) && ls", "make"),
        ("make; ls", "make"),
        ("cd app && make", "make"),
        ("make && cd app && make test", "make test"),
        ("echo 'x && make && y'", "make"),
        ("if make; then ls; fi", "make"),
        ("cat <<X && ls\nmake && true\nX", "make"),
        ("make && " + "x" * MAX_LINE, "make"),
        ("make test | tail -3", "make test"),
    ],
)
def test_what_may_have_failed_all_the_same(line, part):
    assert part not in proven(line)


@given(
    st.lists(
        st.sampled_from(["true", "false", "cd .", "test 1 = 1", "&&", ";", "||", "|", "&", "\n"]), max_size=9
    )
)
@settings(max_examples=60, deadline=None)
def test_the_shell_agrees(words):
    """Whatever is said to be proven does pass by itself, where the line passed."""
    line = " ".join(words)
    if subprocess.run(["sh", "-c", line], capture_output=True, check=False).returncode == 0:
        for part in proven(line) - {same(line)}:
            assert subprocess.run(["sh", "-c", part], capture_output=True, check=False).returncode == 0, (
                line,
                part,
            )


@pytest.mark.parametrize(
    ("line", "paths"),
    [
        ("echo x > a.txt", ("a.txt",)),
        ("echo x >> 'docs/a b.md'; echo y >\"b.md\"", ("b.md",)),
        ("printf '%s' '>no' >>CHANGELOG.md", ("CHANGELOG.md",)),
        ("cat > src/a.py <<'EOF'\nif a > b:\n    pass\nEOF", ("src/a.py",)),
        ("make &> build.log", ("build.log",)),
        ("make > /dev/null 2>&1", ()),
        ("make 2>&1 | tail", ()),
        ("cd sub && echo x > a.txt", ()),
        ("echo x > $OUT", ()),
        ("echo x >", ()),
        ("test 3 -gt 2", ()),
    ],
)
def test_what_a_line_writes(line, paths):
    assert written(line) == paths


@given(st.text(alphabet="ab .>'\"&;|$()\\\n", max_size=40))
def test_no_line_is_too_odd(line):
    assert same(line) in proven(line)
    assert all(shlex.quote(path) in line or path in line for path in written(line))
