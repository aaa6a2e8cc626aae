"""A look at a folder: what it tells, and that it looks nowhere but in the project (security, rows 1 to 3)."""

import os

import pytest

from hub.api.graph import CodeEdge
from hub.errors import Code, HubError
from hub.io.graph import project
from tests.refusals import refuses


def project_graph(root, path, hide=str, **limits):
    return project.project_graph(root, path, hide, **limits)


@pytest.fixture
def root(tmp_path):
    found = tmp_path / "project"
    (found / "pkg").mkdir(parents=True)
    (found / "pkg/a.py").write_text("def f(): ...\nclass C: ...\n")
    (found / "b.go").write_text("package b\n\nfunc Go() {}\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.py").write_text("def secret(): ...\n")
    return found


def names(found):
    return {node.id for node in found.nodes}


def test_modules_and_symbols_below_a_folder(root):
    whole = project_graph(root, ".")
    assert names(whole) == {
        "module:pkg/a.py",
        "symbol:pkg/a.py#f",
        "symbol:pkg/a.py#C",
        "module:b.go",
        "symbol:b.go#Go",
    }
    (root / "pkg/b.py").write_text("import os\nfrom a import f\n")
    (root / "go.mod").write_text("module ex.org/m\n")
    (root / "pkg/c.go").write_text('package c\n\nimport "ex.org/m"\n')
    assert {(edge.from_id, edge.to_id) for edge in project_graph(root, ".").edges if edge.edge_type == "imports"} == {
        ("module:pkg/b.py", "module:pkg/a.py"), ("module:pkg/b.py", "outside:python:os"), ("module:pkg/c.go", "module:b.go"),
    }  # fmt: skip
    for file in ("pkg/b.py", "pkg/c.go"):
        (root / file).unlink()
    defines = CodeEdge(from_id="module:b.go", to_id="symbol:b.go#Go", edge_type="defines")
    assert defines in whole.edges
    assert whole.truncated is False
    assert names(project_graph(root, str(root / "pkg"))) == {"module:a.py", "symbol:a.py#f", "symbol:a.py#C"}
    assert names(project_graph(root, "pkg/../pkg")) == names(project_graph(root, "pkg"))


@pytest.mark.parametrize(
    "path",
    ["..", "../outside", "../../etc", "/etc", "/", "/proc/self/environ", "~", "file:///etc", "nowhere", "b.go", "x" * 4096,
     "leads-out", "leads-out/deeper", "loop"],
)  # fmt: skip
def test_what_is_no_folder_of_the_project_is_not_found_whether_or_not_it_is_there(root, path):
    """Row 1 and 2: no existence oracle, no link out."""
    (root / "leads-out").symlink_to(root.parent / "outside")
    (root / "loop").symlink_to("loop")
    with refuses(Code.NOT_FOUND) as caught:
        project_graph(root, path)
    with pytest.raises(HubError) as other:
        project_graph(root, "surely-not-there")
    assert (caught.value.detail, caught.value.hint) == (other.value.detail, other.value.hint)


@pytest.mark.parametrize("path", ["\0", "pkg\n", "a\x1b[0m", "a\u202eb"])
def test_a_control_character_is_no_path(root, path):
    with refuses(Code.MALFORMED):
        project_graph(root, path)


def test_links_and_pipes_inside_are_passed_over(root):
    """Row 3: a FIFO holds nobody up, a link in a folder is not followed."""
    os.mkfifo(root / "pipe.py")
    (root / "pkg/out.py").symlink_to(root.parent / "outside/secret.py")
    (root / "pkg/around").symlink_to(root)
    found = project_graph(root, ".")
    assert not any("secret" in name or "pipe" in name or "around" in name for name in names(found))


def test_a_look_ends_by_its_size_and_says_which(root):
    """Never by the clock: the same folder has the same answer on a busy machine."""
    cut = project_graph(root, ".", entries=1)
    assert (cut.truncated, cut.limit) == (True, "1 files and folders")
    cut = project_graph(root, ".", most=1)
    assert (cut.truncated, cut.limit, len(cut.nodes)) == (True, "1 nodes", 1)
    whole = project_graph(root, ".", entries=3)
    assert (whole.truncated, whole.limit) == (False, "")


def test_names_are_shown_without_secrets_and_without_what_a_terminal_acts_on(root):
    """Whatever a name is, each stays where it belongs: all are looked at as one text, a line each."""
    (root / "pkg/key_hunter2.py").write_text("def hunter2_now(): ...\nclass Plain: ...\nimport hunter2.x\n")
    (root / "pkg/line\nend\u2028sep\x1b[2J.py").write_text("def odd(): ...\n")
    found = project_graph(root, "pkg", lambda text: text.replace("hunter2", "[HIDDEN]"))
    assert names(found) == {
        "module:a.py", "symbol:a.py#f", "symbol:a.py#C",
        "module:key_[HIDDEN].py", "symbol:key_[HIDDEN].py#[HIDDEN]_now", "symbol:key_[HIDDEN].py#Plain",
        "module:line end sep.py", "symbol:line end sep.py#odd", "outside:python:[HIDDEN]",
    }  # fmt: skip
    assert not any("hunter2" in str(part) or "\x1b" in str(part) for part in (found.nodes, found.edges))


def test_a_cut_answer_has_no_edge_to_what_was_cut_off(root):
    whole = project_graph(root, ".")
    assert project_graph(root, ".", most=len(whole.nodes)) == whole
    for most in range(len(whole.nodes)):
        cut = project_graph(root, ".", most=most)
        assert (cut.truncated, len(cut.nodes)) == (True, most)
        assert all({edge.from_id, edge.to_id} <= names(cut) for edge in cut.edges)
        assert len(cut.edges) == sum(":" in name and "#" in name for name in names(cut))


@pytest.mark.parametrize("name", ["data/1.bin", "folder/only/folders/"])
def test_what_is_no_code_counts_too(tmp_path, name):
    """A folder with a million pictures gives no file to look at, and so once no end."""
    (tmp_path / name).mkdir(parents=True)
    cut = project_graph(tmp_path, ".", entries=0)
    assert (cut.nodes, cut.edges, cut.truncated) == ([], [], True)
    assert project_graph(tmp_path, ".").truncated is False
