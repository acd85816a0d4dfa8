"""Holds the arrows of docs/architecture.md: which folder may include which, and which foreign header.

Usage: include_arrows.py ROOT. Prints one line for each forbidden include and exits 1 where there is one.
"""

import os
import pathlib
import re
import sys

# Folder: (own folders it may include, prefixes of foreign headers that only it and those named here may include).
# The standard library and the system's headers are open to all.
ALL_LIBRARIES = {"core", "reference", "optimized", "oracle", "io", "report", "vectors", "fuzz", "candidates", "suites"}
ARROWS = {
    "core": (set(), set()),
    "reference": ({"core"}, {"boost/multiprecision/"}),
    "optimized": ({"core"}, {"cblas.h"}),
    "oracle": ({"core", "reference"}, {"boost/multiprecision/"}),
    "io": ({"core"}, {"nlohmann/", "openssl/"}),
    "report": ({"core", "oracle", "io"}, {"fmt/"}),
    "vectors": ({"core", "io"}, set()),
    "fuzz": ({"core", "reference", "oracle", "vectors"}, {"rapidcheck"}),
    "candidates": ({"core", "io"}, set()),
    # Files that users copy: they know nothing of wgrad.
    "clients": ({"wgrad_candidate.h"}, set()),
    "suites": ({"core", "io"}, set()),
    "cli": (ALL_LIBRARIES, {"CLI/", "fmt/"}),
    "bench": ({"core", "optimized", "candidates", "oracle", "fuzz"}, {"benchmark/"}),
    # Examples stand for projects of other people's, with headers of their own beside an installed wgrad's.
    "examples": (ALL_LIBRARIES | {"wgrad_plugin.h", "filter_gradient.h"}, {"gtest/", "gmock/"}),
    "tests": (ALL_LIBRARIES | {"cli", "bench", "clients", "tests", "wgrad_plugin.h"},
              {"gtest/", "gmock/", "rapidcheck", "nlohmann/", "boost/multiprecision/"}),
}
# Headers of the C library, the kernel and the compiler; none has a C++ name.
SYSTEM_HEADER = re.compile(
    r"(sys|linux|arpa|netinet)/\w+\.h|"
    r"(immintrin|cpuid|x86intrin|unistd|elf|fcntl|fnmatch|pty|termios|dlfcn|poll|spawn|wordexp|malloc|signal|pthread|sched|errno|"
    r"stddef|stdint|stdio|stdlib|string|math|float|limits|assert|time)\.h")
# An adapter wraps one foreign library, and is built apart from wgrad.
ADAPTER = re.compile(r"candidates/(\w+)/\1_plugin\.cc")
STANDARD_HEADER = re.compile(r"[a-z0-9_]+")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def source_files(root):
    """Names of all sources below `root`, hidden folders and build folders left out."""
    names = []
    for folder, folders, files in os.walk(root):
        here = pathlib.Path(folder)
        folders[:] = sorted(name for name in folders
                            if not name.startswith(".") and not (here / name / "CMakeCache.txt").exists())
        names += [str((here / name).relative_to(root)) for name in sorted(files) if name.endswith((".h", ".cc", ".c"))]
    return names


def includes_of(path):
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        match = INCLUDE.match(line)
        if match:
            yield number, match.group(1), match.group(2)


def why_forbidden(name, quote, header):
    """The reason why file `name` may not include `header`, or None."""
    folder = name.split("/")[0]
    if folder not in ARROWS or "/" not in name:
        return f"lies in no folder of the table ({folder})"
    own_folders, foreign_prefixes = ARROWS[folder]
    if quote == '"':
        target = header.split("/")[0]
        if target == folder or target in own_folders:
            return None
        return f"{folder}/ may not include {header}"
    if ADAPTER.fullmatch(name) or STANDARD_HEADER.fullmatch(header) or SYSTEM_HEADER.fullmatch(header):
        return None
    if any(header.startswith(prefix) for prefix in foreign_prefixes):
        return None
    return f"{folder}/ may not include <{header}>"


def check(root):
    """All forbidden includes below `root` as lines of text, and how many includes were read."""
    faults = []
    count = 0
    for name in source_files(root):
        for number, quote, header in includes_of(root / name):
            count += 1
            reason = why_forbidden(name, quote, header)
            if reason:
                faults.append(f"{name}:{number}: {reason}")
    return faults, count


def cycles():
    """Folders that reach themselves through the table."""
    def reached(folder, seen):
        for target in (ARROWS[folder][0] - seen - {folder}) & ARROWS.keys():
            seen.add(target)
            reached(target, seen)
        return seen

    return [folder for folder in ARROWS if any(folder in ARROWS[via][0] for via in reached(folder, set()) - {folder})]


def main():
    faults, count = check(pathlib.Path(sys.argv[1]).resolve())
    faults += [f"the table has a cycle through {folder}/" for folder in cycles()]
    for fault in faults:
        print(fault)
    if count == 0:
        print("no include was read")
    print(f"{count} includes read, {len(faults)} forbidden")
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
