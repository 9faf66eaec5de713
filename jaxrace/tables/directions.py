"""Is smaller better? What the name of a measure says about its direction."""

import re
import unicodedata

from jaxrace.tables.heads import word_set

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
    "hallucination hallucinations toxicity churn mortality deaths memory rss vram "
    "bugs refusals retries fehlversuche emissions carbon co2 energy joules kwh divergence kl "
    "suboptimality defects "
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
    r"|(steps|turns|delta|gap) to|(tokens|memory|ram) used"
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
_RATE = re.compile(r"/ *(?=(s|secs?|seconds?|ms|us|min|minutes?|h|hours?)\b)", re.IGNORECASE)


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
    first, *others = (_words(head) for head in heads)
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


def _words(head: str) -> list[str]:
    """The words of a head, small and without accents; what is in brackets as "[ms]"."""
    plain = unicodedata.normalize("NFKD", re.sub(r"\w+\s*=", " ", head))
    plain = "".join(letter for letter in plain if not unicodedata.combining(letter))
    plain = re.sub(r"[\[(]\s*([^\W\d_]+)\s*[\])]", r" [\1] ", _RATE.sub(" per ", plain))
    plain = plain.replace("@", " at ")
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", plain)
    return re.findall(r"\[[^\W\d_]+\]|[^\W\d_]+", parted.lower())
