"""docs/formats.md is enough to check what hub signs and chains: its programs are run, without hub."""

import re
import subprocess
import sys
from pathlib import Path

import attrs
import pytest

from hub.domain import audit, contract

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "formats.md").read_text()
PROGRAMS = dict(re.findall(r'```python title="(\w+)\.py"\n(.*?)```', PAGE, re.DOTALL))
KEY = bytes(range(32))
SIGNED = contract.sign(
    contract.Contract(
        contract_id="c-1",
        session_id="s-1",
        task_id="t-1",
        task_goal='Übung, "quoted" \n \x01 and \U0001f600',
        snapshot_commit_sha="ab" * 20,
        decisions=(contract.Sourced("kept", 3),),
        audit=contract.Anchor(7, "0" * 64),
        evidence=(contract.Evidence(contract.EvidenceKind.VERIFY, "make test", 4, exit_code=0),),
    ),
    KEY,
)


def log(count=4):
    """The bytes of a log, and its sealed head."""
    lines, last = [], audit.GENESIS
    for seq in range(count):
        data = {"task": "ü", "\U0001f600": 1, "\uffff": {"b": [1], "a": None}}
        record = audit.make_record(last, seq, f"2026-01-01T00:00:0{seq}.000Z", "session_started", data)
        last = record.hash
        lines.append(record.line)
    return b"".join(lines), audit.Head(count - 1, last, sum(map(len, lines))).sealed(KEY)


def run(name, folder, *files):
    """The page's program, by a Python that does not find hub."""
    program = folder / "program.py"
    program.write_text(PROGRAMS[name])
    paths = []
    for number, content in enumerate(files):
        paths.append(folder / f"file{number}")
        paths[-1].write_bytes(content)
    return subprocess.run(
        [sys.executable, "-I", "-S", program, *paths], capture_output=True, text=True, check=False
    )


def test_a_contract_of_hub_is_good_by_the_page(tmp_path):
    done = run("check_contract", tmp_path, contract.encode(SIGNED), KEY.hex().encode())
    assert (done.returncode, done.stdout) == (0, f"good: session s-1 at {'ab' * 20}\n"), done.stderr


@pytest.mark.parametrize(
    ("data", "key", "why"),
    [
        (contract.encode(attrs.evolve(SIGNED, task_goal="another")), KEY, "the signature does not fit"),
        (contract.encode(SIGNED), bytes(32), "the signature does not fit"),
        (contract.encode(SIGNED).replace(b'":', b'": ', 1), KEY, "not in canonical form"),
    ],
)
def test_a_contract_that_was_changed_is_refused_by_the_page(tmp_path, data, key, why):
    done = run("check_contract", tmp_path, data, key.hex().encode())
    assert (done.returncode, done.stderr) == (1, f"{why}\n")


def test_the_page_names_every_member_of_a_contract():
    """Those of the contract, and of what it is made of."""
    wire = contract.to_json(SIGNED)
    parts = (contract.Sourced, contract.Snippet, contract.ManifestEntry, contract.Evidence, contract.Anchor)
    names = set(wire) | {field.name for part in parts for field in attrs.fields(part)}
    assert not {name for name in names if f"`{name}`" not in PAGE}


def test_a_log_of_hub_is_good_by_the_page(tmp_path):
    lines, head = log()
    sealed = audit.canonical(head.to_json())
    done = run("check_audit", tmp_path, lines, sealed, KEY.hex().encode())
    assert (done.returncode, done.stdout) == (0, f"good: 4 records, the last {head.seq}:{head.hash}\n"), (
        done.stderr
    )
    torn = run("check_audit", tmp_path, lines + b'{"data":', sealed, KEY.hex().encode())
    assert torn.stdout == done.stdout


@pytest.mark.parametrize(
    ("change", "key", "why"),
    [
        (lambda lines: lines.replace(b'"b":[1]', b'"b":[2]', 1), KEY, "record 0 does not fit"),
        (lambda lines: lines.replace(b'":', b'": ', 1), KEY, "record 0 is not in canonical form"),
        (lambda lines: lines.split(b"\n", 1)[1], KEY, "record 0 does not fit"),
        (lambda _: log(3)[0], KEY, "the log is not the one that the head vouches for"),
        (lambda lines: lines, bytes(32), "the head's mac does not fit"),
    ],
)
def test_a_log_that_was_changed_is_refused_by_the_page(tmp_path, change, key, why):
    lines, head = log()
    done = run("check_audit", tmp_path, change(lines), audit.canonical(head.to_json()), key.hex().encode())
    assert (done.returncode, done.stderr) == (1, f"{why}\n")
