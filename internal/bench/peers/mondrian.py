"""Have the Mondrian of qiyuangong/Mondrian anonymize a table, for internal/bench/methods.

    go run ./internal/bench/methods -peer "python-strict=python3 internal/bench/peers/mondrian.py FOLDER strict"

FOLDER is a copy of https://github.com/qiyuangong/Mondrian (MIT license), of which mondrian.py
and utils/utility.py are used; Python 3 has all the rest. The other way is "relaxed". Behind
them internal/bench/methods puts the table's file and k, and it reads what is printed here.

The project orders categories and divides them as numbers, and so does kproxy; both have the
order of the table. The seconds are those that the project measures itself: dividing alone,
without finding out the values beforehand and writing the ranges afterwards; the processor
time is that of the same. A class is what reads the same in the published table, whatever
the project thinks of it.
"""

import contextlib
import hashlib
import pathlib
import platform
import sys
import time


def main(folder, way, table, k):
    if way not in ("strict", "relaxed"):
        sys.exit("the way is strict or relaxed")
    originals = read(table)
    records = [[*values, number] for number, values in enumerate(originals)]
    # What the project prints is for people, and would be read as classes.
    with contextlib.redirect_stdout(sys.stderr):
        peer = load(folder)
        clock = peer.time = Clock()
        published, (_, seconds) = peer.mondrian(records, int(k), way == "relaxed")
    classes = classes_of(published, originals)
    print("version", version(folder))
    print("seconds", seconds)
    print("cpu", clock.cpu())
    print("\n".join(map(str, classes)))


def load(folder):
    """The project's module. It alone is looked for in its folder, which stays as it is."""
    sys.path[0] = folder
    sys.dont_write_bytecode = True
    import mondrian

    return mondrian


class Clock:
    """The time, for the project; whenever it looks, the processor time is noted as well."""

    def __init__(self):
        self.looks = []

    def time(self):
        self.looks.append(time.process_time())
        return time.time()

    def cpu(self):
        return self.looks[-1] - self.looks[0]


def read(table):
    """The records, as whole numbers: the project cannot publish others."""
    with open(table, encoding="utf-8") as lines:
        categorical = [name.endswith(":categorical") for name in next(lines).rstrip("\n").split(",")]
        return [
            tuple(whole(text[1:] if category else text) for text, category in zip(line.rstrip("\n").split(","), categorical))
            for line in lines
        ]


def whole(text):
    number = float(text)
    if not number.is_integer():
        sys.exit(f"{text} is no whole number")
    return int(number)


def classes_of(published, originals):
    """The class of each record; those that are not published are withheld."""
    numbers = {}
    classes = [-1] * len(originals)
    for *ranges, record in published:
        if classes[record] >= 0:
            sys.exit(f"record {record} is published twice")
        for text, value in zip(ranges, originals[record], strict=True):
            low, _, high = text.partition("~")
            if not int(low) <= value <= int(high or low):
                sys.exit(f"record {record} has {value}, and {text} is published of it")
        classes[record] = numbers.setdefault(tuple(ranges), len(numbers))
    return classes


def version(folder):
    """The files by the names that git gives to their contents, and Python's version."""
    names = []
    for name in ("mondrian.py", "utils/utility.py"):
        path = pathlib.Path(folder, name)
        if path.exists():
            text = path.read_bytes()
            blob = hashlib.sha1(b"blob %d\0" % len(text) + text).hexdigest()
            names.append(f"{name} {blob[:12]}")
    return ", ".join([*names, "Python " + platform.python_version()])


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: mondrian.py FOLDER strict|relaxed TABLE K")
    main(*sys.argv[1:])
