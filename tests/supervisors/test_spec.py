"""Specs are checked before anything starts (rows 1 and 2; child_specs, child_specs_map, sup_start_map*, sup_flags)."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import pytest

from supervisors import (
    BRUTAL_KILL,
    AdminError,
    AutoShutdown,
    Backoff,
    ChildSpec,
    DynamicHandle,
    Kind,
    Restart,
    SpecError,
    Strategy,
    SupervisorSpec,
    dynamic_spec,
)
from tests.trees import Scripted


async def start(life: Any) -> None:
    """A start function that is never called here."""


BAD = [
    ({"id": None}, "missing_id"),
    ({"id": []}, "invalid_id"),
    ({"start": "mfa"}, "invalid_mfa"),
    ({"restart": "prmanent"}, "invalid_restart_type"),
    ({"restart": "permanent"}, "invalid_restart_type"),
    ({"shutdown": -10}, "invalid_shutdown"),
    ({"shutdown": math.nan}, "invalid_shutdown"),
    ({"shutdown": True}, "invalid_shutdown"),
    ({"shutdown": "brutal_kill"}, "invalid_shutdown"),
    ({"kind": "wrker"}, "invalid_child_type"),
    ({"significant": "maybe"}, "invalid_significant"),
    ({"significant": True}, "bad_combination"),
    ({"backoff": 1.0}, "invalid_backoff"),
    ({"start_timeout": 0}, "invalid_start_timeout"),
]


@pytest.mark.parametrize(("fields", "code"), BAD)
def test_child_specs(fields: dict[str, Any], code: str) -> None:
    """child_specs: each wrong value is refused with its own code."""
    with pytest.raises(SpecError) as caught:
        ChildSpec(**({"id": "child", "start": start} | fields))
    assert caught.value.code == code
    assert code in str(caught.value)


@pytest.mark.parametrize(
    ("auto_shutdown", "restart", "shutdown", "kind", "significant"),
    list(product(AutoShutdown, Restart, [0, 1000, math.inf, BRUTAL_KILL], Kind, [True, False])),
)
def test_child_specs_map(
    auto_shutdown: AutoShutdown, restart: Restart, shutdown: Any, kind: Kind, significant: bool
) -> None:
    """child_specs_map: over the whole product only the two combinations OTP names are refused."""
    fields = {"restart": restart, "shutdown": shutdown, "kind": kind, "significant": significant}
    if significant and (restart is Restart.PERMANENT or auto_shutdown is AutoShutdown.NEVER):
        with pytest.raises(SpecError) as caught:
            SupervisorSpec(
                auto_shutdown=auto_shutdown, children=[ChildSpec(id="child", start=start, **fields)]
            )
        assert caught.value.code == "bad_combination"
        return
    spec = SupervisorSpec(
        auto_shutdown=auto_shutdown, children=[ChildSpec(id="child", start=start, **fields)]
    )
    assert spec.children[0].restart is restart


async def test_sup_start_map(supervise) -> None:
    """sup_start_map: defaults are OTP's, and the whole spec can be read back."""
    worker, brutal, supervisor = (Scripted(name) for name in ("child1", "child2", "child3"))
    specs = [worker.spec(), brutal.spec(shutdown=BRUTAL_KILL), supervisor.spec(kind=Kind.SUPERVISOR)]
    async with supervise(*specs) as sup:
        read = [sup.handle.get_childspec(name) for name in ("child1", "child2", "child3")]
        assert read == specs
        assert [spec.restart for spec in read] == [Restart.PERMANENT] * 3
        assert [spec.shutdown for spec in read] == [5.0, BRUTAL_KILL, math.inf]
        assert [spec.significant for spec in read] == [False] * 3
        with pytest.raises(AdminError, match="not_found"):
            sup.handle.get_childspec("child4")


async def test_sup_start_map_simple(supervise_dynamic) -> None:
    """sup_start_map_simple: the spec of a dynamic child can be read back too."""
    spec = Scripted("child").spec()
    async with supervise_dynamic() as sup:
        await sup.handle.start_child(spec)
        assert sup.handle.get_childspec("child") is spec


@pytest.mark.parametrize(
    "fields", [{"start": start}, {"id": 1}, {"id": 1, "start": start, "silly_flag": True}]
)
def test_sup_start_map_faulty_specs(fields: dict[str, Any]) -> None:
    """sup_start_map_faulty_specs: a missing or unknown key is refused (OTP ignores unknown ones)."""
    with pytest.raises(TypeError):
        ChildSpec(**fields)


def test_what_is_no_spec_is_refused() -> None:
    """sup_start_map_faulty_specs: something else in the place of a spec."""
    with pytest.raises(SpecError) as caught:
        SupervisorSpec(children=["child4"])
    assert caught.value.code == "invalid_child_spec"


def test_duplicate_ids_are_refused() -> None:
    """child_specs: two children of one name."""
    with pytest.raises(SpecError) as caught:
        SupervisorSpec(children=[ChildSpec(id="child", start=start), ChildSpec(id="child", start=start)])
    assert caught.value.code == "duplicate_child_name"


async def test_a_bad_spec_is_refused_by_a_running_supervisor(supervise, supervise_dynamic) -> None:
    """child_specs: start_child refuses what the constructor would, and lives on."""
    bad = Scripted("significant").spec(restart=Restart.TRANSIENT, significant=True)
    for sup_of in (supervise, supervise_dynamic):
        async with sup_of() as sup:
            for refused in (bad, "hej"):
                with pytest.raises(SpecError):
                    await sup.handle.start_child(refused)
            assert sup.handle.which_children() == ()


@pytest.mark.parametrize(
    ("flags", "code"),
    [
        ({"strategy": "none_for_one"}, "invalid_strategy"),
        ({"strategy": "one_for_one"}, "invalid_strategy"),
        ({"intensity": math.inf}, "invalid_intensity"),
        ({"intensity": -1}, "invalid_intensity"),
        ({"intensity": True}, "invalid_intensity"),
        ({"period": 0}, "invalid_period"),
        ({"period": math.inf}, "invalid_period"),
        ({"period": "long"}, "invalid_period"),
        ({"auto_shutdown": "sometimes"}, "invalid_auto_shutdown"),
        ({"stuck_after": -1}, "invalid_stuck_after"),
    ],
)
def test_sup_flags(flags: dict[str, Any], code: str) -> None:
    """sup_flags: each wrong flag is refused with its own code."""
    with pytest.raises(SpecError) as caught:
        SupervisorSpec(**flags)
    assert caught.value.code == code


def test_sup_flags_defaults() -> None:
    """Row 2: one_for_one, 1 restart in 5 s, never shut down by itself."""
    spec = SupervisorSpec()
    assert (spec.strategy, spec.intensity, spec.period) == (Strategy.ONE_FOR_ONE, 1, 5.0)
    assert spec.auto_shutdown is AutoShutdown.NEVER


def test_sup_flags_unknown() -> None:
    """sup_flags: an unknown flag is refused (OTP ignores it)."""
    with pytest.raises(TypeError):
        SupervisorSpec(silly_flag=True)


@pytest.mark.parametrize("limit", [-1, 1.5, True, "many", math.nan])
def test_max_children_is_checked(limit: Any) -> None:
    with pytest.raises(SpecError) as caught:
        dynamic_spec("dynamic", DynamicHandle("dynamic"), max_children=limit)
    assert caught.value.code == "invalid_max_children"


@pytest.mark.parametrize(
    "field", [{"first": 0}, {"factor": 0.5}, {"cap": -1}, {"jitter": 2}, {"reset_after": 0}]
)
def test_backoff_is_checked(field: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(field))):
        Backoff(**field)
