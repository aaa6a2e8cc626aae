"""What others wrote becomes markup only as far as hub makes it one."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hub.web.page.prose import MOST, MOST_DIFF, pieces, prose, shortened

TAGS = re.compile(r"<(\w+)([^>]*)>")
MAY = {"p", "em", "strong", "code", "pre", "ul", "ol", "li", "a", "blockquote", "h4", "h5", "h6", "hr", "br",
       "table", "thead", "tbody", "tr", "th", "td"}  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html,<script>)",
        "[x](vbscript:x)",
        "<javascript:alert(1)>",
        "![x](http://evil.example/track.png)",
        "[x]: javascript:alert(1)\n\n[x]",
        '[x](http://a.example/"onmouseover="alert(1))',
        "```html\n<script>\n```",
    ],
)
def test_no_tag_of_a_text_is_a_tag_of_the_page(text):
    html = prose(text)
    for name, attributes in TAGS.findall(html):
        assert name in MAY
        assert not re.search(r"\s(on\w+|src|style)=", attributes)
        assert "script:" not in attributes.lower()
        assert "data:" not in attributes.lower()


@given(st.text(alphabet=st.sampled_from("<>\"'&[]()!`*_:/ \n\\javscript=#onerimg"), max_size=200))
def test_whatever_is_written(text):
    for name, attributes in TAGS.findall(prose(text)):
        assert name in MAY
        assert not re.search(r"\s(on\w+|src)=", attributes)


def test_a_link_to_the_web_tells_nobody_where_it_was_followed():
    assert 'rel="noopener noreferrer nofollow"' in prose("[x](https://example.com)")


def test_a_huge_line_is_shown_by_its_ends():
    text = "a" * 10**6
    assert len(prose(text)) < 2 * MOST
    assert len(shortened(text)) < 2 * MOST


DIFF = """diff --git a/x.py b/x.py
--- a/x.py
+++ b/x.py
@@ -1 +1,2 @@
-old <script>
+new </pre><script>alert(1)</script>
+more
diff --git a/gone.py b/gone.py
deleted file mode 100644
--- a/gone.py
+++ /dev/null
@@ -1 +0,0 @@
-x
"""


def test_a_diff_is_shown_file_by_file():
    found = pieces(DIFF)
    assert [(one.path, one.added, one.removed) for one in found.files] == [("x.py", 2, 1), ("gone.py", 0, 1)]
    assert not found.cut
    assert "<script" not in found.files[0].html
    assert '<span class="gi">' in found.files[0].html


def test_a_file_without_changed_lines_says_what_has_changed():
    """Else it would read as one in which nothing has."""
    found = pieces(
        "diff --git a/l.png b/l.png\nindex 1..2 100644\nBinary files a/l.png and b/l.png differ\n"
        "diff --git a/old.py b/new.py\nsimilarity index 100%\nrename from old.py\nrename to new.py\n"
        "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
        "diff --git a/link b/link\nnew file mode 120000\n--- /dev/null\n+++ b/link\n@@ -0,0 +1 @@\n+rename from x\n"
    )
    assert [(one.path, one.kind) for one in found.files] == [
        ("l.png", "binary"),
        ("new.py", "was old.py"),
        ("run", "may be run now"),
        ("link", "new link"),
    ]
    assert [one.kind for one in pieces(DIFF).files] == ["", "deleted"]


def test_a_line_of_a_file_names_no_file():
    """Bug: under a name that git quotes, an added line `++ b/x` was taken for the file's name."""
    diff = 'diff --git "a/lib/a\\tb" "b/lib/a\\tb"\n--- "a/lib/a\\tb"\n+++ "b/lib/a\\tb"\n@@ -1,2 +1,2 @@\n--- a/x\n+++ b/harmless\n'
    (found,) = pieces(diff).files
    assert (found.path, found.added, found.removed) == ("lib/a\\tb", 1, 1)


def test_a_huge_diff_is_cut_and_says_so():
    assert pieces(DIFF + "+x\n" * MOST_DIFF).cut
    assert pieces("").files == []


def test_a_title_of_an_agents_is_below_those_of_the_page():
    assert prose("# a\n\n## b\n\n##### c") == "<h4>a</h4>\n<h5>b</h5>\n<h6>c</h6>\n"
