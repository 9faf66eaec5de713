"""Logged recommendations of an online shop: the small Open Bandit Dataset, and models of it.

Saito, Aihara, Matsutani and Narita 2020 (Open Bandit Dataset and Pipeline: towards realistic and
reproducible off-policy evaluation). NOTICE, beside this file, has the attribution and the licence
of the data.
"""

from jaxrace.envs.open_bandit.data import CAMPAIGNS as CAMPAIGNS
from jaxrace.envs.open_bandit.data import LOGGERS as LOGGERS
from jaxrace.envs.open_bandit.data import POSITIONS as POSITIONS
from jaxrace.envs.open_bandit.data import ClickModel as ClickModel
from jaxrace.envs.open_bandit.data import LoggedChoices as LoggedChoices
from jaxrace.envs.open_bandit.data import Logs as Logs
from jaxrace.envs.open_bandit.data import load as load
from jaxrace.envs.open_bandit.data import load_click_model as load_click_model
from jaxrace.envs.open_bandit.data import one_step as one_step
