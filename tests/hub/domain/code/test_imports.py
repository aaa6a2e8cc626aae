"""What a file imports, by language, and which file that is: the graph's `imports` edges."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.domain.code.imports import MAX_IMPORTS, MAX_NAME
from hub.domain.code.resolve import outside_name, project, resolve
from hub.domain.code.table import LANGUAGES, declared

SAMPLES = {
    "python": (
        (b'"""Doc:\nimport never\n"""\nimport os, a.b as c  # why\nfrom . import x, y as z\nfrom ..p import (\n'
        b"    q,  # one, two\n    r,\n)\nif True:\n    from m import *\nfrom t import u; v = 1\nimportant = 1\n"),
        ["os", "a.b", ".:x", ".:y", "..p:q", "..p:r", "m:*", "t:u"],
    ),
    "go": (
        (b'package p\n\nimport "fmt"\nimport m "math"\nimport (\n\t"os"\n\tx "ex.org/a/b"\n\t_ `c`\n)\n'
        b'/*\nimport "no"\n*/\nvar s = "import"\n'),
        ["fmt", "math", "os", "ex.org/a/b", "c"],
    ),
    "rust": (
        (b"use std::io;\npub(crate) use crate::a::{self, b::{C, D as E}, f};\nmod inner;\npub mod r#type {}\n"
        b"extern crate libc;\nuse super::x::*;\n/// use no::thing;\nuse {p::q, r};\nuse r#try::s; // use t;\n"),
        ["std::io", "crate::a::self", "crate::a::b::C", "crate::a::b::D", "crate::a::f", "self::inner", "libc",
         "super::x", "p::q", "r", "try::s"],
    ),
    "java": (
        b"package p;\nimport a.b.C;\nimport static a.b.D.run;\nimport a.b.*;\n/*\nimport no.No;\n*/\nclass X {}\n",
        ["a.b.C", "a.b.D", "a.b.*"],
    ),
    "ruby": (
        b"require 'json'\nrequire_relative \"../a\"\n  require('b/c')\nautoload :D, 'e/d'\n=begin\nrequire 'no'\n=end\n",
        ["json", "./../a", "b/c", "e/d"],
    ),
    "javascript": (
        (b"import 'side';\nimport a, {\n  b,\n} from './b';\nexport * from \"../c\";\nconst d = require('d'), e = await import(`x`);\n"
        b"export const f = 'no';\nexport default 'no';\nself.require('no');\nlazy(() => import('./g'));\n/*\nimport 'no'\n*/\n"),
        ["side", "./b", "../c", "d", "./g"],
    ),
    "typescript": (
        b"import type { A } from './a';\nimport b = require('b');\nexport type { C } from \"@s/c/d\";\n",
        ["./a", "b", "@s/c/d"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", sorted(LANGUAGES))
def test_the_names_that_a_file_imports(language):
    """Each once, in order; what stands in a string or comment is none."""
    body, names = SAMPLES[language]
    assert declared(language, body).imports == names
    assert declared(language, b"\xef\xbb\xbf" + body + body.rsplit(b"/*")[0]).imports == names


def test_no_language_no_imports_and_no_more_than_anybody_writes():
    assert declared("cobol", b"import x\n").imports == []
    assert (
        len(declared("python", b"".join(b"import m%d\n" % n for n in range(MAX_IMPORTS + 9))).imports)
        == MAX_IMPORTS
    )
    assert declared("java", b"import %b;\nimport a.B;\n" % (b"x" * (MAX_NAME + 1))).imports == ["a.B"]
    assert declared("python", b"import os,\nfrom a import ()\n").imports == ["os"]


@given(
    st.sampled_from(sorted(LANGUAGES)),
    st.binary(max_size=200) | st.text("import use{},;'\"(). \nfrom").map(str.encode),
)
def test_any_bytes_are_read_and_resolved(language, body):
    there = project(["a.py", "b/c.go", "src/lib.rs"], {"": "m"})
    for name in declared(language, body).imports:
        assert set(resolve(language, "b/x", name, there)) <= there.files
        outside_name(language, name)


FILES = [
    "setup.py", "pkg/__init__.py", "pkg/a.py", "pkg/sub/__init__.py", "pkg/sub/b.py", "src/lib/__init__.py",
    "scripts/tool.py", "scripts/near.py", "pkg/json.py", "stub.pyi",
    "go/main.go", "go/in/x.go", "go/in/y.go", "go/in/y_test.go",
    "rs/src/lib.rs", "rs/src/a.rs", "rs/src/a/b.rs", "rs/src/d/mod.rs", "rs/src/d/e.rs",
    "j/main/p/q/C.java", "j/main/p/q/D.java", "j/test/p/q/D.java", "p/E.java",
    "ts/a.ts", "ts/b.tsx", "ts/c/index.ts", "ts/d.js", "ts/deep/e.ts",
    "rb/lib/g/h.rb", "rb/lib/g.rb", "rb/spec/h_spec.rb",
]  # fmt: skip
RESOLVED = [
    ("python", "pkg/sub/b.py", "pkg.a", ["pkg/a.py"]),
    ("python", "pkg/sub/b.py", "pkg:sub", ["pkg/sub/__init__.py"]),
    ("python", "pkg/sub/b.py", "pkg.a:thing", ["pkg/a.py"]),
    ("python", "pkg/sub/b.py", ".:x", ["pkg/sub/__init__.py"]),
    ("python", "pkg/sub/b.py", "..a:x", ["pkg/a.py"]),
    ("python", "pkg/sub/b.py", "..:a", ["pkg/a.py"]),
    ("python", "pkg/sub/b.py", "......a:x", []),
    ("python", "pkg/a.py", "json", []),
    ("python", "pkg/a.py", "lib", ["src/lib/__init__.py"]),
    ("python", "pkg/__init__.py", ".:a", ["pkg/a.py"]),
    ("python", "pkg/a.py", "pkg.a", []),
    ("python", "scripts/tool.py", "near", ["scripts/near.py"]),
    ("python", "setup.py", "stub", ["stub.pyi"]),
    ("go", "go/main.go", "ex.org/m/in", ["go/in/x.go", "go/in/y.go"]),
    ("go", "go/in/x.go", "ex.org/m", ["go/main.go"]),
    ("go", "go/main.go", "ex.org/many", []),
    ("go", "go/main.go", "ex.org/m/none", []),
    ("rust", "rs/src/lib.rs", "self::a", ["rs/src/a.rs"]),
    ("rust", "rs/src/a.rs", "self::b", ["rs/src/a/b.rs"]),
    ("rust", "rs/src/a/b.rs", "super::C", ["rs/src/a.rs"]),
    ("rust", "rs/src/a/b.rs", "super::super::d::e::F", ["rs/src/d/e.rs"]),
    ("rust", "rs/src/d/e.rs", "crate::a::b::C", ["rs/src/a/b.rs"]),
    ("rust", "rs/src/d/e.rs", "crate::Root", ["rs/src/lib.rs"]),
    ("rust", "rs/src/lib.rs", "a::b::C", ["rs/src/a/b.rs"]),
    ("rust", "rs/src/lib.rs", "serde::de", []),
    ("java", "p/E.java", "p.q.C", ["j/main/p/q/C.java"]),
    ("java", "p/E.java", "p.q.C.Inner", ["j/main/p/q/C.java"]),
    ("java", "p/E.java", "p.q.D", []),
    ("java", "j/main/p/q/C.java", "p.E", ["p/E.java"]),
    ("java", "p/E.java", "java.util.List", []),
    ("typescript", "ts/a.ts", "./b.js", ["ts/b.tsx"]),
    ("typescript", "ts/deep/e.ts", "../a.js", ["ts/a.ts"]),
    ("typescript", "ts/a.ts", "./c", ["ts/c/index.ts"]),
    ("javascript", "ts/d.js", "./a", ["ts/a.ts"]),
    ("javascript", "ts/a.ts", "./d.js", ["ts/d.js"]),
    ("javascript", "ts/d.js", "react", []),
    ("javascript", "ts/d.js", "../../../a", []),
    ("ruby", "rb/spec/h_spec.rb", "g/h", ["rb/lib/g/h.rb"]),
    ("ruby", "rb/lib/g.rb", "./g/h.rb", ["rb/lib/g/h.rb"]),
    ("ruby", "rb/lib/g.rb", "json", []),
]  # fmt: skip


@pytest.mark.parametrize(("language", "path", "name", "found"), RESOLVED)
def test_the_file_that_a_name_means(language, path, name, found):
    """Where the path settles it; a module of the standard library is not taken for a file beside the importing one."""
    assert list(resolve(language, path, name, project(FILES, {"go": "ex.org/m"}))) == found


def test_the_root_of_a_go_module_may_be_the_projects():
    there = project(["main.go", "in/x.go"], {"": "m"})
    assert resolve("go", "in/x.go", "m", there) == ("main.go",)


@pytest.mark.parametrize(
    ("language", "name", "called"),
    [
        ("python", "os.path:join", "os"), ("python", ".:x", ""), ("go", "golang.org/x/sync", "golang.org/x/sync"),
        ("rust", "serde::de::X", "serde"), ("rust", "crate::no", ""), ("java", "java.util.List", "java.util"),
        ("javascript", "@scope/pkg/deep", "@scope/pkg"), ("typescript", "lodash/fp", "lodash"),
        ("javascript", "./gone", ""), ("ruby", "active_support/core_ext", "active_support"),
    ],
)  # fmt: skip
def test_what_is_not_of_the_project_is_known_by_its_name(language, name, called):
    assert outside_name(language, name) == called
