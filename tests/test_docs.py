"""The documents say what is there: a command, setting, route, variable or status that is missing fails a test."""

import re
import tomllib
from pathlib import Path

import attrs
import click
import pytest

from hub.api.convert import fields_of
from hub.api.tables import parse_config
from hub.app import App
from hub.cli.group import cli
from hub.domain.approval import Action, PermissionRequest
from hub.domain.config import model as config_model
from hub.domain.config.reader import Config
from hub.domain.config.schema import camel
from hub.domain.permission.rules import judge
from hub.errors import RULES
from hub.errors import document as error_document
from hub.io.project.places import Places
from hub.io.project.trust import Gate
from hub.mcp.tools import TOOLS
from hub.message_map import Slots
from hub.message_map import document as message_document
from hub.providers.registry import load_all
from hub.web import openapi
from hub.web.doors import Doors
from hub.web.routes import table
from hub.web.stream import SOCKET, SSE
from hub.web.tools import TOOLS as MOUNTED

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
DOCS = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
COMMANDS_PAGE = DOCS["commands.md"]
SETTINGS_PAGE = DOCS["settings.md"]
API_PAGE = DOCS["api.md"]
TOOLS_PAGE = DOCS["mcp.md"]
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text()
TABLES = (
    config_model.ServerSettings,
    config_model.SessionSettings,
    config_model.WorktreeSettings,
    config_model.ProviderSettings,
    config_model.ProfileSettings,
    config_model.PipelineSettings,
    config_model.PipelineNode,
    config_model.Terminal,
    config_model.ApprovalRule,
    config_model.Vision,
    config_model.Redaction,
    config_model.DetectSettings,
    config_model.Notify,
)
_API = table(4748)
ROUTES = {(route.method, route.path) for route in (*_API, SOCKET, SSE, MOUNTED, openapi.route(_API))}
VARIABLE = re.compile(r"\bHUB_[A-Z][A-Z_]*[A-Z]\b")


def sources(*folders):
    """Every module of these folders."""
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def commands(group=cli, path=("hub",)):
    """Every command that does something: path and command."""
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield " ".join((*path, name)), command


COMMANDS = dict(commands())


def row(first, page):
    """The row of a table of this page whose first cell begins with this code."""
    found = re.search(rf"^\| `{re.escape(first)}[` ].*$", page, re.MULTILINE)
    assert found, f"there is no row for {first}"
    return found[0]


def test_the_readme_is_one_page():
    """It had grown to 539 lines, and nobody reads a manual to learn what a thing is."""
    assert len(README.splitlines()) <= 130


def test_every_route_is_in_the_documents_and_no_other():
    """The API's table is the API."""
    told = re.findall(r"^\| (GET|POST) \| `([^`]+)` \|", API_PAGE, re.MULTILINE)
    assert set(told) == ROUTES
    assert len(told) == len(ROUTES)


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)
def test_every_setting_is_in_the_documents(table):
    """Each key of each table of hub.toml, as it is written there."""
    missing = [key for key in fields_of(table) if f"`{key}`" not in SETTINGS_PAGE]
    assert not missing


def test_every_table_of_the_configuration_is_checked_here():
    """A new table of hub.toml cannot escape the test above."""
    assert {field.name for field in attrs.fields(Config)} == {
        "server", "session", "worktree", "providers", "profiles", "pipelines", "terminal", "approvals", "vision", "redaction", "detect", "notify",
    }  # fmt: skip
    for name in (
        "[server]",
        "[session]",
        "[worktree]",
        "[providers.",
        "[[profiles]]",
        "[[pipelines]]",
        "[terminal]",
        "[[approvals]]",
        "[vision]",
        "[redaction]",
        "[detect]",
        "[notify]",
    ):
        assert f"`{name}" in SETTINGS_PAGE


@pytest.mark.parametrize("field", attrs.fields(config_model.SessionSettings), ids=lambda field: field.name)
def test_the_defaults_of_a_session_are_told_right(field):
    """A default in the documents is the default in the code."""
    told = row(camel(field.name), SETTINGS_PAGE).split("|")[2].strip().strip("`")
    default = field.default
    if default not in (None, ()):
        assert told == (f'"{default}"' if isinstance(default, str) else f"{default:g}")


def test_every_variable_is_in_the_documents():
    """Every HUB_* that the code looks at."""
    used = {name for path in sources("hub", "supervisors") for name in VARIABLE.findall(path.read_text())}
    assert used == set(VARIABLE.findall(SETTINGS_PAGE))
    assert used >= {name for page in (README, *DOCS.values()) for name in VARIABLE.findall(page)}


def test_the_tree_in_the_architecture_is_the_one_that_runs(tmp_path):
    """Four actors had come and the page had not noticed."""
    drawn = (ROOT / "design/architecture.md").read_text().partition("## The tree")[2].split("```")[1]
    told = re.findall(r"^ {2,}([a-z]+) ", drawn, re.MULTILINE)
    told += re.findall(r"^ {2,}(watch|work)$", drawn, re.MULTILINE)
    app = App(Places(tmp_path), Config(), Config, Doors(port=0), Gate.of(tmp_path, {}))
    assert sorted(told) == sorted(
        {*(field.name for field in attrs.fields(Slots)), "watch", "work", "adapters", "running", "jobs"}
    )
    assert {child.id for child in app.tree().children} <= set(told)


def test_every_exit_status_is_in_the_documents():
    """The table of exit statuses is the one of the error codes, and 0."""
    table = COMMANDS_PAGE.partition("## Exit statuses")[2].partition("\n## ")[0]
    told = {int(number) for number in re.findall(r"^\| (\d+) \|", table, re.MULTILINE)}
    assert told == {rule.exit for rule in RULES.values()} | {0}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_is_in_the_documents(tool):
    """Each tool of the tool server with its arguments."""
    told = [cell.strip() for cell in row(tool.name, TOOLS_PAGE).split("|")]
    assert told[2] == ", ".join(f"`{param.name}`" for param in tool.arguments)


@pytest.mark.parametrize(
    ("context", "decision"),
    [
        ({"command": "git push origin main"}, "ask"),
        ({"command": "echo x > .github/ci.yml"}, "deny"),
        ({"path": "/w/.github/ci.yml"}, "deny"),
        ({"command": "make test"}, "allow"),
    ],
)
def test_the_rules_of_the_documents_do_what_is_said_of_them(context, decision):
    """A relative path in a shell command passed by the rule about the build: it asked for a slash before the folder."""
    text = DOCS["approvals.md"].partition("```toml")[2].partition("```")[0]
    subject = next(iter(context.values()))
    request = PermissionRequest(
        "a", Action.TOOL, "s", "claude", tool="Bash", subject=subject, context=context
    )
    assert judge(parse_config(text).approvals, request).decision == decision


def test_every_provider_is_in_the_documents():
    """Adding an agent includes saying so, on the first page too."""
    names = set(load_all())
    assert not [name for name in names if f"`{name}`" not in SETTINGS_PAGE]
    assert not [name for name in names if f"`{name}`" not in README and not name.startswith("demo-")]


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("design/message-map.md", message_document),
        ("docs/errors.md", error_document),
    ],
)
def test_generated_documents_are_up_to_date(name, made):
    """What is drawn from the code is drawn from this code."""
    assert (ROOT / name).read_text() == made()


def anchors(text):
    """The places in a page that a link can lead to: its headings, as GitHub and the site name them."""
    titles = re.findall(
        r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE
    )
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_lead_somewhere():
    """Every relative link of every document, and the heading it names."""
    for page in [*ROOT.glob("*.md"), *ROOT.glob("design/**/*.md"), *ROOT.glob("docs/**/*.md")]:
        for link in re.findall(r"\]\((?!https?:)([^)\s]+)", page.read_text()):
            file, _, heading = link.partition("#")
            target = page.parent / file if file else page
            assert target.exists(), (page, link)
            assert not heading or heading in anchors(target.read_text()), (page, link)


def test_every_page_of_the_documents_is_found():
    """From the first page and in the site: a page that no other leads to is not read."""
    site = (ROOT / "mkdocs.yml").read_text()
    for name in DOCS:
        assert f"docs/{name}" in site, name
        assert name == "index.md" or f"]({name})" in DOCS["index.md"], name
    assert "](docs/index.md)" in README


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", "SECURITY.md", *(f"design/{path.name}" for path in ROOT.glob("design/*.md"))]
)
def test_files_that_the_documents_name_are_there(page):
    """A module or test that moved takes its place in the documents along."""
    text = (ROOT / page).read_text()
    named = set(re.findall(r"`((?:hub|supervisors|tests|design|docs)/[\w./-]+)`", text))
    assert not [name for name in sorted(named) if not (ROOT / name).exists()]
    tests = re.findall(r"`(tests/[\w./]+\.py)::(\w+)`", text)
    assert not [name for name in tests if f"def {name[1]}" not in (ROOT / name[0]).read_text()]


def test_every_place_of_a_change_has_its_tests():
    """A contributor changes one rule and knows what to run."""
    table = (ROOT / "design/architecture.md").read_text().partition("| To | Change | Its tests |\n")[2]
    rows = [line.split(" | ") for line in table.partition("\n\n")[0].splitlines()[1:]]
    assert len(rows) > 8
    for what, _, tests in rows:
        named = re.findall(r"`([^`]+)`", tests)
        assert named, what
        assert all(name.startswith("tests/") and (ROOT / name).exists() for name in named), what


def test_one_command_tests_everything():
    """README, CONTRIBUTING and CI name the same one, and it is there."""
    run = (ROOT / ".ci/run").read_text()
    assert "sh .ci/test" in run
    for page in (README, CONTRIBUTING):
        shown = "\n".join(re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
        assert re.search(r"^sh \.ci/test\b", shown, re.MULTILINE)


def test_the_commands_of_contributing_are_there():
    """Scripts, modules, folders, groups, marks and sessions of nox, each by what it stands for."""
    code = "\n".join(
        "".join(found) for found in re.findall(r"```sh\n(.*?)```|`([^`\n]+)`", CONTRIBUTING, re.DOTALL)
    )
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    for script in re.findall(r"sh (\.ci/\w+)", code):
        assert (ROOT / script).exists(), script
    for module in re.findall(r"python -m ([\w.]+)", code):
        assert (ROOT / module.replace(".", "/")).with_suffix(".py").exists(), module
    for path in re.findall(r"\b((?:tests|hub)/[\w/]+(?:\.py)?)", code):
        assert (ROOT / path).exists(), path
    assert set(re.findall(r"--group (\w+)", code)) <= set(project["dependency-groups"])
    marks = {mark.partition(":")[0] for mark in project["tool"]["pytest"]["ini_options"]["markers"]}
    assert set(re.findall(r'-m "?(?:not )?(\w+)"?', code.replace("python -m", ""))) <= marks
    sessions = set(
        re.findall(
            r"^@nox\.session.*?\ndef (\w+)", (ROOT / "noxfile.py").read_text(), re.MULTILINE | re.DOTALL
        )
    )
    assert set(re.findall(r"nox -s (\w+)", code)) <= sessions


def test_modules_that_code_names_are_there():
    """A module that moved takes along what is said of it elsewhere: by its whole name, by its file, at its package's head."""
    modules, stale = sources("hub", "supervisors", "tests"), []
    there = {path.name for path in modules}
    for path in modules:
        text = path.read_text()
        head = text.split('"""')[1] if text.startswith('"""') else ""
        names = re.findall(r"`((?:hub|supervisors)\.\w+(?:\.\w+)+)`", text)
        files = re.findall(r"`((?:hub|supervisors|tests|design|docs)/[\w./-]+\.\w+)`", text)
        beside = re.findall(r"`(\w+\.py)`", head)
        parts = re.findall(r"`([a-z_]+)`", head) if path.name == "__init__.py" else []
        stale += [(path, name) for name in names if not is_there(name)]
        stale += [(path, name) for name in files if not (ROOT / name).exists()]
        stale += [(path, name) for name in beside if name not in there]
        stale += [(path, name) for name in parts if name != "match" and not any(path.parent.glob(f"{name}*"))]
    assert stale == []


def is_there(name: str) -> bool:
    """Whether it is a package, a module, or what one of them has."""
    parts = name.split(".")
    for size in range(len(parts), 0, -1):
        place = ROOT.joinpath(*parts[:size])
        if place.is_dir() or place.with_suffix(".py").is_file():
            file = place.with_suffix(".py") if place.with_suffix(".py").is_file() else place / "__init__.py"
            said = file.read_text() if file.is_file() else ""
            return all(re.search(rf"\b{part}\b", said) for part in parts[size:])
    return False


def test_every_module_says_what_it_owns_and_must_not():
    """The house's first rule: a reader knows from the top of a file whether a change belongs there."""
    silent = []
    for path in sources("hub", "supervisors"):
        text = path.read_text()
        if path.name == "__init__.py":
            said = not text or text.startswith('"""')
        else:
            head = text.split('"""')[1]
            said = "Owns:" in head and "Must not" in head
        silent += [] if said else [path.relative_to(ROOT).as_posix()]
    assert silent == []


DECISIONS = sorted((ROOT / "design" / "decisions").glob("[0-9]*.md"))


def test_decisions_are_numbered_without_a_gap():
    """Two decisions with one number cannot both be cited, and a gap looks like one that was withdrawn."""
    assert [path.name[:5] for path in DECISIONS] == [
        f"{number:04}-" for number in range(1, len(DECISIONS) + 1)
    ]
    for path in DECISIONS:
        assert path.read_text().startswith(f"# {path.name[:4]} "), path.name


def test_a_decision_has_at_most_half_a_page():
    """Sixty of them are read one by one only if each can be read at a glance."""
    assert [path.name for path in DECISIONS if len(path.read_text()) > 2400] == []


def test_every_decision_is_in_the_index_once():
    """By subject, one line each; a link to one that is gone fails with the links of the documents."""
    index = (ROOT / "design" / "decisions" / "README.md").read_text()
    told = re.findall(r"^- \[(\d{4})\]\((\1-[a-z0-9-]+\.md)\) .+$", index, re.MULTILINE)
    assert sorted(name for _, name in told) == [path.name for path in DECISIONS]


def test_decisions_that_are_cited_are_there():
    """In the documents, and in the code, which names them by number alone."""
    there = {path.stem for path in DECISIONS}
    numbers = {name[:4] for name in there}
    for path in [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "design").rglob("*.md"),
        *sources("hub", "supervisors", "tests"),
    ]:
        for number, rest in re.findall(r"decisions/(\d{4})(-[a-z0-9-]+)?", path.read_text()):
            assert number + rest in (there if rest else numbers), path
