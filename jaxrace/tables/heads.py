"""What the names of columns say: what is below them, and whether smaller is better."""

import functools
import re
import unicodedata
from collections.abc import Callable, Sequence


def word_set(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


def _named(text: str, place: str = "all") -> Callable[[str], bool]:
    """Whether a head is one of some words: all of it, or its first (before name or id) or last."""
    known = word_set(text)

    def is_named(head: str) -> bool:
        found = words(head)
        if place == "first":
            return found[:1] != [] and found[0] in known and found[1:] in ([], ["name"], ["id"])
        is_last = place == "last" and 1 < len(found) <= 3 and found[-1] in known
        return is_last or "_".join(found) in known

    return is_named


_STEPS = (
    "step steps timestep timesteps global_step epoch iteration iter frame global_steps env_step "
    "env_steps num_env_steps time_step time_steps total_timesteps "
    "timesteps_total total_steps training_iteration training_step train_step n_updates num_updates"
)
_TIMES = "date datetime timestamp year month week day created created_at tstamp"
# Do names of options stand below a head, as below "Model" or "algo_name"?
names_option = _named(
    "option options model models agent agents algo algos algorithm algorithms method methods "
    "policy system variant arm candidate player config configuration setting settings optimizer "
    "solver learner classifier estimator strategy treatment command competitor framework",
    "first",
)
# Scores of any option, as below "episode_return"?
names_score = _named(
    "score scores accuracy acc return returns reward rewards loss value values result results "
    "metric metrics time times seconds duration runtime latency error f1 auc auroc r2 rmse mse mae "
    "bleu rouge precision recall correct is_correct passed success exact_match performance fitness "
    "objective win_rate perplexity cost",
    "last",
)
# The benchmark or subject of a task, as below "Dataset" or "mmlu_subject"?
names_group = _named(
    "benchmark benchmarks dataset datasets subject category categories suite group groups domain "
    "topic subset subtask task_name scenario discipline",
    "last",
)
# What many runs were made in, as below "env_name"?
names_place = _named("env envs environment environments game games", "first")
# Steps of a learning curve, whose rows are not so many runs?
names_steps = _named(_STEPS)
# When a row was made: neither a score nor a task?
names_times = _named(_TIMES)
# May a head that names tasks be an option, as "image" beside "text" and "sound"?
may_name_option = _named(
    "image images user users session document sentence student judge query input prompt game"
)
# One value for each run, or the same values for all options.
_TASK = word_set(
    "task tasks id ids idx index no nr number key uid uuid seed run runs rep repeat repetition "
    "replicate replication fold split trial prompt prompts question questions item items instance "
    "instances problem problems doc dataset datasets example examples env envs environment game "
    "case cases sample samples subject row input query judge scenario topic patient patients "
    "participant participants respondent proband user users image images session "
    "student sentence document rater annotator nummer kennung matricule attempt attempts rollout"
)
# Of several rows of one item, which one each is; what only numbers rows, beside a name of an item.
_AGAIN = word_set(
    "epoch epochs seed seeds run runs rep reps repeat repeats repetition repetitions replicate "
    "replicates replication replications trial trials attempt attempts try tries rollout rollouts "
    "completion draw draws generation iteration iter round fold folds split splits judge rater "
    "annotator grader session temperature shot shots n k state rng init"
)
_COUNTER = word_set("sample samples row rows index idx no nr number key uid uuid id ids")
# Of what an option answered, rather than of what it was asked.
_ANSWERS = word_set(
    "sample samples response responses answer answers output outputs row rows index idx uuid"
)
# What all options are asked, so that epochs beside it are not those of a training.
_QUESTIONS = word_set(
    "question questions q item items prompt prompts problem problems query example examples doc "
    "document instance instances case cases sentence sample samples"
)
# What several questions are about, or come from; "page title" and "source document", too.
_CLUSTERS = word_set(
    "passage paragraph context document doc article story page chapter book paper file text url "
    "website conversation dialogue dialog thread session transcript chat meeting call video "
    "image picture photo audio clip recording speaker author user customer patient participant "
    "respondent proband person student household family hospital site repo repository project "
    "table database db schema scene cluster question item prompt problem query example case "
    "instance sample rater judge annotator grader reviewer"
)
_ABOUT = word_set("title name text url link path file hash")  # of what the words before name
# Of a row, but not how good an option was.
_names_remark = _named(
    "flag flags flagged shard shards hard easy difficult difficulty valid invalid format formatted "
    "parsed truncated skipped refused refusal contaminated leaked duplicate duplicates weight "
    "weights level bucket chunk part worker cluster verified reviewed public private hidden",
    "last",
)
_SAID_OF_ROWS = ["is"], ["has"], ["was"], ["needs"], ["contains"]
# What is known of a row, or was made of the scores of several options: no option.
_PROPERTIES = word_set(
    "in_train in_training in_test in_domain in_distribution in_vocab oracle answerable "
    "unanswerable majority majority_vote consensus agreement multi_hop multihop hops negated "
    "contaminated ambiguous solved_by_any solved_by_all any_correct all_correct entropy "
    "discrimination question_len question_length prompt_len prompt_length answer_len "
    "answer_length year_published"
)
# Whole numbers that are not scores: how many, how large, when or where.
_QUANTITY = word_set(
    "hour hours minute minutes size sizes length width height depth device devices gpu gpus "
    "cpu cpus core cores thread threads worker workers node nodes zip zip_code zipcode plz "
    "lr learning_rate temperature flops difficulty draw dropout "
    "postcode postal_code count counts params parameters param_count tokens layers batch age unix "
    "unix_time unix_seconds epoch_seconds epochs rounds port position pos anzahl stunde x t n k"
)
# One of these words is enough where the numbers are sorted.
_CLOCK = word_set(f"{_STEPS} {_TIMES} t time steps epochs iterations elapsed evaluations clock")
_COUNTED = word_set("n num nb number")  # before what is counted, as in n_samples
_RUNS = word_set("seed seeds run runs fold folds rep repeat repetition replicate split trial")
# What several runs have in common, in two words.
_DRAWN = word_set(
    "random_state model_seed rng_seed random_seed env_seed training_seed training_run rng init "
    "hospital"
)
_IDS = re.compile(r"(q|u|p|doc|user|sample|task|prompt|item|question|row|run|case|example)id")
# Words that end the name of a column of ids, as in prompt_id.
_ENDS = word_set("id ids idx index no nr number key uid uuid")


def words(head: str) -> list[str]:
    """The words of a head, in small letters.

    >>> words("promptId"), words("Episode return [%]")
    (['prompt', 'id'], ['episode', 'return'])
    """
    return [*_words(head)]


@functools.lru_cache(100_000)  # of wide tables, whose heads are asked for much
def _words(head: str) -> tuple[str, ...]:
    parted = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", head)
    return tuple(re.findall(r"[a-z]+[0-9]*|[0-9]+", parted.lower()))


def names_task(head: str) -> bool:
    """Do names of tasks, runs or items stand below a head, as below "seed" or "prompt_id"?"""
    found = words(head)
    if not found:
        return False
    is_named = (found[0] in _TASK or names_steps(found[0])) and found[1:] in ([], ["name"])
    is_id = found[-1] in _ENDS or _IDS.fullmatch(found[-1]) is not None
    return is_named or is_id or names_steps(head) or "_".join(found) in _DRAWN


def names_remark(head: str) -> bool:
    """Does a head say something of a row, not how good an option was, as "flagged" or "is_hard"?"""
    return words(head)[:1] in _SAID_OF_ROWS or _names_remark(head)


def names_property(head: str) -> bool:
    """Does a head plainly name what a row is like, and no option, as "has_image" or "in_train"?"""
    return words(head)[:1] in _SAID_OF_ROWS or "_".join(words(head)) in _PROPERTIES


def names_again(head: str) -> bool:
    """Does a head tell rows of one item apart, as "epoch" and "sample_seed" do?

    >>> [names_again(head) for head in ("epoch", "run_id", "random_state", "question_id", "id")]
    [True, True, True, False, False]
    """
    found = "_".join(_stem_of(head))
    return found in _AGAIN | _DRAWN or found.endswith("_seed")


def names_cluster(head: str) -> bool:
    """Does a head say what several tasks may belong to, as "passage_id" or "video"?

    >>> [names_cluster(head) for head in ("article_title", "repo", "topic", "num_documents", "id")]
    [True, True, False, False, False]
    """
    found = _stem_of(head)
    found = found[:-1] if len(found) > 1 and found[-1] in _ABOUT else found
    first = words(head)[:1]
    is_said = first in _SAID_OF_ROWS or not _COUNTED.isdisjoint(first)
    return 0 < len(found) <= 2 and found[-1] in _CLUSTERS and not is_said


def names_question(head: str) -> bool:
    """Does a head name what all options are asked, as "question_id" or "prompt"?"""
    return not _QUESTIONS.isdisjoint(_stem_of(head)[-1:])


def names_id(head: str) -> bool:
    """Is a head that of an id or a number, which does not say of what, as "id"?"""
    return _rank(head) == 1


def parted_heads(heads: Sequence[str]) -> tuple[list[str], list[str]]:
    """Heads of tasks: those of the items that rows belong to, and those of the rows of an item.

    Environments are no items: each of their runs is a task of its own.

    >>> parted_heads(["question_id", "epoch"]), parted_heads(["env", "seed"])
    ((['question_id'], ['epoch']), (['env', 'seed'], []))
    >>> parted_heads(["sample_id", "epoch"]), parted_heads(["sample", "prompt"])
    ((['sample_id'], ['epoch']), (['prompt'], ['sample']))
    >>> parted_heads(["id", "sample_id"]), parted_heads(["task", "response_id"])
    ((['id'], ['sample_id']), (['task'], ['response_id']))
    """
    places = [head for head in heads if names_place(head)]
    ranks = {head: _rank(head) for head in heads if head not in places}
    least = min(ranks.values(), default=3)
    if least == 3 or (places and least):
        return [*heads], []
    again = [head for head, rank in ranks.items() if rank > least]
    return [head for head in heads if head not in again], again


def _rank(head: str) -> int:
    """0 of what is asked; 1 of an id; 2 of what was answered; 3 of runs of the same."""
    found = _stem_of(head)
    if names_again(head):
        return 3
    if len(found) == 1 and found[0] in _ANSWERS:
        return 2
    return int(not found or (len(found) == 1 and found[0] in _COUNTER))


def _stem_of(head: str) -> list[str]:
    """The words of a head without "id" and the like behind them."""
    found = words(head)
    while len(found) > 1 and (found[-1] in _ENDS or found[-1] == "name"):
        found = found[:-1]
    return found


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


# Also in German, French, Spanish, Italian, Portuguese and Dutch, without accents.
_SMALLER = word_set(
    "loss losses logloss error errors err errs mistake mistakes failure failures fault faults "
    "mse rmse nrmse rmsle msle mae mape smape wmape wape mase mdae rmspe rse sse crps brier "
    "pinball nll nlpd bce xent perplexity perplexities ppl bpb bpc bpd wer cer mer ter "
    "fid kid lpips fvd fad eer ece fpr fnr frr levenshtein hamming wasserstein chamfer kld "
    "regret regrets cost costs price prices expense expenses penalty penalties "
    "time times latency latencies duration durations runtime runtimes walltime cputime delay "
    "delays elapsed makespan ttft tpot lag jitter downtime overhead staleness residual residuals "
    "second seconds sec secs minute minutes mins hour hours hrs millisecond milliseconds "
    "microsecond microseconds nanosecond nanoseconds msec msecs usec nsec millis micros "
    "misclassification misclassified violation violations infractions collisions crashes "
    "rt rts hallucination hallucinations toxicity churn mortality deaths memory rss vram "
    "bugs refusals retries fehlversuche emissions carbon co2 energy joules kwh divergence kl "
    "suboptimality defects incorrect wrong hallucinated unsafe jailbreak jailbreaks jailbroken "
    "asr harmful harmfulness misses leak leaks leaked deviation deviations "
    "zeit dauer sekunde sekunden minuten stunden fehlerrate verlust preis "
    "temps duree seconde secondes heures erreur erreurs cout couts perte pertes prix "
    "tiempo duracion segundo segundos minutos horas coste costes costo costos perdida perdidas "
    "tempo durata secondo secondi minuti errore errori perdita duracao erro erros custo custos "
    "perda tijd duur seconden uren fout fouten verlies prijs"
)
_COMPOUNDS = ("zeit", "kosten", "fehler")  # German ones end so
# Only where they are the whole name, but for plain words: not of a reciprocal rank.
_ALONE = word_set("rank ranks ranking rang rango rangs position place placement")
_PLAIN = word_set(
    "mean avg average median max min sum final best last test val valid validation eval train dev "
    "overall value metric metrics values"
)
# Units that may be other words: in brackets, or as the last word of one measure.
_UNITS = word_set("s ms us \u03bcs ns h")
_BRACKETED = word_set("min d m")
# Several words that say so together.
_PHRASES = re.compile(
    r"\b(false (positives?|negatives?|alarms?|discovery)|bits per|cross entropy|log perplexity"
    r"|attack success|(steps|turns|delta|gap) to|(tokens|memory|ram) used"
    r"|(optimality|duality|generali[sz]ation) gap"
    r"|(miss|bounce|dropout|drop|timeout) rate|(edit|frechet) distance|m?s (it|iter|step|token|op)"
    r"|neg(ative)? (log )?(log ?likelihood|likelihood|loglik))\b"
)
_PERCENTILE = re.compile(r"(^|[^a-z])p(50|75|90|95|99|999)($|[^0-9])")
# What gives such a word another meaning.
_TURNED = word_set(
    "neg negative minus negated inverse inv reciprocal free saved saving savings reduction reduced "
    "improvement improved correction detection detected recovery recovered robustness tolerance "
    "survival survived surviving alive win wins won no non without accuracy auc f1 correlation"
)
_POSTPONED = re.compile(r"\b(to|until|before|between) (failures?|death|crash|crashes|relapse)\b")
# What follows is the base of a rate, or a condition: steps per second, recall at fpr.
_BASES = word_set("per at under within pro par por")
_RATE = re.compile(
    r"/ *(?=(s|secs?|seconds?|ms|us|min|minutes?|h|hours?)\b)|(?<=\b[numμ]s) */", re.IGNORECASE
)


def names_smaller(*heads: str) -> bool:
    """Does a head say that smaller is better, as "val_loss", "time [s]" or "wer"?

    Of several heads, do all of them say so in words that they have in common?

    >>> names_smaller("valLoss"), names_smaller("steps/s"), names_smaller("neg_log_loss")
    (True, False, False)
    >>> names_smaller("a_loss", "b_loss"), names_smaller("baseline", "no_loss")
    (True, False)
    """
    if all(_PERCENTILE.search(head.lower()) for head in heads):  # of latencies, as p99
        return True
    first, *others = (_plain_words(head) for head in heads)
    found = [word for word in first if all(word in other for other in others)]
    if _PHRASES.search(" ".join(found)):
        return True
    end = next((place for place, word in enumerate(found) if word in _BASES), len(found))
    own = [word.strip("[]") for word in found[:end]]
    if _TURNED & {*own} or _POSTPONED.search(" ".join(own)):
        return False
    if any(word in _SMALLER or word.endswith(_COMPOUNDS) for word in own):
        return True
    if any(word[0] == "[" and word[1:-1] in _UNITS | _BRACKETED for word in found[:end]):
        return True
    is_one = not others and bool(own)
    if is_one and own[-1] in _UNITS and (len(own) > 1 or len(own[0]) > 1):
        return True
    return bool(_ALONE & {*own}) and {*own} <= _ALONE | _PLAIN


def _plain_words(head: str) -> list[str]:
    """The words of a head, small and without accents; what is in brackets as "[ms]"."""
    plain = unicodedata.normalize("NFKD", re.sub(r"\w+\s*=", " ", head))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    plain = re.sub(r"[\[(]\s*([^\W\d_]+)\s*[\])]", r" [\1] ", _RATE.sub(" per ", plain))
    plain = plain.replace("@", " at ")
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return re.findall(r"\[[^\W\d_]+\]|[^\W\d_]+", parted.lower())
