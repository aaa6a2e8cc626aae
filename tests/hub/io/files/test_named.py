"""What the file system says of the files that a request names."""

import pytest

from hub.domain.permission.rules import Named
from hub.io.files import named
from hub.io.files.named import look, texts


def test_a_path_is_followed_through_every_link(tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a").write_text("x")
    (tmp_path / "link").symlink_to("d")
    (tmp_path / "loop").symlink_to("loop")
    names = [str(tmp_path / name) for name in ("d/a", "link/a", "link/gone", "loop")]
    found = look(Named(frozenset([*names, "\0"])))
    assert found.real == {names[1]: names[0], names[2]: str(tmp_path / "d" / "gone")}


def test_a_searched_folder_has_the_files_below_it_and_those_that_links_lead_to(tmp_path):
    (tmp_path / "d" / "e").mkdir(parents=True)
    (tmp_path / "d" / "e" / "a").write_text("x")
    (tmp_path / "far").write_text("x")
    (tmp_path / "d" / "link").symlink_to(tmp_path / "far")
    folder = str(tmp_path / "d")
    file = f"{folder}/e/a"
    found = look(Named(searched=frozenset([folder, file, "/gone"]))).below
    assert set(found[folder] or ()) == {f"{folder}/e", file, f"{folder}/link", str(tmp_path / "far")}
    assert found[file] == [file]
    assert found["/gone"] == []


def test_what_a_shell_finds_for_a_pattern_is_searched(tmp_path):
    """Bug: `rm -rf d*` took away the file in `d` that a rule denied."""
    for name in ("d", ".d", "e"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").touch()
    patterns = {
        f"{tmp_path}/{sign}": names for sign, names in (("d*", "d"), ("[!e]", "d"), ("[[:alpha:]]", "de"))
    }
    found = look(Named(searched=frozenset([*patterns, f"{tmp_path}/*"]))).below
    for pattern, names in patterns.items():
        assert {f"{tmp_path}/{name}/a" for name in names} <= set(found[pattern] or ())
    assert f"{tmp_path}/.d/a" in (found[f"{tmp_path}/*"] or ())


def test_a_folder_behind_a_link_is_searched_from_where_the_link_leads(tmp_path):
    (tmp_path / "d" / "sub").mkdir(parents=True)
    (tmp_path / "d" / "a").touch()
    (tmp_path / "L").symlink_to("d/sub")
    folder = f"{tmp_path}/L/.."
    assert f"{tmp_path}/d/a" in (look(Named(searched=frozenset([folder]))).below[folder] or ())


def test_of_too_many_files_nothing_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(named, "MOST", 1)
    for name in "ab":
        (tmp_path / name).touch()
    assert look(Named(searched=frozenset([str(tmp_path)]))).below == {str(tmp_path): None}


@pytest.mark.parametrize("name", ["a.rules", "*.rules"])
def test_texts_are_those_of_files_that_can_be_read(tmp_path, name):
    (tmp_path / "a.rules").write_bytes(b"x\xff")
    (tmp_path / "b.rules").mkdir()
    assert texts(f"{tmp_path}/{name}") == ["x\N{REPLACEMENT CHARACTER}"]
    assert texts(f"{tmp_path}/gone/*") == []
