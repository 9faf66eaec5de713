"""The evidence of two options in a table, one product at a time, for reading.

`x` and `y` are lists of numbers; of shared tasks, of one list of values for each task, empty where
an option has not been run. A null is the mean mu of the differences.
"""

import math


def sign(a, b):
    return int(a > b) - int(a < b)


def difference(by, width):
    return sign if by == "wins" else lambda a, b: (a - b) / width


def cut(bet, mean):
    """No factor is below 0.01 where the difference is -1."""
    return min(bet, 0.99 / max(1 + mean, 1e-12))


def sizes(n, first, later):
    return [first] + [later] * ((n - first) // later) if n >= first else []


def independent(x, y, bets, weights, first, later, compare, null=0.0):
    """ln E after each common block."""
    products, path, start = [1.0] * len(bets), [], 0
    for size in sizes(min(len(x), len(y)), first, later):
        for k, bet in enumerate(bets):
            total = 0.0
            for slope in range(1, size):
                for shift in range(size):
                    product = 1.0
                    for a in range(size):
                        match = (slope * a + shift) % size
                        d = compare(x[start + a], y[start + match])
                        product *= 1 + cut(bet, null) * (d - null)
                    total += product
            products[k] *= total / (size * (size - 1))
        start += size
        path.append(math.log(sum(w * p for w, p in zip(weights, products, strict=True))))
    return path


def averaged(x, y, by, width):
    """The differences of the tasks that both have run."""
    found = []
    for own, other in zip(x, y, strict=False):
        if not own or not other:
            continue
        if by == "wins":
            found.append(sum(sign(a, b) for a in own for b in other) / (len(own) * len(other)))
        else:
            found.append((sum(own) / len(own) - sum(other) / len(other)) / width)
    return found


def with_losses(x, y, differences):
    """With -1 for each task before the last common one that one of the two lacks."""
    has_both = [bool(own and other) for own, other in zip(x, y, strict=True)]
    left = list(differences)
    found = []
    for both in has_both:
        if not left:
            break
        found.append(left.pop(0) if both else -1.0)
    return found


def stream(differences, bets, weights, null=0.0):
    """ln E after each task."""
    products, path = [1.0] * len(bets), []
    for d in differences:
        factors = [1 + cut(bet, null) * (d - null) for bet in bets]
        products = [p * factor for p, factor in zip(products, factors, strict=True)]
        path.append(math.log(sum(w * p for w, p in zip(weights, products, strict=True))))
    return path


def listed(differences, num_tasks, bets, weights, null=0.0):
    """ln E after each task of a list: infinite when certain; after the last, by the sum alone."""
    products, path, total = [1.0] * len(bets), [], 0.0
    for s, d in enumerate(differences, start=1):
        mean = (null * num_tasks - total) / (num_tasks - s + 1)
        grown = num_tasks / (num_tasks - s + 1)
        total += d
        if mean >= -1:
            products = [
                p * (1 + cut(b * grown, mean) * (d - mean))
                for p, b in zip(products, bets, strict=True)
            ]
        certain = total - (num_tasks - s) > null * num_tasks + 1e-9 * num_tasks
        log_e = math.log(sum(w * p for w, p in zip(weights, products, strict=True)))
        path.append(math.inf if certain or math.inf in path else log_e)
    if len(differences) == num_tasks:
        return [math.inf if total > null * num_tasks + 1e-9 * num_tasks else -math.inf]
    return path
