"""Places: made safely, found from anywhere, and keys nobody else can read."""

# ruff: noqa: PTH208  # names, not paths
import os
import shutil
import stat
import subprocess
from functools import partial
from pathlib import Path

import pytest

from hub.errors import Code, HubError
from hub.io.files.atomic import sweep_temps
from hub.io.project.hub_dir import insist_private
from hub.io.project.places import Places, exclude_hub, find_project, load_or_create_key, make_private_dir
from hub.io.runner.proc import OWN_END
from tests.faults.harness import git, repository
from tests.other_user import NOBODY, only_root
from tests.refusals import refuses


@pytest.fixture
def repo(tmp_path, monkeypatch):
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("HUB_SIGNING_KEY", raising=False)
    return repository(tmp_path / "repo")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_ensure_makes_0700_whatever_the_umask_and_hides_hub_from_git(repo, open_umask):
    Places(repo).ensure()
    Places(repo).ensure()
    places = Places(repo)
    for path in (places.hub_dir, places.worktrees, places.run_dir, places.git_dir, places.adopted):
        assert mode(path) == 0o700
    assert (repo / ".git/info/exclude").read_text().splitlines().count("/.hub/") == 1
    assert not (repo / ".gitignore").exists()
    (places.hub_dir / "x").write_text("x")
    assert git(repo, "status", "--porcelain") == ""


def test_every_path_lies_in_a_folder_that_is_one(repo):
    """Folders are named by words: a wrong one showed when somebody asked for the path."""
    places = Places(repo).of("s-1")
    found = {name: getattr(places, name) for name in dir(places) if not name.startswith("_")}
    paths = {name: path for name, path in found.items() if isinstance(path, Path)}
    assert {"hub_dir", "fsm", "keys"} <= paths.keys()
    for path in paths.values():
        assert path.is_relative_to(repo) or path.is_relative_to(places.state)


def test_ensure_takes_a_wide_open_directory_back(repo):
    (repo / ".hub").mkdir(mode=0o777)
    (repo / ".hub").chmod(0o777)
    Places(repo).ensure()
    assert mode(repo / ".hub") == 0o700


@pytest.mark.parametrize("target", ["directory", "file", "nowhere"])
def test_hub_as_a_link_is_refused(repo, tmp_path, target):
    """Security row 28."""
    (tmp_path / "directory").mkdir()
    (tmp_path / "file").write_text("x")
    (repo / ".hub").symlink_to(tmp_path / target)
    with refuses(Code.NO_PERMISSION):
        Places(repo).ensure()
    assert os.listdir(tmp_path / "directory") == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_another_users_directory_is_refused(tmp_path):
    (tmp_path / "theirs").mkdir()
    os.chown(tmp_path / "theirs", 12345, 12345)
    with refuses(Code.NO_PERMISSION):
        make_private_dir(tmp_path / "theirs")


def test_what_is_to_be_run_can_be_pasted_wherever_the_project_is(tmp_path, monkeypatch):
    """Bug: with a blank in the path, the shell took it for two files."""
    monkeypatch.setenv("HUB_STATE_DIR", str(tmp_path / "my state"))
    repo = repository(tmp_path / "my work; it's")

    def helped(refused):
        with refuses(Code.NO_PERMISSION) as caught:
            refused()
        subprocess.run(["sh", "-c", caught.value.hint.rpartition(": ")[2]], check=True, cwd=tmp_path)

    (repo / ".hub").symlink_to(tmp_path / "nowhere")
    helped(partial(insist_private, repo))
    assert os.path.lexists(repo / ".hub.old")
    (repo / ".hub").mkdir()
    (repo / ".hub").chmod(0o777)
    helped(partial(insist_private, repo))
    load_or_create_key("audit")
    (key,) = (tmp_path / "my state").rglob("audit.key")
    key.chmod(0o644)
    helped(partial(load_or_create_key, "audit"))
    assert (mode(repo / ".hub"), mode(key)) == (0o700, 0o600)


def test_only_what_is_in_hubs_own_folder_is_swept(repo, tmp_path, monkeypatch):
    """A user's `.report.2024-11.draft.tmp/` was deleted; in folders of all projects the writer may run elsewhere."""
    monkeypatch.setenv("HUB_CONFIG_DIR", str(tmp_path / "config"))
    places = Places(repo)
    places.ensure()
    (tmp_path / "out" / "below").mkdir(parents=True)
    (places.git_dir / "s-1").symlink_to(tmp_path / "out")
    (places.git_dir / "s-2" / "index.gitdir").mkdir(parents=True)
    others = (repo, tmp_path / "config", places.state / "keys", places.worktrees, tmp_path / "out" / "below")
    mine = (places.hub_dir, places.adopted, places.git_dir, places.git_dir / "s-2" / "index.gitdir")
    names = (f".hub.toml.1-1.0{OWN_END}", ".report.2024-11.draft.tmp")
    theirs = [folder / name / "kept" for folder in others for name in names]
    left = [folder / names[0] / "a" for folder in mine]
    for folder in (*theirs, *left):
        folder.mkdir(parents=True)
    for folder in places.written():
        sweep_temps(folder)
    assert all(folder.exists() for folder in theirs)
    assert not any(folder.parent.exists() for folder in left)


def test_exclude_of_a_linked_worktree_is_the_common_one(repo, tmp_path):
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    Places(tmp_path / "linked").ensure()
    assert "/.hub/" in (repo / ".git/info/exclude").read_text()


@pytest.mark.parametrize("there", ["link", "file"])
def test_what_stands_in_for_the_folder_of_exclude_is_said(repo, tmp_path, there):
    """Bug: with a link in the place of `.git/info`, which an archive may bring, `hub run` ended with a bare errno."""
    info = repo / ".git/info"
    shutil.rmtree(info)
    if there == "link":
        info.symlink_to(tmp_path)
    else:
        info.touch()
    with refuses(Code.NO_PERMISSION):
        exclude_hub(repo)
    assert not (tmp_path / "exclude").exists()


def test_exclude_keeps_what_the_user_wrote(repo):
    exclude = repo / ".git/info/exclude"
    exclude.write_text("*.tmp")
    Places(repo).ensure()
    assert exclude.read_text() == "*.tmp\n/.hub/\n/.aider.tags.cache.v*/\n"


def test_project_is_found_from_below(repo):
    (repo / "a/b").mkdir(parents=True)
    assert find_project(repo / "a/b") == repo
    (repo / "a/f").write_text("x")
    assert find_project(repo / "a/f") == repo


def test_from_a_session_worktree_the_project_is_its_own(repo):
    Places(repo).ensure()
    git(repo, "worktree", "add", "-q", str(repo / ".hub/worktrees/s1"))
    (repo / ".hub/worktrees/s1/d").mkdir()
    assert find_project(repo / ".hub/worktrees/s1/d") == repo


def test_a_users_own_worktree_is_its_own_project(repo, tmp_path):
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"))
    assert find_project(tmp_path / "linked") == tmp_path / "linked"


@only_root
def test_what_is_advised_of_another_users_repository_helps(tmp_path, monkeypatch):
    """The folder that hub was called in was named, which git does not look at, and its blanks ended the command's word."""
    # Named, or the advice would be written to the machine's own: of the tests' /dev/null git makes a file.
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    root = tmp_path / "their project"
    (root / "src").mkdir(parents=True)
    git(root, "init", "-q")
    for path in (root, root / ".git"):
        os.chown(path, NOBODY, NOBODY)
    with pytest.raises(HubError) as caught:
        find_project(root / "src")
    assert caught.value.code is Code.NO_PERMISSION
    _, _, advised = caught.value.hint.partition("Run: ")
    subprocess.run(["sh", "-c", advised], check=True, cwd=tmp_path)
    assert find_project(root / "src") == root


def test_a_folder_may_have_any_name_that_git_takes(tmp_path):
    """A line end in its name was read as the end of git's answer: there was no repository, and `git init` was advised."""
    root = tmp_path / "a b\n\u65e5"
    root.mkdir()
    git(root, "init", "-q")
    (root / "c\nd").mkdir()
    assert find_project(root / "c\nd") == root


def test_no_repository_and_bare_repository(tmp_path):
    with refuses(Code.NOT_A_REPOSITORY):
        find_project(tmp_path)
    git(tmp_path, "init", "-q", "--bare", "bare")
    with pytest.raises(HubError) as told:  # `git init` was advised, which changes nothing there
        find_project(tmp_path / "bare")
    assert (told.value.code, "git worktree add" in told.value.hint) == (Code.NOT_A_REPOSITORY, True)


def test_a_working_tree_that_does_not_know_its_repository_is_said(repo, tmp_path):
    """`core.worktree`: every command ended with words of git about another folder, and advised hub doctor."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    git(repo, "config", "core.worktree", str(elsewhere))
    with refuses(Code.NOT_A_REPOSITORY, "core.worktree"):
        find_project(repo)
    (elsewhere / ".git").write_text(f"gitdir: {repo / '.git'}\n")
    assert find_project(elsewhere) == elsewhere


def test_git_missing(repo, monkeypatch):
    monkeypatch.setenv("PATH", str(repo))
    with refuses(Code.GIT_MISSING):
        find_project(repo)


def test_environment_of_a_git_hook_does_not_mislead(repo, tmp_path, monkeypatch):
    """`hub` started from a git hook inherits GIT_DIR of that repository."""
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    assert find_project(repo) == repo


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository away")
def test_the_project_of_whoever_called_sudo_is_trusted_as_git_does(repo, monkeypatch):
    for place in (repo, repo / ".git"):
        os.chown(place, 1000, -1)
    monkeypatch.setenv("SUDO_UID", "1001")
    with refuses(Code.NO_PERMISSION):
        find_project(repo)
    monkeypatch.setenv("SUDO_UID", "1000")
    assert find_project(repo) == repo


def test_key_is_made_once_0600_and_per_purpose(repo):
    first = load_or_create_key("audit")
    assert len(first) == 32
    assert load_or_create_key("audit") == first
    assert load_or_create_key("contract") != first
    path = Places(repo).keys.joinpath("audit.key")
    assert mode(path) == 0o600
    assert mode(path.parent) == 0o700
    assert repo not in path.parents


def test_signing_key_from_the_environment_is_for_contracts_only(repo, monkeypatch):
    monkeypatch.setenv("HUB_SIGNING_KEY", "ab" * 32)
    assert load_or_create_key("contract") == b"\xab" * 32
    assert load_or_create_key("audit") != b"\xab" * 32
    monkeypatch.setenv("HUB_SIGNING_KEY", "xyz")
    with refuses(Code.CONFIG_INVALID):
        load_or_create_key("contract")


def test_a_key_others_can_read_is_refused(repo):
    load_or_create_key("audit")
    Places(repo).keys.joinpath("audit.key").chmod(0o644)
    with refuses(Code.NO_PERMISSION) as caught:
        load_or_create_key("audit")
    assert "chmod 600" in caught.value.hint


def test_a_damaged_key_is_not_replaced_silently(repo):
    """X12: a new key would make every older signature look forged."""
    load_or_create_key("audit")
    Places(repo).keys.joinpath("audit.key").write_text("short")
    with refuses(Code.STATE_CORRUPT):
        load_or_create_key("audit")
    assert Places(repo).keys.joinpath("audit.key").read_text() == "short"


def test_a_purpose_is_never_a_path():
    with pytest.raises(ValueError, match="purpose"):
        load_or_create_key("../x")
