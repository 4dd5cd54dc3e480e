"""Stands in for a peer that publishes ranges in which the values are not."""

import time


def mondrian(data, k, relax):
    began = time.time()
    for record in data:
        record[:-1] = ["-1"] * (len(record) - 1)
    return data, (0.0, time.time() - began)
