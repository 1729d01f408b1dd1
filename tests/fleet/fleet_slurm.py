#!/usr/bin/env python3
"""pgokit-fleet over Slurm: slurmctld and slurmd of Debian, on the loopback, with all their files in
a temporary folder. A job array comes to the bytes of one process, also when its jobs are killed.

usage: fleet_slurm.py PGOKIT
"""

import contextlib
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

from fleet_faults import Fleet, Wrong, at_random, recorded_heaps, require
from fleet_harness import free_port, name_of, until
from tap import Report  # found by fleet_faults

CONF = """ClusterName=pgokit
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
MpiDefault=none
ReturnToService=2
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobRequeue=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES State=UP
"""


def why_not():
    for name in ("slurmctld", "slurmd", "sbatch"):
        if not shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin"):
            return f"missing {name}"
    return None if os.geteuid() == 0 else "slurmd wants to be root"


@contextlib.contextmanager
def slurm(folder):
    """The environment of a cluster of one node; yields the process of its slurmd."""
    for name in ("state", "spool"):
        os.mkdir(f"{folder}/{name}")
    conf = pathlib.Path(folder, "slurm.conf")
    conf.write_text(CONF.format(host=socket.gethostname().split(".")[0], folder=folder,
                                ports=[free_port(), free_port()], cpus=min(2, os.cpu_count())))
    os.environ["SLURM_CONF"] = str(conf)
    os.environ["PATH"] += ":/usr/sbin"
    with contextlib.ExitStack() as stack:
        daemons = []
        for name in ("slurmctld", "slurmd"):
            daemons.append(stack.enter_context(subprocess.Popen(
                [name, "-D"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)))
            stack.callback(daemons[-1].kill)
        until(lambda: b"idle" in subprocess.run(["sinfo", "-h"], capture_output=True,
                                                check=False).stdout, "a node that is idle", 120)
        yield daemons[1]


def same_bytes(fleet):
    fleet.check(fleet.run("--engine", "slurm", pgokit=fleet.pgokit))


def bad_input(fleet):
    bad = fleet.folder / "forged.prof"
    bad.write_bytes(b"forged")
    fleet.check(fleet.run("--engine", "slurm", source=[fleet.inputs, bad], pgokit=fleet.pgokit),
                [bad.name])


def jobs_of(fleet):
    """Processes of jobs that run the fleet's tasks."""
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc")))
            if "pgokit-fleet task" in name_of(pid) and str(fleet.folder) in name_of(pid)]


def jobs_killed(fleet):
    """A job that ends by a signal is not done, and is submitted again."""
    run = fleet.run("--engine", "slurm")
    at_random(fleet, run)
    victims = []
    until(lambda: victims.extend(jobs_of(fleet)) or victims or not run.running(), "a job that runs")
    require(victims, "no job was killed")
    with contextlib.suppress(ProcessLookupError):
        os.kill(victims[0], signal.SIGKILL)
    fleet.check(run)


def main():
    report, reason = Report(), why_not()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        try:
            if not reason:
                stack.enter_context(slurm(folder))
        except RuntimeError as err:
            logs = [p.read_text().splitlines()[-1:] for p in pathlib.Path(folder).glob("*.log")]
            reason = f"Slurm does not start here: {err}; {logs}"
        for case in (same_bytes, bad_input, jobs_killed):
            if reason:
                report.skip(case.__name__, reason)
                continue
            with tempfile.TemporaryDirectory() as work:
                try:
                    case(Fleet(sys.argv[1], work, random.Random(24), recorded_heaps()))
                    problems = []
                except (Wrong, RuntimeError) as err:
                    problems = [err]
                report.case(case.__name__.replace("_", " "), problems)
    report.end()


if __name__ == "__main__":
    main()
