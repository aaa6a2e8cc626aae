"""Which language a file is in."""

import pytest

from hub.domain.code.table import LANGUAGES, language_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("cmd/main.go", "go"),
        ("src/lib.rs", "rust"),
        ("a/b.ts", "typescript"),
        ("a/b.tsx", "typescript"),
        ("types/index.d.ts", "typescript"),
        ("a.js", "javascript"),
        ("a.mjs", "javascript"),
        ("setup.py", "python"),
        ("stub.pyi", "python"),
        ("Main.java", "java"),
        ("lib/a.rb", "ruby"),
        ("sub/Rakefile", "ruby"),
        ("A.PY", "python"),
        ("README.md", None),
        ("Makefile", None),
        (".py", None),
        ("py", None),
        ("a.py/b", None),
        ("", None),
    ],
)
def test_by_name(path, language):
    assert language_of(path) == language


def test_no_two_languages_claim_a_name():
    claimed = [name for each in LANGUAGES.values() for name in (*each.suffixes, *each.names)]
    assert len(claimed) == len(set(claimed))
