"""Programs of musl, which cannot load our libraries, as children of programs that have them."""

import os

from harness import PROGRAMS, require, run, tool

EXECS = ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat")
NO_FILE, NO_DESCRIPTOR, INVALID = 102, 109, 122  # 100 and the number of the error
# Each exec twice, after fork and after vfork; the child ends with the number of the function.
STARTED = ([f"{name} {i + 1}" for i, name in enumerate(EXECS) for _ in range(2)] +
           [f"{name} {status}" for name, status in (
               ("no execve", NO_FILE), ("no execvp", NO_FILE), ("no execveat", NO_DESCRIPTOR),
               ("no fexecve", INVALID)) for _ in range(2)] +
           ["posix_spawn 50", "posix_spawnp 50", f"no posix_spawn {NO_FILE}",
            f"no posix_spawnp {NO_FILE}", "system 60"])


def build(folder):
    """A program that ends with its argument, and with 99 where it finds our libraries."""
    run([tool("musl-gcc"), os.path.join(PROGRAMS, "child_of_musl.c"), "-o", "musl"], folder)
    with open(os.path.join(folder, "script"), "w", encoding="utf-8") as file:
        file.write(f"#!{folder}/musl 5\n")
    os.chmod(os.path.join(folder, "script"), 0o755)


def children(folder, *command):
    """What programs start under the command runs as without it."""
    build(folder)
    told = run([*command, "sh", "-c", "./musl; echo $?; ./script; echo $?; sh -c 'exit 4'; "
                "echo $?; LD_PRELOAD=$LD_PRELOAD:/no/libother.so ./musl; echo $?"], folder)
    require(told.stdout == "3\n5\n4\n3\n", told.stdout)
    run([tool("gcc"), "-D_GNU_SOURCE", os.path.join(PROGRAMS, "starts.c"), "-o", "starts"], folder)
    told = run([*command, "./starts", "musl"], folder,
               {"PATH": os.environ["PATH"] + ":."}).stdout
    require(told.splitlines() == STARTED, told)


def refused(folder, *command):
    """A program of musl, also one that PATH leads to or that a script is for: one sentence."""
    build(folder)
    path = {"PATH": f"{folder}:{os.environ['PATH']}"}
    for name in ("./musl", "musl", "./script", "script"):
        told = run([*command, name], folder, path, status=126).stderr
        require("not glibc" in told and told.count("\n") == 1, told)
