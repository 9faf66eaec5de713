"""An audit of the dominance race: how often does it certify a wrong set?

Two things are measured: the share of races with a wrong certificate, against delta, on tasks where
it is as easily wrong as can be; and, underneath, the share of single pairs whose e-value ever
reaches 1 / alpha although the first option is not preferred. Broken controls show that an error
would have been seen. The theorems are in docs/dominance_race.md.

    python -m jaxrace.audits.dominance           the full audit, as Markdown tables
    python -m jaxrace.audits.dominance 20000     a smaller one
"""
