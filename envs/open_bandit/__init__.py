"""Logged recommendations of an online shop: the small Open Bandit Dataset, and models of it.

Saito, Aihara, Matsutani and Narita 2020 (Open Bandit Dataset and Pipeline: towards realistic and
reproducible off-policy evaluation). NOTICE, beside this file, has the attribution and the licence
of the data.
"""

from jaxrace.envs.open_bandit.click_model import ClickModel, load_click_model
from jaxrace.envs.open_bandit.data import (
    CAMPAIGNS,
    LOGGERS,
    POSITIONS,
    LoggedChoices,
    Logs,
    load,
    one_step,
)

__all__ = [
    "CAMPAIGNS",
    "LOGGERS",
    "POSITIONS",
    "ClickModel",
    "LoggedChoices",
    "Logs",
    "load",
    "load_click_model",
    "one_step",
]
