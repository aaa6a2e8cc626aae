"""What a project's files say of its checks and its setup; nothing is made up."""

import json

import pytest

from hub.domain.proposal import LOCKS, NAMES, READ, Proposal, propose


def package(**more):
    return json.dumps({"dependencies": {"x": "1"}, **more})


@pytest.mark.parametrize(
    ("found", "verify", "setup"),
    [
        ({}, (), ()),
        (
            {"package.json": package(scripts={"test": "jest", "lint": "eslint", "build": "x"}), "package-lock.json": ""},
            ("npm run lint", "npm test"),
            ("npm ci",),
        ),
        (
            {"package.json": package(scripts={"test": 'echo "Error: no test specified" && exit 1'}), "pnpm-lock.yaml": ""},
            (),
            ("pnpm install --frozen-lockfile",),
        ),
        ({"package.json": package()}, (), ("npm install",)),
        ({"package.json": "{}"}, (), ()),
        ({"package.json": "[]"}, (), ()),
        ({"package.json": "not json", "yarn.lock": ""}, (), ()),
        ({"package.json": package(scripts=["x"]), "bun.lock": ""}, (), ("bun install --frozen-lockfile",)),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n[tool.ruff]\n", "uv.lock": ""}, ("uv run ruff check .", "uv run pytest -q"), ("uv sync",)),
        ({"pyproject.toml": "x = [", "poetry.lock": "", "conftest.py": ""}, ("poetry run pytest -q",), ("poetry install",)),
        ({"pyproject.toml": ""}, (), ()),
        (
            {"requirements.txt": "", "pytest.ini": ""},
            (".venv/bin/pytest -q",),
            ("python3 -m venv .venv", ".venv/bin/pip install -q -r requirements.txt"),
        ),
        ({"Cargo.toml": ""}, ("cargo test",), ()),
        ({"go.mod": ""}, ("go vet ./...", "go test ./..."), ()),
        ({"Makefile": "build: x\ntest: build\n"}, ("make test",), ()),
        ({"Makefile": "check:\n", "go.mod": ""}, ("make check",), ()),
        ({"Makefile": "test := x\n", "go.mod": ""}, ("go vet ./...", "go test ./..."), ()),
        ({"justfile": "test:\n  x\n"}, ("just test",), ()),
    ],
)  # fmt: skip
def test_what_files_say(found, verify, setup):
    """A target of the project's own goes before what its language is used to."""
    made = propose(found)
    assert (made.verify, made.setup) == (verify, setup)
    assert made.empty is not bool(verify or setup)


def test_what_is_untracked_as_a_rule_is_copied_and_every_reason_is_named():
    made = propose({".env": "", "Makefile": "test:\n", "go.mod": ""})
    assert made == Proposal(("make test",), (), (".env",), ("go.mod", "Makefile", ".env"))


def test_only_what_is_needed_is_read():
    assert set(READ) < set(NAMES)
    assert set(LOCKS) < set(NAMES)
    assert ".env" not in READ
