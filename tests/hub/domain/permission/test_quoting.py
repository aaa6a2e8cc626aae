"""Where a shell's quotes, remarks, substitutions and texts end: each of these is what bash makes of the line."""

import pytest

from hub.domain.permission.quoting import HOLE, bare, closed, plain


@pytest.mark.parametrize(
    ("line", "read"),
    [
        (r"echo $'\''; b #'", r"echo ''\'''; b #'"),
        (r"""'a $'"'"'b' "$'c'" \$'d'""", r"""'a $'"'"'b' "$'c'" \$'d'"""),
        (r""""$(echo $'\x41')" "${x#$'b'}" """, r""""$(echo 'A')" "${x#'b'}" """),
        ("cat <<E\nit's\nE\n$'a'", "cat <<E\nit's\nE\n'a'"),
        ("# it's\n$'a'", "# it's\n'a'"),
        (r"echo $'a\'", r"echo $'a\'"),
    ],
)
def test_quotes_of_bash_s_own_are_those_of_every_shell(line, read):
    assert plain(line) == read


@pytest.mark.parametrize(
    ("line", "read", "texts"),
    [
        ("a # b\nc#d ${#x} '#'", "a \nc#d ${#x} '#'", ()),
        ("cd a; b <<E | c\n$x\nE\nd", "cd a; b <<< E | c\nd", (("cd a; b ", "$x\n"),)),
        ("a <<'E' <<-F\nb\nE\n\tc\n\tF\nd", "a <<< 'E' <<< F\nd", (("a <<'E' ", "\tc\n"),)),
        ("cd a; x=$(cd b; c <<E\nd\nE)", "cd a; x=$(cd b; c <<< E\n)", (("cd a; x=$(;cd b; c ", "d\n"),)),
        ("a <<E\nb", "a <<< E\nb", ()),
        ("a <<< E\nb\nE", "a <<< E\nb\nE", ()),
        ("a '<<E' \"<<E\" \\<<E\nb\nE", "a '<<E' \"<<E\" \\<<E\nb\nE", ()),
    ],
)
def test_remarks_and_texts_are_left_out(line, read, texts):
    assert bare(line).line == read
    assert bare(line).texts == texts


@pytest.mark.parametrize(
    "line",
    [
        "a <<$'E'\nb",
        'a <<"a\'b"\nb',
        "echo $((1<<E))\nb\nE",
        "a <<E\n" * 33,
        "$(case x in",
        'echo "${x:-$\'"\'}"',
    ],
)
def test_what_no_two_shells_agree_on_is_a_hole(line):
    assert bare(line).line.startswith(f"{HOLE}\n")


@pytest.mark.parametrize(
    "value",
    [
        "$(a ')' \")\" \\) `b )`)",
        "$(case x in a) b;; (c) d;; esac)",
        "$(a # it's )\n)",
        "$(a <<E\n)'\nE\n)",
        "$((1 + (2)))",
        '${x:-$(a })"}"}',
        "${x#'}'}",
    ],
)
def test_what_a_value_holds_does_not_end_it(value):
    line = f"echo {value}) }}"
    assert closed(line, 5) == 5 + len(value)


def test_an_apostrophe_in_a_text_begins_nothing():
    line = "\"${x:-it's}\" a'}"
    assert closed(line, 1, letters=True) == len("\"${x:-it's}")
