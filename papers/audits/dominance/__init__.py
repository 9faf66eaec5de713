"""How often does the dominance race certify a wrong set? Theorems: docs/theory/dominance_race.md.

Measured are the share of races with a wrong certificate, and of single pairs whose e-value reaches
1 / alpha although the first is not preferred. Broken controls show that errors would be seen.

    python -m papers.audits.dominance           the full audit, as Markdown tables
    python -m papers.audits.dominance 20000     a smaller one
"""
