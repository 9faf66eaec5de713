import ast
import itertools
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.colors import to_rgb

from jaxrace.answers import style

ROOT = Path(__file__).parents[2]
# What is seen without a kind of cones, in linear RGB: Machado, Oliveira and Fernandes 2009.
SEEN_WITHOUT = {
    "green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
}
TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
WHITE = [0.9505, 1.0, 1.089]


def least_difference(colours, missing):
    """Of any two colours, as they are seen without a kind of cones: CIE 1976, delta E."""
    rgb = np.array([to_rgb(colour) for colour in colours])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.transpose(SEEN_WITHOUT[missing]), 0, 1)
    x, y, z = np.cbrt(np.maximum(seen @ np.transpose(TO_XYZ) / WHITE, 0.0089)).T
    lab = np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])
    return min(np.linalg.norm(a - b) for a, b in itertools.combinations(lab, 2))


def test_colours_stay_apart_for_people_who_see_no_green_or_no_red():
    usual = matplotlib.rcParamsDefault["axes.prop_cycle"].by_key()["color"]
    for missing in SEEN_WITHOUT:
        assert least_difference(style.COLOURS[:3], missing) > 55
        assert least_difference(style.COLOURS, missing) > 17
        assert least_difference(usual[:4], missing) < 8  # what would fail


def test_lines_of_a_figure_differ_and_from_the_fourth_on_neighbours_in_dashes():
    lines = [(one["color"], str(one["ls"])) for one in map(style.line, range(28))]
    assert len({*lines}) == len(lines)
    dashes = [dashes for _, dashes in lines]
    assert len({*dashes[2:7]}) == 5
    assert all(a != b for a, b in itertools.pairwise(dashes[2:]))


def test_colours_are_chosen_in_one_place():
    """Wherever else something is drawn, its colour comes from ``style``."""
    found, named = [], 0
    for folder in ("jaxrace", "papers", "bench", "docs/figures"):
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.keyword) and node.arg in ("color", "c", "cmap", "ls"):
                    named += 1
                    is_own = isinstance(node.value, ast.JoinedStr) or (
                        isinstance(node.value, ast.Constant) and node.arg != "ls"
                    )
                    found += [f"{path}: {ast.unparse(node)}"] if is_own else []
                elif isinstance(node, ast.Import) and node.names[0].name == "matplotlib.pyplot":
                    found.append(f"{path}: pyplot")
    assert named > 40
    assert found == []


def test_a_figure_is_the_same_whatever_the_settings_are():
    with matplotlib.rc_context({"axes.grid": False, "axes.spines.top": True}):
        panel = style.new_figure((2, 2))[1][0, 0]
    assert not panel.spines["top"].get_visible()
    assert panel.xaxis.get_gridlines()[0].get_visible()
    assert panel.plot([1], [1])[0].get_color() == style.BLUE
