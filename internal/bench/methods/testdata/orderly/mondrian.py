"""Stands in for a peer: classes of k, in the order of the records."""

import time

print("what is printed here is read by nobody")


def mondrian(data, k, relax):
    began = time.time()
    for first in range(0, len(data) - k + 1, k):
        last = first + k if len(data) - first >= 2 * k else len(data)
        members = data[first:last]
        for column in range(len(data[0]) - 1):
            values = [record[column] for record in members]
            low, high = min(values), max(values)
            for record in members:
                record[column] = str(low) if low == high else f"{low}~{high}"
    return data, (0.0, time.time() - began)
