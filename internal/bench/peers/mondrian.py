"""Have the Mondrian of qiyuangong/Mondrian anonymize a table, for internal/bench/methods.

    go run ./internal/bench/methods -peer "python-strict=python3 internal/bench/peers/mondrian.py FOLDER strict"

FOLDER is a copy of https://github.com/qiyuangong/Mondrian (MIT license), of which mondrian.py
and utils/utility.py are used; Python 3 has all the rest. The other way is "relaxed". Behind
them internal/bench/methods puts the table's file and k, and it reads what is printed here.

The project orders categories and divides them as numbers, and so does kproxy; both have the
order of the table. The seconds are those that the project measures itself: dividing alone,
without finding out the values beforehand and writing the ranges afterwards; the processor
time is that of the same. The memory is the most that this process had, the table included.
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
    lines = lines_of(published, len(originals), len(originals[0]))
    print("version", version(folder))
    print("seconds", seconds)
    print("cpu", clock.cpu())
    if peak := peak_memory():
        print("memory", peak)
    print("\n".join(lines))


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


def lines_of(published, records, columns):
    """What is published of each record; of those that the project leaves out, nothing."""
    lines = [""] * records
    for *ranges, record in published:
        if lines[record]:
            sys.exit(f"record {record} is published twice")
        lines[record] = ",".join(ranges)
    return [line or ",".join("*" * columns) for line in lines]


def peak_memory():
    """The most memory that this process had, in bytes; 0 where the system does not tell."""
    try:
        with open("/proc/self/status", encoding="utf-8") as lines:
            return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return 0


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
