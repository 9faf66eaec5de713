"""What a run leaves on disk: a folder, its tables and its figures."""

from jaxrace.runs.folder import CONFIG as CONFIG
from jaxrace.runs.folder import LOG as LOG
from jaxrace.runs.folder import SUMMARY as SUMMARY
from jaxrace.runs.folder import add_to_config as add_to_config
from jaxrace.runs.folder import asked_of as asked_of
from jaxrace.runs.folder import device as device
from jaxrace.runs.folder import let_go as let_go
from jaxrace.runs.folder import locked as locked
from jaxrace.runs.folder import mean_and_stderr as mean_and_stderr
from jaxrace.runs.folder import new_folder as new_folder
from jaxrace.runs.folder import processor as processor
from jaxrace.runs.folder import read_config as read_config
from jaxrace.runs.folder import read_log as read_log
from jaxrace.runs.folder import read_summary as read_summary
from jaxrace.runs.folder import read_timing as read_timing
from jaxrace.runs.folder import reopened as reopened
from jaxrace.runs.folder import versions as versions
from jaxrace.runs.folder import write_config as write_config
from jaxrace.runs.folder import write_log as write_log
from jaxrace.runs.folder import write_summary as write_summary
from jaxrace.runs.folder import write_timing as write_timing
