"""The races and bounds a second time, in plain NumPy float64, to compare the library with.

Written from the papers, one option and one pair at a time, with no regard for speed and without a
look at the library's code.
"""
