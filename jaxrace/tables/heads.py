"""What the names of columns say about them."""

import functools
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
# One value for each run, or the same values for all options.
_TASK = word_set(
    "task tasks id ids idx index no nr number key uid uuid seed run runs rep repeat repetition "
    "replicate replication fold split trial prompt prompts question questions item items instance "
    "instances problem problems doc dataset datasets example examples env envs environment game "
    "case cases sample samples subject row input query judge scenario topic patient patients "
    "participant participants respondent proband user users image images session "
    "student sentence document rater annotator nummer kennung matricule"
)
# Tasks that may be options, too, such as image beside text and sound.
_EITHER = word_set(
    "image images user users session document sentence student judge query input prompt game"
)
# The benchmark or subject of a task.
_GROUP = word_set(
    "benchmark benchmarks dataset datasets subject category categories suite group groups domain "
    "topic subset subtask task_name scenario discipline"
)
# What many runs were made in.
_PLACE = word_set(
    "env envs environment environments game games problem problems task tasks instance"
)
# Whole numbers that are not scores: how many, how large, when or where.
_QUANTITY = word_set(
    "hour hours minute minutes size sizes length width height depth device devices gpu gpus "
    "cpu cpus core cores thread threads worker workers node nodes zip zip_code zipcode plz "
    "lr learning_rate temperature flops difficulty draw dropout "
    "postcode postal_code count counts params parameters param_count tokens layers batch age unix "
    "unix_time unix_seconds epoch_seconds epochs rounds port position pos anzahl stunde x t n k"
)
_COUNTED = word_set("n num nb number")  # before what is counted, as in n_samples
# Of a learning curve, whose rows are not so many runs.
STEPS = word_set("step steps timestep timesteps global_step epoch iteration iter frame")
# When a row was made: neither a score nor a task.
_TIMES = word_set("date datetime timestamp year month week day created created_at tstamp")
# One of these words is enough where the numbers are sorted.
_CLOCK = (
    STEPS | _TIMES | word_set("t time steps timesteps epochs iterations elapsed evaluations clock")
)
_RUNS = word_set("seed seeds run runs fold folds rep repeat repetition replicate split trial")
# What several runs have in common, in two words.
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


def _is(known: frozenset[str], head: str) -> bool:
    return "_".join(words(head)) in known


def _begins(known: frozenset[str], head: str) -> bool:
    """Is a head a known word, perhaps before "name" or "id"?"""
    found = words(head)
    return found[:1] != [] and found[0] in known and found[1:] in ([], ["name"], ["id"])


def _ends(known: frozenset[str], head: str) -> bool:
    """Are all words of a head known, or the last one of two or three?"""
    found = words(head)
    return "_".join(found) in known or (1 < len(found) <= 3 and found[-1] in known)


# Do names of options stand below a head, as below "Model" or "algo_name"?
names_option = functools.partial(_begins, _OPTION)
# Do scores of any option, as below "episode_return"?
names_score = functools.partial(_ends, _SCORE)
# Do groups of tasks, as below "Dataset" or "mmlu_subject"?
names_group = functools.partial(_ends, _GROUP)
# Does it name what many runs were made in, as "env_name"?
names_place = functools.partial(_begins, _PLACE)
# May a head that names tasks be an option, as "image" or "user"?
may_name_option = functools.partial(_is, _EITHER)
# Does it say when rows were made, as "created_at"?
names_times = functools.partial(_is, _TIMES)
# Do steps of a learning curve stand below it, as below "Epoch"?
names_steps = functools.partial(_is, STEPS)


def names_task(head: str) -> bool:
    """Do names of tasks, runs or items stand below a head, as below "seed" or "prompt_id"?"""
    found = words(head)
    if not found:
        return False
    is_named = found[0] in _TASK | STEPS and found[1:] in ([], ["name"])
    is_id = found[-1] in _ENDS or _IDS.fullmatch(found[-1]) is not None
    return is_named or is_id or "_".join(found) in STEPS | _DRAWN


def names_quantity(head: str) -> bool:
    """Do counts, sizes or times stand below a head, as below "GPUs", "n_samples" or "x"?"""
    found = words(head)
    if "_".join(found) in _QUANTITY:
        return True
    is_counted = found[:1] != [] and found[0] in _COUNTED
    is_end = found[-1:] != [] and found[-1] in _QUANTITY and len(found[-1]) > 1
    return 1 < len(found) <= 3 and all(map(str.isalpha, found)) and (is_counted or is_end)


def names_clock(head: str) -> bool:
    """Does a head say that time or steps go on below it, as "time/total_timesteps" or "t"?"""
    found = words(head)
    is_numbered = any(word.isdigit() for word in found)
    return not is_numbered and not _CLOCK.isdisjoint({*found, "_".join(found)})


def are_numbered_tasks(heads: Sequence[str]) -> bool:
    """Are heads tasks with numbers, such as fold1, fold2?"""
    return _stem(heads) in _TASK | {"q", ""}


def are_numbered_runs(heads: Sequence[str]) -> bool:
    """Are heads runs with numbers, such as seed 0, seed 1?"""
    return _stem(heads) in _RUNS


def _stem(heads: Sequence[str]) -> str | None:
    """What stands before the numbers of two heads or more, if it is the same in all."""
    found = [re.fullmatch(r"([a-z]*)[ _.-]*\d+", head.lower()) for head in heads]
    stems = {match[1] if match else None for match in found}
    return stems.pop() if len(heads) > 1 == len(stems) else None
