"""The site: ``python docs/build.py``, which treats warnings as errors."""

import importlib.metadata
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
os.environ["COLUMNS"] = "80"  # of the help that is shown
# Sphinx reads pages below this folder alone.
shutil.copytree(HERE.parent / "notebooks", HERE / "notebooks", dirs_exist_ok=True)

project = "jaxrace"
author = "The jaxrace developers"
copyright = "The jaxrace developers"
version = release = importlib.metadata.version("jaxrace")

extensions = [
    *("myst_nb", "sphinx_copybutton", "sphinx.ext.autodoc", "sphinx.ext.napoleon"),
    *("sphinxcontrib.programoutput", "reference", "pages", "outputs"),
]
exclude_patterns = ["_build", "data", "figures"]
root_doc = "index"

# Markdown as GitHub reads it: links to headings, and blocks that are only indented are text.
myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "dollarmath", "fieldlist"]
myst_dmath_allow_space = False
myst_dmath_allow_digits = False
highlight_language = "text"

# The tests run the notebooks and compare what comes out; here what is stored is shown.
nb_execution_mode = "off"
nb_merge_streams = True

python_maximum_signature_line_length = 78
add_module_names = False
toc_object_entries_show_parents = "hide"

copybutton_selector = "div.highlight pre:not(.output pre)"

linkcheck_timeout = 20
linkcheck_anchors = False

html_theme = "furo"
pygments_dark_style = "github-dark"
html_title = "jaxrace"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False  # ``pages`` puts a page's Markdown beside it
html_show_sphinx = False
templates_path = ["_templates"]

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_use_ivar = True
