"""What the names of columns say about them."""

import re
from collections.abc import Sequence


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_OPTION = word_set(
    "option options model models agent agents algo algos algorithm algorithms method methods "
    "policy system variant arm candidate player config configuration setting settings optimizer "
    "solver learner classifier estimator strategy treatment command competitor"
)
_SCORE = word_set(
    "score scores accuracy acc return returns reward rewards loss value values result results "
    "metric metrics time times seconds duration runtime latency error f1 auc auroc r2 rmse mse mae "
    "bleu rouge precision recall correct is_correct passed success exact_match performance fitness "
    "objective win_rate perplexity"
)
# Of which there is one value for each run, or the same ones for all options.
_TASK = word_set(
    "task tasks id ids idx index no nr number key uid uuid seed run runs rep repeat repetition "
    "replicate replication fold split trial prompt prompts question questions item items instance "
    "instances problem problems doc dataset datasets example examples env envs environment game "
    "case cases sample samples subject row input query judge scenario topic patient patients "
    "participant participants respondent proband user users image images session "
    "student sentence document rater annotator nummer kennung matricule"
)
# Of these, what may be an option as well, such as one of image, text and sound.
_EITHER = word_set(
    "image images user users session document sentence student judge query input prompt game"
)
# Of the benchmark or subject of a task.
_GROUP = word_set(
    "benchmark benchmarks dataset datasets subject category categories suite group groups domain "
    "topic subset subtask task_name scenario discipline"
)
# Of what a run was made in, again and again.
_PLACE = word_set(
    "env envs environment environments game games problem problems task tasks instance"
)
# Of whole numbers that are no scores: how many, how large, when or where.
_QUANTITY = word_set(
    "hour hours minute minutes size sizes length width height depth device devices gpu gpus "
    "cpu cpus core cores thread threads worker workers node nodes zip zip_code zipcode plz "
    "lr learning_rate temperature flops difficulty draw dropout "
    "postcode postal_code count counts params parameters param_count tokens layers batch age unix "
    "unix_time unix_seconds epoch_seconds epochs rounds port position pos anzahl stunde x t n k"
)
_COUNTED = word_set("n num nb number")  # before what is counted, as in n_samples
# Of a learning curve: so many rows are not so many runs.
STEPS = word_set("step steps timestep timesteps global_step epoch iteration iter frame")
# Of when a row was made, which is neither a score nor a task.
_TIMES = word_set("date datetime timestamp year month week day created created_at tstamp")
# One of these words says it of any name, where the numbers are sorted.
_CLOCK = (
    STEPS | _TIMES | word_set("t time steps timesteps epochs iterations elapsed evaluations clock")
)
_RUNS = word_set("seed seeds run runs fold folds rep repeat repetition replicate split trial")
# Of what several runs have in common, in two words.
_DRAWN = word_set("random_state model_seed training_run rng init hospital")
_IDS = re.compile(r"(q|u|p|doc|user|sample|task|prompt|item|question|row|run|case|example)id")
# Words that end the name of a column of ids, as in prompt_id.
_ENDS = word_set("id ids idx index no nr number key uid uuid")


def words(head: str) -> list[str]:
    """The words of a head, in small letters.

    >>> words("promptId"), words("Episode return [%]")
    (['prompt', 'id'], ['episode', 'return'])
    """
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", head)
    return re.findall(r"[a-z]+[0-9]*|[0-9]+", parted.lower())


def names_option(head: str) -> bool:
    """Does a head say that the options are named below it, as "Model" or "algo_name"?"""
    found = words(head)
    return (
        bool(found)
        and found[0] in _OPTION
        and (len(found) == 1 or (len(found) == 2 and found[1] in {"name", "id"}))
    )


def names_score(head: str) -> bool:
    """Does a head say that there are scores below it, of whatever option, as "episode_return"?"""
    found = words(head)
    return "_".join(found) in _SCORE or (1 < len(found) <= 3 and found[-1] in _SCORE)


def names_task(head: str) -> bool:
    """Does a head say that tasks, runs or items are named below it, as "seed" or "prompt_id"?"""
    found = words(head)
    if not found:
        return False
    is_named = found[0] in _TASK | STEPS and (len(found) == 1 or found[1:] == ["name"])
    is_id = found[-1] in _ENDS or _IDS.fullmatch(found[-1]) is not None
    return is_named or is_id or "_".join(found) in STEPS | _DRAWN


def may_name_option(head: str) -> bool:
    """May a head that names tasks be an option, as "image" or "user"?"""
    return "_".join(words(head)) in _EITHER


def names_group(head: str) -> bool:
    """Does a head say that below it tasks are put into groups, as "Dataset" or "mmlu_subject"?"""
    found = words(head)
    return "_".join(found) in _GROUP or (1 < len(found) <= 3 and found[-1] in _GROUP)


def names_place(head: str) -> bool:
    """Does a head say that below it is what runs were made in, as "env_name", one for many?"""
    found = words(head)
    return found[:1] != [] and found[0] in _PLACE and found[1:] in ([], ["name"], ["id"])


def names_quantity(head: str) -> bool:
    """Does a head say that counts, sizes or times are below it, as "GPUs", "n_samples", "x"?"""
    found = words(head)
    if "_".join(found) in _QUANTITY:
        return True
    return (
        1 < len(found) <= 3
        and all(map(str.isalpha, found))
        and (found[0] in _COUNTED or (found[-1] in _QUANTITY and len(found[-1]) > 1))
    )


def names_times(head: str) -> bool:
    """Does a head say that there are times at which rows were made, as "created_at"?"""
    return "_".join(words(head)) in _TIMES


def names_clock(head: str) -> bool:
    """Does a head say that time or steps go on below it, as "time/total_timesteps" or "t"?

    >>> names_clock("time/total_timesteps"), names_clock("20 steps")  # that is a setting
    (True, False)
    """
    found = words(head)
    is_numbered = any(word.isdigit() for word in found)
    return not is_numbered and not _CLOCK.isdisjoint({*found, "_".join(found)})


def names_steps(head: str) -> bool:
    """Does a head say that steps of a learning curve are counted below it, as "Epoch"?"""
    return "_".join(words(head)) in STEPS


def are_numbered_tasks(heads: Sequence[str]) -> bool:
    """Are heads tasks with numbers, such as fold1, fold2?"""
    stem = _stem(heads)
    return stem is not None and stem in _TASK | {"q", ""}


def are_numbered_runs(heads: Sequence[str]) -> bool:
    """Are heads runs with numbers, such as seed 0, seed 1?"""
    return _stem(heads) in _RUNS


def _stem(heads: Sequence[str]) -> str | None:
    """What is before the numbers of heads, if it is the same in all, of two or more."""
    found = [re.fullmatch(r"([a-z]*)[ _.-]*\d+", head.lower()) for head in heads]
    stems = {match[1] for match in found if match}
    return stems.pop() if len(heads) > 1 and all(found) and len(stems) == 1 else None
