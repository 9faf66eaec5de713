"""What the verbs of the command say of themselves."""

DESCRIPTION = """\
Racing algorithms and preference-based policy search in JAX.

example:
  jaxrace train medical --repeats 20
"""

TRAIN = """\
Train policies by evolutionary search, many searches side by side, and evaluate them on fresh
patients next to policies that learn nothing. Prints a table and leaves a folder with config.json,
log.csv, summary.json, timing.json and learning_curve.png. Of several step sizes or deltas it makes
a grid: the table ranks the settings, and settings.png shows them. What is interrupted is saved, and
goes on with --resume.

examples:
  jaxrace train medical
  jaxrace train medical --method edps --hazard B --out runs/edps-b
  jaxrace train medical --sigma 1,10,50 --delta 0.1,0.2 --repeats 20 --out runs/grid
  jaxrace train medical --sigma 0.1,1,5,10,15,25,50,100 --race

On a cluster of Ray, with a folder that all its nodes see, or in a process per core of this machine:
  jaxrace train medical --sigma 1,10,50 --out /net/grid --ray auto
  jaxrace train medical --repeats 2000 --ray

Hold'em players, who evolve by playing against each other, have options of their own:
  jaxrace train holdem --help
"""

TRAIN_HOLDEM = """\
Evolve hold'em players, who are ranked by matches against each other: by several selections from the
same starts, each search until its generation has ended and all --hands are played. Prints what the
players win from opponents that are always the same, and leaves a folder with config.json, log.csv,
evaluation.csv, summary.json, players.npz and learning_curve.png. What is interrupted is saved, and
goes on with --resume.

examples:
  jaxrace train holdem
  jaxrace train holdem --selection pkg,uniform --hands 5000000 --repeats 10 --out runs/players
  jaxrace train holdem --stack 2000 --sigma 1 --strategy Sep_CMA_ES
"""

RACE = """\
Say of a table of scores which options are certainly the best, or what to run next. An option is
better than another if it scores higher more often than lower, or, --by mean, if its mean is higher.
Runs are independent, also those of different options (no seeds or tasks in common), alike, and in
the order in which they were made; or, --shared, all options ran on the same tasks, in one order.
Runs may be added at the end of the table and judged again, as often as you like, as long as the
columns and options stay what they are: the error probability holds for all looks together. Runs
that chance alone would hardly make, since they are sorted, resemble the ones before them or repeat,
are refused. Imports no JAX. Exit status: 0 certified, 3 not yet.

examples:
  jaxrace race scores.csv --top 3
  jaxrace race losses.csv --smaller --delta 0.01 --next next.csv
  jaxrace race results.csv --shared --of 14042 --by mean --low 0 --high 1 --tolerance 0.01
"""

DUEL = """\
Run dueling bandits on a preference matrix, many repeats side by side. Prints who beats how many and
a table of regrets, and leaves a folder with config.json, log.csv, summary.json, regret.png and, of
a file, matrix.png. What is interrupted is saved, and goes on with --resume.

examples:
  jaxrace duel random
  jaxrace duel mine.csv --algorithm rucb,dts --horizon 100000 --repeats 50
  jaxrace duel hard-condorcet --algorithm savage --arms 20 --out runs/savage
"""

SELECT = """\
Find the best k options from comparisons of two. Of a file of comparisons (columns such as first,
second, score) prints the ranking, how sure it is, and what to compare next, and leaves a folder
with config.json, summary.json, ranking.csv and its figure as PNG and SVG. A score is by how much
the first was better, so 1, -1 and 0 for won, lost and tied, or the share of a win, 1, 0 and 0.5:
--score margin or --score win says which, where the file does not. Exit status: 0, or 3 while the
selection is right with an estimated probability below 1 - delta. Of a simulated problem prints how
often each method finds the best, and leaves config.json, log.csv, summary.json and success.png.
What is interrupted is saved, and goes on with --resume.

examples:
  jaxrace select games.csv --top 3 --next 10
  jaxrace select votes.csv --score win
  jaxrace select thurstone --method hybrid,pocbam,uniform --noise 0.2
  jaxrace select wins --options 20 --top 1 --budget 5000 --out runs/wins
"""

IMPROVE = """\
Find a policy whose performance is no lower than a floor, by a lower confidence bound: from logged
trajectories, or again and again in a simulator. The floor is by default what the policy in use
earns; of a file that is an estimate, the mean return of the fifth that is searched. A file has a
row for each step (CSV: trajectory, action, probability, reward, perhaps behaviour, and what was
observed) or arrays [n, T] (NPZ). Leaves a folder with config.json, log.csv, summary.json and
policy.npz. What is interrupted is saved, and goes on with --resume. The error probability is that
of one test: for a log that is tried again until something passes, it is larger. Exit status: 0, or
3 where a file has no better policy.

examples:
  jaxrace improve gridworld
  jaxrace improve mountain-car --method daedalus --bound betting --spend --batch 50
  jaxrace improve log.csv --low 0 --high 20 --bound ci --floor 0.25 --out runs/new-policy
"""

REPRODUCE = """\
Make the figures and tables of an experiment again. Leaves a folder with CSV files, figures, and
report.md, which sets the numbers beside the published ones.

experiments:
{experiments}
  {all:20} all but those marked *, which take up to hours; each in a folder

examples:
  jaxrace reproduce pbr-synthetic
  jaxrace reproduce all --quick --out runs/figures
"""

LIST = """\
Show what there is: environments, methods, races and their bounds, strategies, policies.

example:
  jaxrace list
"""

INFO = """\
Show the versions of jaxrace and of what it computes with, and the devices.

example:
  jaxrace info
"""
