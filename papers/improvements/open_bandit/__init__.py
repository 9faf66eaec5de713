"""Logged recommendations of an online shop: the small Open Bandit Dataset, and models of it.

Saito, Aihara, Matsutani and Narita 2020 (Open Bandit Dataset and Pipeline: towards realistic and
reproducible off-policy evaluation). NOTICE, beside this file, has the attribution and the licence
of the data.
"""

from papers.improvements.open_bandit.data import CAMPAIGNS as CAMPAIGNS
from papers.improvements.open_bandit.data import LOGGERS as LOGGERS
from papers.improvements.open_bandit.data import POSITIONS as POSITIONS
from papers.improvements.open_bandit.data import ClickModel as ClickModel
from papers.improvements.open_bandit.data import LoggedChoices as LoggedChoices
from papers.improvements.open_bandit.data import Logs as Logs
from papers.improvements.open_bandit.data import load as load
from papers.improvements.open_bandit.data import load_click_model as load_click_model
from papers.improvements.open_bandit.data import one_step as one_step
