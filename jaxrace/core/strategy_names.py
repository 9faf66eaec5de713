"""The names of evolution strategies; imports nothing, for the list of the command."""

# evosax classes that sample around a mean and need ranks alone. Left out: those that keep the best
# member of earlier generations (ranks of different races do not compare), those that need more
# arguments, and LM_MA_ES, which gives NaN in few dimensions.
WITH_STEP_SIZE = (
    *("CMA_ES", "Sep_CMA_ES", "MA_ES", "Rm_ES", "CR_FM_NES", "SNES", "xNES", "PGPE", "ARS"),
    *("SimpleES", "DiscoveredES", "LearnedES", "EvoTF_ES"),
)
# These schedule their step size themselves.
WITHOUT_STEP_SIZE = ("Open_ES", "GuidedES", "ASEBO", "ESMC")
