"""What of a pull is told: each step once, each tenth once, whatever order the layers come in."""

from hypothesis import given
from hypothesis import strategies as st

from hub.domain.models.pull import Pull
from tests.ollama import DIGEST, pull_lines


def told(lines, pull=None):
    pull = Pull("llava") if pull is None else pull
    return [said for line in lines if (said := pull.take(line))], pull


def test_a_pull_tells_its_steps_and_its_tenths():
    said, pull = told(pull_lines(total=5_000_000_000, step=10_000_000))
    assert pull.done
    assert said == [
        "pulling llava: pulling manifest",
        *(f"pulling llava: {part} % of 5.0 GB" for part in range(0, 101, 10)),
        "pulling llava: verifying sha256 digest",
        "pulling llava: writing manifest",
        "pulling llava: removing any unused layers",
    ]


def test_a_server_that_says_no_is_heard():
    said, pull = told([{"status": "pulling manifest"}, {"error": "pull model manifest: file does not exist"}])
    assert (pull.done, pull.error) == (False, "pull model manifest: file does not exist")
    assert len(said) == 1
    assert told([{"error": ""}])[1].error == "it said no more"


def test_layers_are_summed():
    layer = {"status": "pulling", "digest": DIGEST, "total": 100, "completed": 100}
    other = {"status": "pulling", "digest": "sha256:1", "total": 100, "completed": 0}
    said, _ = told([other, layer])
    assert [line.split(":")[1].split()[0] for line in said] == ["0", "50"]


def test_a_step_that_repeats_is_told_once():
    assert len(told([{"status": "pulling manifest"}] * 3)[0]) == 1


@given(
    st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(),
            lambda inner: (
                st.lists(inner)
                | st.dictionaries(st.sampled_from(["status", "digest", "total", "completed", "x"]), inner)
            ),
        )
    )
)
def test_nothing_a_server_sends_breaks_it(lines):
    said, _ = told(lines)
    assert len([line for line in said if "%" in line]) <= 11
    assert all(line.startswith("pulling llava: ") for line in said)
