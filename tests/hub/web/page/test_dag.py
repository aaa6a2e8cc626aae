"""A graph's layers, and its picture."""

import xml.etree.ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from hub.web.page.dag import Box, dag, layers

BOXES = [
    Box("a", (), "x"),
    Box("b", ("a",), "y", "running", "/session/s-1"),
    Box("c", ("a", "none"), "z"),
    Box("d", ("b", "c"), "x"),
]


def test_each_node_is_right_of_what_it_needs():
    assert layers(BOXES) == {"a": 0, "b": 1, "c": 1, "d": 2}
    assert layers(BOXES[::-1]) == layers(BOXES)


@given(st.dictionaries(st.sampled_from("abcdef"), st.lists(st.sampled_from("abcdef"), max_size=4)))
def test_any_graph_is_drawn_even_one_with_circles(graph):
    boxes = [Box(name, tuple(needs), "") for name, needs in graph.items()]
    found = layers(boxes)
    assert all(0 <= layer < max(len(boxes), 1) for layer in found.values())
    ET.fromstring(dag("p", boxes))


@given(st.lists(st.sets(st.integers(0, 7)), min_size=1, max_size=8))
def test_a_line_leads_past_the_boxes_between_its_ends(graph):
    """Where it crosses a layer it is at no box's height, and within the picture."""
    boxes = [Box(str(n), tuple(str(want) for want in needs if want < n), "") for n, needs in enumerate(graph)]
    drawn = ET.fromstring(dag("p", boxes))
    boxed = [(float(box.get("x")), float(box.get("y"))) for box in drawn.iter("rect")]
    across = 0
    for path in drawn.iter("path"):
        parts = path.get("d").split()
        for place, part in enumerate(parts):
            if part == "H":
                across += 1
                x, y = map(float, parts[place - 2 : place])
                assert y < float(drawn.get("height"))
                assert not any(left == x and top <= y <= top + 44 for left, top in boxed)
    depth = layers(boxes)
    assert across == sum(depth[box.name] - depth[want] - 1 for box in boxes for want in box.needs)


def test_names_are_text():
    drawn = ET.fromstring(dag("<p>", [Box("<script>", (), "&"), *BOXES]))
    assert list(drawn.iter("script")) == []
    assert [link.get("href") for link in drawn.iter("a")] == ["/session/s-1"]
