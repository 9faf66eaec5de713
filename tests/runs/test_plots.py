import base64

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import jaxrace
from jaxrace import runs
from jaxrace.answers.answer import labels as answer_labels
from jaxrace.judging.standing import DuelOfMatrix
from jaxrace.runs import plots

LABELS = {"reward": "reward per game", "cost": "cost (euro)", "time": "time (s)"}


@pytest.fixture
def folder(tmp_path):
    log = {
        "repeat": np.array([0, 0, 0, 1, 1]),
        "episodes": np.array([10, 20, 40, 15, 30]),
        "reward": np.array([1.0, 2.0, 4.0, 10.0, 20.0]),
    }
    log |= {"cost": -log["reward"], "time": 2 * log["reward"]}
    statistics = {name: {"mean": 7.5, "stderr": 0.5, "count": 2} for name in LABELS}
    summary = {
        "env": "maze",
        "method": "edps",
        "repeats": 2,
        "metrics": LABELS,
        "baselines": {"left": statistics, "right": statistics},
    }
    runs.write_log(tmp_path, log)
    runs.write_summary(tmp_path, summary)
    return tmp_path


def test_one_panel_per_metric(folder):
    figure = plots.learning_curve(folder)
    assert [panel.get_ylabel() for panel in figure.axes] == list(LABELS.values())
    # The lowest panel of each column has the label of the horizontal axis.
    assert [panel.get_xlabel() != "" for panel in figure.axes] == [False, True, True]


def test_curve_is_the_mean_of_what_each_repeat_had_by_then(folder):
    curve = plots.learning_curve(folder).axes[0].get_lines()[0]
    np.testing.assert_array_equal(curve.get_xdata(), [15, 20, 30, 40])
    np.testing.assert_array_equal(curve.get_ydata(), [5.5, 6.0, 11.0, 12.0])


def test_baselines_are_horizontal_and_labelled(folder):
    lines = plots.learning_curve(folder).axes[1].get_lines()[1:]
    assert [line.get_label() for line in lines] == ["left", "right"]
    assert [set(np.asarray(line.get_ydata())) for line in lines] == [{7.5}, {7.5}]


def test_legend_explains_every_line_and_band(folder):
    (legend,) = plots.learning_curve(folder).legends
    assert [text.get_text() for text in legend.get_texts()] == [
        "mean of the repeats",
        "its standard error",
        "middle half of the repeats",
        "left",
        "right",
    ]


def test_one_repeat_has_no_bands(folder):
    log = {name: column[:3] for name, column in runs.read_log(folder).items()}
    runs.write_log(folder, log)
    panel = plots.learning_curve(folder).axes[0]
    assert len(panel.collections) == 0
    np.testing.assert_array_equal(panel.get_lines()[0].get_ydata(), [1.0, 2.0, 4.0])


def test_long_curves_are_thinned_but_keep_their_ends(folder):
    episodes = np.arange(5000)
    columns = {name: episodes.astype(float) for name in LABELS}
    runs.write_log(folder, {"repeat": 0 * episodes, "episodes": episodes, **columns})
    x = np.asarray(plots.learning_curve(folder).axes[0].get_lines()[0].get_xdata())
    assert len(x) <= 200
    assert (x[0], x[-1]) == (0, 4999)


NAMES = {
    "long": [f"a long name with lr=0.001,batch=256,env=HalfCheetah-v4 #{i}" for i in range(5)],
    "many": [f"model-{i:02d}" for i in range(40)],
    "unlike": ["模型一", "Мистраль", "$x_1^2$", "<b>", "|"],
}


def answers(names):
    """What is said of the same options, the first one the best, by scores, votes and shares."""
    rng = np.random.default_rng(0)
    worse = np.arange(len(names))
    shares = 1 / (1 + np.exp((worse[:, None] - worse) / len(names)))
    pairs = rng.permuted(np.tile(worse, (400, 1)), axis=1)[:, :2]
    rows = [
        {"winner": names[pair.min()], "loser": names[pair.max()]}
        if rng.random() < 0.8
        else {"winner": names[pair.max()], "loser": names[pair.min()]}
        for pair in pairs
    ]
    yield jaxrace.race({n: rng.normal(-w / 9, 1, 40) for n, w in zip(names, worse, strict=True)})
    yield jaxrace.select(rows)
    yield jaxrace.duel(dict(zip(names, shares.T.tolist(), strict=True)))


@pytest.mark.parametrize("kind", NAMES)
@pytest.mark.filterwarnings("ignore:Glyph")  # of what the test itself measures
def test_names_have_room_and_are_shown_as_they_are(kind):
    names = NAMES[kind]
    for answer in answers(names):
        figure = answer.plot()
        FigureCanvasAgg(figure).draw()
        whole = figure.bbox
        for panel in figure.axes:
            texts = [*panel.get_yticklabels(), panel.title, panel.xaxis.label]
            if panel.images:  # elsewhere numbers, some of them beyond the axis and not drawn
                texts += panel.get_xticklabels()
            boxes = [text.get_window_extent() for text in texts if text.get_text()]
            assert all(whole.x0 <= box.x0 and box.x1 <= whole.x1 for box in boxes)
            assert all(whole.y0 <= box.y0 and box.y1 <= whole.y1 for box in boxes)
            others = [other.bbox for other in figure.axes if other is not panel]
            named = [one for one in panel.get_yticklabels() if one.get_visible()]
            below = [
                text.get_window_extent()
                for text in named
                if panel.yaxis.get_tick_params()["labelleft"]
            ]
            assert not any(box.width and box.overlaps(other) for box in below for other in others)
        shown = [text.get_text() for text in figure.axes[0].get_yticklabels()]
        most = 20 if isinstance(answer, DuelOfMatrix) else 100
        assert len(set(shown)) == len(shown) == min(len(names), most)
        assert ("the first 20 of 40" in figure.axes[0].get_title()) == (len(names) > most)
        if kind == "unlike":  # text, which no font here has
            assert "模型一" in plots.drawn(figure, "svg").decode()


def test_an_option_of_a_race_has_the_interval_of_its_closest_pair():
    """To the right of the line where it is the better one, as far as the other is to the left."""
    rng = np.random.default_rng(0)
    names = ("good", "fair", "poor")
    scores = {name: rng.normal(-place, 1, 90) for place, name in enumerate(names)}
    answer = jaxrace.race(scores, top=1)
    panel = answer.plot().axes[1]
    lines = [np.column_stack([*map(np.asarray, line.get_data())]) for line in panel.lines]
    drawn = {line[0, 1]: line[:, 0] for line in lines if len(line) == 2 and np.ptp(line[:, 1]) == 0}
    pairs = {pair.worse: pair for pair in answer.pairs}
    for place, name in enumerate(names[1:], 1):
        pair = pairs[name]
        np.testing.assert_allclose(drawn[place], (1 - pair.high, 1 - pair.low))
    closest = pairs["fair"]
    np.testing.assert_allclose(drawn[0], (closest.low, closest.high))
    assert drawn[0][0] > 0.5 > drawn[1][1]


def _across(line):
    return np.asarray(line.get_xdata())


def test_each_of_many_options_has_a_point_an_interval_and_its_runs():
    rng = np.random.default_rng(1)
    scores = {f"model-{n}": rng.normal(-5 * n, 1, 60) for n in range(70)}
    answer = jaxrace.race(scores, top=5)
    standing, differences = answer.plot().axes
    points = [line[0] for line in map(_across, standing.lines) if len(line) == 1]
    assert points == [one.score for one in answer.options]
    lines = [np.asarray(line.get_ydata()) for line in differences.lines]
    rows = [line[0] for line in lines if len(line) == 2 and line[0] == line[1]]
    assert {*range(70)} <= {*rows}
    assert "60 runs of each option" in standing.get_xlabel()
    scores["model-3"] = scores["model-3"][:20]
    answer = jaxrace.race({name: rng.normal(size=size) for name, size in (("a", 60), ("b", 20))})
    assert {one.next for one in answer.options} > {0}
    figure = answer.plot()
    told = [text.get_text() for text in figure.axes[1].texts]
    runs = [f"{x.runs} + {x.next}" if x.next else f"{x.runs}" for x in answer.options]
    assert told == [*runs, "runs\n+ next"]
    assert figure.get_figwidth() <= 7, "text is large enough on a page"


def test_names_that_differ_in_the_middle_stay_apart():
    sizes = ("8B", "70B", "405B")
    names = [f"meta-llama/Meta-Llama-3.1-{size}-Instruct-AWQ-INT4" for size in sizes]
    for size, label in zip(sizes, answer_labels(names, 20), strict=True):
        assert f"...{size}-..." in label
        assert len(label) <= 20
    kinds = [f"{name[:-9]}-{kind}" for name in names for kind in ("base", "tuned")]
    assert answer_labels(kinds, 20)[2:4] == ["meta-...70B-...base", "meta-...70B-...tuned"]
    grid = [f"lr={lr},batch=64,env=HalfCheetah-v4,seed={s}" for lr in (0.1, 0.01) for s in (1, 2)]
    assert answer_labels(grid, 20)[1:3] == ["lr=0.1,...seed=2", "lr=0.01,...seed=1"]
    assert answer_labels(["x" * 40] * 2)[0].endswith("(1)")


def test_a_notebook_shows_the_figure():
    answer = jaxrace.race({"a": [3.0, 4.0], "b": [1.0, 2.0]})
    content = answer._repr_html_().partition("data:image/png;base64,")[2].partition('"')[0]
    assert base64.b64decode(content).startswith(b"\x89PNG")
    assert "<img" not in answer.to_html(figure=False)


def test_yellow_is_good_whatever_a_metric_is():
    means = np.array([[1.0, 2.0]])
    yellow = []
    for smaller, colours in ((False, ["white", "black"]), (True, ["black", "white"])):
        panel = plots.new_figure((3, 2))[1][0, 0]
        plots.draw_heat(panel, means, smaller)
        red = np.asarray(panel.images[0].to_rgba(means))[0, :, 0]
        yellow.append(int(red.argmax()))
        assert [text.get_color() for text in panel.texts] == colours
    assert yellow == [1, 0]


def test_the_lines_of_a_gate_are_named():
    rng = np.random.default_rng(2)
    scores = {name: rng.normal(size=40) for name in ("old", "new")}
    (panel,) = (figure := jaxrace.gate(scores, baseline="old", margin=0.1).plot()).axes
    (legend,) = figure.legends
    assert [one.get_text() for one in legend.get_texts()] == [
        "no difference",
        "the margin, 0.1 to either side",
    ]
    dashed = [_across(line)[0] for line in panel.lines if line.get_linestyle() == "--"]
    np.testing.assert_allclose(np.sort(dashed), (0.4, 0.6))
    (legend,) = jaxrace.gate(scores, baseline="old").plot().legends
    assert [one.get_text() for one in legend.get_texts()] == ["no difference"]
