"""Import this first where ``papers`` is needed, which lie in the checkout and in no wheel."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent))
