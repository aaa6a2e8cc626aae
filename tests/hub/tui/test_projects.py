"""The sessions of all projects on one board, and the way from one project to another."""

from functools import partial

import pytest

from hub.client.quick import find
from hub.tui.projects import Project
from tests.faults.harness import project
from tests.hub.tui.kit import sees, shows, text
from tests.waiting import Gate


@pytest.fixture
def two(tmp_path):
    """Two projects with a daemon each: in one an agent works, in the other it asks."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with (
        project(tmp_path / "one") as one,
        project(tmp_path / "two") as two,
        Gate(tmp_path / "gate") as gate,
    ):
        for work, task, *steps in (
            (one, "Paint the shed", {"run": gate.command}, {"done": "painted"}),
            (two, "Mend the roof", {"say": "I am on the roof."}, {"ask": "Slate or tile?"}, {"done": "x"}),
        ):
            work.script("demo-first", *steps)
            work.configure()
            work.start().post("/api/run", {"task": task})
        yield one, two
        gate.open()


def known_as(name, work):
    return Project(name, str(work.root), partial(find, None, work.root, {}))


def test_all_projects_by_need_and_over_to_another_and_back(two):
    """Who needs somebody is first, wherever; an order to another project is refused with the way; enter goes there."""
    one, other = two
    gone = Project("gone", "/nowhere", partial(find, 1, one.root, {}))
    known = [known_as("shop", one), known_as("site", other)]

    async def story(app, pilot):
        await sees(app, pilot, "Paint the shed", "(A all projects)")
        assert "Mend the roof" not in text(app)
        await pilot.press("A")
        shown = await sees(
            app, pilot, "site: Mend the roof", "repo: Paint the shed", "1 needs you, 1 working"
        )
        assert shown.index("site: Mend") < shown.index("repo: Paint")
        await pilot.press("home", "x")
        await sees(app, pilot, "a session of site: enter goes there")
        await pilot.press("enter")
        await sees(app, pilot, "I am on the roof.", "The agent asks you")
        await pilot.press("e", *"tile", "enter")
        await sees(app, pilot, "done, not verified")
        await pilot.press("escape")
        await sees(app, pilot, "site ", "Done (1)", lacks="Paint the shed")
        await pilot.press("7")
        await sees(app, pilot, "Mend the roof", "newest", lacks="Paint")
        await pilot.press("1", "A")
        await sees(app, pilot, "shop: Paint the shed", "site: Mend the roof")
        await pilot.press("A")
        await sees(app, pilot, "(A all projects)")

    shows(one.root, story, size=(100, 30), root=str(one.root), others=lambda: [*known, gone])


def test_outside_of_all_projects_there_are_those_of_the_user(two, tmp_path):
    """It is said where one is; enter goes to a project, and from there on all is of that one."""
    one, other = two
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    known = [known_as("shop", one), known_as("site", other)]

    async def story(app, pilot):
        shown = await sees(
            app,
            pilot,
            "There is no project here",
            "site: Mend the roof",
            "shop: Paint the shed",
            "1 needs you",
            lacks="Handoff",
        )
        assert "(A " not in shown
        await pilot.press("enter")
        await sees(app, pilot, "I am on the roof.", "h Handoff", lacks="no project")
        await pilot.press("escape")
        await sees(app, pilot, "site ", "(A all projects)")

    shows(nowhere, story, size=(100, 30), others=lambda: known)


def test_all_projects_are_seen_where_this_one_has_no_daemon(two):
    one, other = two
    known = [known_as("site", other)]

    async def story(app, pilot):
        await sees(app, pilot, "No daemon runs for this project yet")
        await pilot.press("A")
        await sees(app, pilot, "all projects", "site: Mend the roof")

    one.kill()
    shows(one.root, story, size=(100, 30), root=str(one.root), others=lambda: known)
