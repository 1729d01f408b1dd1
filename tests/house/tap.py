"""Test Anything Protocol, as much of it as the tests of the house need."""

import sys


class Report:
    def __init__(self):
        self.cases = self.failures = 0

    def case(self, name, problems):
        """One case; it passes if the list of problems is empty."""
        self.cases += 1
        print(f"{'not ok' if problems else 'ok'} {self.cases} - {name}")
        for problem in problems:
            for line in str(problem).rstrip().splitlines():
                print(f"# {line}")
        self.failures += bool(problems)

    def skip(self, name, reason):
        self.cases += 1
        print(f"ok {self.cases} - {name} # SKIP {reason}")

    def end(self):
        print(f"1..{self.cases}", flush=True)
        sys.exit(1 if self.failures else 0)
