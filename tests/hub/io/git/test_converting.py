"""Files that a repository keeps otherwise than they are checked out differ only where they were changed."""

import base64
import os

import attrs
import pytest

from hub.api.results import How
from hub.errors import HubError
from hub.io.git import converting
from hub.io.git.env import git
from hub.io.git.merge import merge_bases, run_base
from hub.io.git.repository import commit_diff, session_diff
from hub.io.git.snapshot import snapshot
from hub.io.git.taking import take
from hub.io.git.worktree import add_worktree
from hub.io.project.places import Places
from tests.hub.io.git.kit import make_repo, session, sh
from tests.hub.io.git.test_taking import clean, told

LINES = [f"line {number}" for number in range(20)]


def bat(*lines, end="\r\n"):
    return "".join(line + end for line in lines).encode()


def keeps(root, attributes, files):
    """A repository that has these attributes and files, checked out as they say."""
    if attributes:
        (root / ".gitattributes").write_text(attributes)
    for name, data in files.items():
        (root / name).write_bytes(data)
    sh(root, "add", "-A")
    sh(root, "commit", "-qm", "attributes")
    assert clean(root)


async def ended(wt, name="s1"):
    return await snapshot(wt.path, name, "end-t", {}, root=wt.path.parents[2])


@attrs.frozen
class Way:
    """A file of a repository with these attributes: as it is checked out, as an agent leaves it, and as git stores that."""

    attributes: str
    first: bytes
    then: bytes
    kept: bytes


WAYS = {
    "crlf": Way("*.bat text eol=crlf\n", bat(*LINES), bat(*LINES, "new"), bat(*LINES, "new", end="\n")),
    "mixed": Way("*.bat text eol=crlf\n", bat(*LINES), bat(*LINES) + b"new\n", bat(*LINES, "new", end="\n")),
    "text": Way("*.bat text\n", bat(*LINES, end="\n"), bat(*LINES, "new"), bat(*LINES, "new", end="\n")),
    "auto": Way("* text=auto\n", bat(*LINES, end="\n"), bat(*LINES, "new"), bat(*LINES, "new", end="\n")),
    "ident": Way(
        "*.bat ident\n",
        b"$Id$\n" + bat(*LINES),
        b"$Id: 12 $\n" + bat(*LINES, "new"),
        b"$Id$\n" + bat(*LINES, "new"),
    ),
    "encoding": Way(
        "*.bat working-tree-encoding=UTF-16LE\n",
        "\n".join(LINES).encode("utf-16le"),
        "\n".join((*LINES, "ü")).encode("utf-16le"),
        "\n".join((*LINES, "ü")).encode(),
    ),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("how", [How.COMMIT, How.BRANCH, How.MERGE])
async def test_what_is_taken_is_stored_as_git_would_have(repo, how, way):
    """Each line of such a file differed, and it stayed changed in the user's checkout for ever."""
    keeps(repo, way.attributes, {"a.bat": way.first})
    wt = await session(repo)
    (wt.path / "a.bat").write_bytes(way.then)
    (wt.path / "new.bat").write_bytes(way.then)
    (wt.path / "data.bin").write_bytes(b"\0\r\n")
    made = await ended(wt)
    live = await session_diff(repo, "main", "hub/s1", wt.path)
    over = await session_diff(repo, "main", "hub/s1")
    assert live == over == await commit_diff(repo, made.sha)
    assert over.diff.count("\n-") - over.diff.count("\n--- ") <= 1, "the last line, which had no end"
    answer = await take(repo, told(), how)
    took = answer.commit
    assert sh(repo, "cat-file", "blob", f"{took}:a.bat").encode() == way.kept
    assert sh(repo, "cat-file", "blob", f"{took}:new.bat").encode() == way.kept
    assert sh(repo, "cat-file", "blob", f"{took}:data.bin") == "\0\r\n"
    assert clean(repo)
    if how is How.COMMIT:
        (repo / "a.bat").touch()
        assert clean(repo), "also where git looks at the file anew"
    assert (
        sh(wt.path, "cat-file", "blob", f"{made.sha}:a.bat").encode("utf-8", "surrogateescape") == way.then
    ), "of the snapshot no byte is another"


async def test_unfinished_work_that_came_along_is_beside_it(repo):
    """The commit that carries it has the file as it is in the checkout: both changes were one conflict."""
    keeps(repo, "*.bat text eol=crlf\n", {"a.bat": bat(*LINES)})
    (repo / "a.bat").write_bytes(bat("mine", *LINES[1:]))
    wt = await session(repo, carry_dirty=True)
    (wt.path / "a.bat").write_bytes(bat("mine", *LINES[1:], "new"))
    await ended(wt)
    told_of = await session_diff(repo, "main", "hub/s1")
    assert [line for line in told_of.diff.splitlines() if line[0] in "+-"][2:] == ["+new"]
    answer = await take(repo, told(), How.BRANCH, "aside")
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:a.bat").encode() == bat(*LINES, "new", end="\n")


async def test_line_endings_that_the_repository_has_stay(repo):
    """As git leaves them, where it is told to find out by itself."""
    (repo / "a.bat").write_bytes(bat(*LINES))
    sh(repo, "add", "-A")
    sh(repo, "commit", "-qm", "a file")
    keeps(repo, "* text=auto\n", {})
    wt = await session(repo)
    (wt.path / "a.bat").write_bytes(bat(*LINES, "new"))
    await ended(wt)
    answer = await take(repo, told(), How.COMMIT)
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:a.bat").encode() == bat(*LINES, "new")
    assert clean(repo)


@pytest.mark.parametrize("folder", ["d", "d/deep", "d\nodd"])
async def test_attributes_stand_in_any_folder_above_a_file(repo, folder):
    """They are looked for there alone: in a large repository a list of all its files takes longer than the rest."""
    (repo / folder).mkdir(parents=True, exist_ok=True)
    (repo / folder / ".gitattributes").write_text("*.bat text eol=crlf\n")
    (repo / folder / "x").mkdir()
    keeps(repo, "", {f"{folder}/x/a.bat": bat(*LINES), "b.bat": bat(*LINES)})
    wt = await session(repo)
    for name in (f"{folder}/x/a.bat", "b.bat"):
        (wt.path / name).write_bytes(bat(*LINES, "new"))
    await ended(wt)
    answer = await take(repo, told(), How.COMMIT)
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:{folder}/x/a.bat") == "".join(
        line + "\n" for line in (*LINES, "new")
    )
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:b.bat").encode() == bat(*LINES, "new")


async def test_a_file_that_git_could_not_add_stays_as_it_is(repo):
    first = "a\n".encode("utf-16le")
    keeps(repo, "*.txt working-tree-encoding=UTF-16LE\n", {"x.txt": first, "y.txt": first})
    wt = await session(repo)
    (wt.path / "x.txt").write_bytes(b"odd")
    (wt.path / "y.txt").write_bytes("b\n".encode("utf-16le"))
    await ended(wt)
    answer = await take(repo, told(), How.BRANCH, "aside")
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:x.txt") == "odd"
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:y.txt") == "b\n"


async def test_attributes_that_are_in_no_commit_count_too(repo):
    """`.git/info/attributes`: its worktree is checked out by them, and each line of a file differed."""
    (repo / ".git/info/attributes").write_text("*.bat text eol=crlf\n")
    keeps(repo, "", {"a.bat": bat(*LINES)})
    wt = await session(repo)
    assert (wt.path / "a.bat").read_bytes() == bat(*LINES)
    (wt.path / "a.bat").write_bytes(bat(*LINES, "new"))
    await ended(wt)
    told_of = await session_diff(repo, "main", "hub/s1")
    assert [line for line in told_of.diff.splitlines() if line[0] in "+-"][2:] == ["+new"]
    answer = await take(repo, told(), How.COMMIT)
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:a.bat").encode() == bat(*LINES, "new", end="\n")


async def test_only_what_may_become_something_else_is_written_out(repo, monkeypatch):
    """Of 3,000 changed files under `* text=auto` each was, for a few seconds, though none had another line ending."""
    keeps(repo, "* text=auto\n*.id ident\n", {"b.id": b"$Id$\n"})
    wt = await session(repo)
    files = {
        "plain": b"a\nb\n",
        "crlf": b"a\r\nb\n",
        "zeros": b"\0\r\n",
        "x.id": b"$Id: 12 $\n",
        "$Id": b"a\n",
    }
    for name, data in files.items():
        (wt.path / name).write_bytes(data)
    (wt.path / "gone\nodd").write_bytes(b"a\r\n")
    await ended(wt)
    written = []

    async def noted(*args, **more):
        if args[0] == "checkout-index":
            written.extend(more["stdin"].split(b"\0")[:-1])
        return await git(*args, **more)

    monkeypatch.setattr(converting, "git", noted)
    answer = await take(repo, told(), How.COMMIT)
    assert sorted(written) == [b"crlf", b"gone\nodd", b"x.id", b"zeros"]
    stored = {name: sh(repo, "cat-file", "blob", f"{answer.commit}:{name}").encode() for name in files}
    assert stored == files | {"crlf": b"a\nb\n", "x.id": b"$Id$\n"}


@pytest.mark.parametrize("said", ["autocrlf", "autocrlf = yes", "autocrlf = input"])
async def test_what_the_user_has_set_for_all_his_repositories_counts(repo, tmp_path, monkeypatch, said):
    settings = tmp_path / "gitconfig"
    settings.write_text(f"[core]\n{said}\n[user]\nname = Ada\nemail = ada@example.com\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    wt = await session(repo)
    (wt.path / "new.txt").write_bytes(b"a\r\n")
    (wt.path / "d" / "b.txt").unlink()
    (wt.path / "d").rmdir()
    (wt.path / "d").write_bytes(b"now a file\r\n")
    await ended(wt)
    answer = await take(repo, told(), How.COMMIT)
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:new.txt") == "a\n"
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:d") == "now a file\n"
    assert clean(repo)


async def test_a_look_leaves_nothing_in_the_repository(repo):
    keeps(repo, "*.bat text\n", {"a.bat": bat(*LINES, end="\n")})
    wt = await session(repo)
    (wt.path / "a.bat").write_bytes(bat(*LINES, "new"))
    await ended(wt)
    before = sh(repo, "count-objects", "-v")
    assert (await session_diff(repo, "main", "hub/s1")).diff
    assert sh(repo, "count-objects", "-v") == before
    assert not list(Places(repo).git_dir.glob(".added.*"))


def committed_before_its_attributes(root):
    """A file that git has with CRLF and would store without, and takes for unchanged: it is older than the index."""
    (root / "a.bat").write_bytes(bat(*LINES))
    os.utime(root / "a.bat", (1, 1))
    sh(root, "add", "-A")
    sh(root, "commit", "-qm", "a file")
    (root / ".gitattributes").write_text("*.bat text\n")
    sh(root, "add", ".gitattributes")
    sh(root, "commit", "-qm", "attributes, and nothing renormalised")
    assert clean(root)


@pytest.mark.parametrize("how", [How.COMMIT, How.BRANCH, How.PATCH])
@pytest.mark.parametrize("carried", [False, True])
async def test_what_the_user_has_otherwise_than_git_would_store_it_is_no_conflict(repo, how, carried):
    """Committed with CRLF, and named in the attributes only later: where it began was converted, his own commit not."""
    committed_before_its_attributes(repo)
    if carried:
        (repo / "mine.txt").write_text("unfinished\n")
    wt = await session(repo, carry_dirty=carried)
    (wt.path / "a.bat").write_bytes(bat(*LINES, "new"))
    await ended(wt)
    answer = await take(repo, told(), how)
    if how is How.PATCH:
        (repo.parent / "patch").write_bytes(base64.b64decode(answer.patch))
        sh(repo, "apply", "--cached", str(repo.parent / "patch"))
        return
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:a.bat").encode() == bat(*LINES, "new", end="\n")


async def test_a_file_that_its_user_has_renormalised_meanwhile_merges(repo):
    committed_before_its_attributes(repo)
    wt = await session(repo)
    (wt.path / "a.bat").write_bytes(bat(*LINES, "new"))
    await ended(wt)
    sh(repo, "add", "--renormalize", ".")
    sh(repo, "commit", "-qm", "renormalised")
    answer = await take(repo, told(), How.COMMIT)
    assert sh(repo, "cat-file", "blob", f"{answer.commit}:a.bat").encode() == bat(*LINES, "new", end="\n")


@pytest.mark.parametrize("carried", [False, True])
@pytest.mark.parametrize("folder", ["", "sub/"])
async def test_nodes_that_change_other_lines_of_such_a_file_are_no_conflict(repo, folder, carried):
    """Every line of it differed on both sides, from a base that may have it as it lies in the checkout."""
    (repo / "sub").mkdir()
    (repo / f"{folder}.gitattributes").write_text("*.bat text eol=crlf\n")
    keeps(repo, "", {f"{folder}a.bat": bat(*LINES)})
    if carried:
        (repo / f"{folder}a.bat").write_bytes(bat(*LINES, "unfinished"))
    head = sh(repo, "rev-parse", "HEAD").strip()
    base = await run_base(repo, "run-1", head)
    tips = []
    for name, lines in (("s1", ("one", *LINES[1:])), ("s2", (*LINES[:10], "two", *LINES[11:]))):
        tree = Places(repo).worktree(name)
        await add_worktree(repo, tree, f"hub/{name}", base)
        (tree / f"{folder}a.bat").write_bytes(bat(*lines, *(["unfinished"] if carried else [])))
        tips.append((await snapshot(tree, name, "end-t", {}, root=repo)).sha)
    made = await merge_bases(repo, tips, "both\n")
    want = bat("one", *LINES[1:10], "two", *LINES[11:], *(["unfinished"] if carried else []), end="\n")
    assert sh(repo, "cat-file", "blob", f"{made}:{folder}a.bat").encode() == want
    assert sh(repo, "log", "-1", "--format=%P", made).split() == tips
    assert await merge_bases(repo, tips, "both\n") == made
    other = (await ended_with(repo, base, f"{folder}a.bat", bat("another", *LINES[1:]))).sha
    with pytest.raises(HubError) as caught:
        await merge_bases(repo, [tips[0], other], "both\n")
    assert caught.value.extra["files"] == [f"{folder}a.bat"]
    assert tips[0][:12] in caught.value.detail


async def ended_with(root, base, name, data):
    """A session of this one file, from there."""
    tree = Places(root).worktree("s3")
    await add_worktree(root, tree, "hub/s3", base)
    (tree / name).write_bytes(data)
    return await snapshot(tree, "s3", "end-t", {}, root=root)


async def test_a_merge_that_the_user_takes_is_no_conflict_either(repo):
    keeps(repo, "*.bat text eol=crlf\n", {"a.bat": bat(*LINES)})
    wt = await session(repo)
    (wt.path / "a.bat").write_bytes(bat(*LINES[:10], "agent's", *LINES[11:]))
    await ended(wt)
    (repo / "a.bat").write_bytes(bat("mine", *LINES[1:]))
    sh(repo, "commit", "-qam", "mine")
    took = (await take(repo, told(), How.MERGE)).commit
    want = bat("mine", *LINES[1:10], "agent's", *LINES[11:], end="\n")
    assert sh(repo, "cat-file", "blob", f"{took}:a.bat").encode() == want
    assert clean(repo)


async def test_a_file_is_new_in_a_repository_with_longer_ids(tmp_path):
    root = make_repo(tmp_path / "repo", "--object-format=sha256")
    keeps(root, "*.bat text\n", {})
    wt = await session(root)
    (wt.path / "run.bat").write_bytes(bat(*LINES))
    assert await ended(wt)
    await take(root, told(), How.COMMIT)
    assert sh(root, "cat-file", "blob", "HEAD:run.bat").encode() == bat(*LINES, end="\n")
