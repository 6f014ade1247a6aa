"""What the library claims about rates, simulated: coverage, false positives, verdicts.

python tests/benchmarks/rates.py [--short] [--only TEXT] [--jobs 2] [--write FILE]
"""

import sys

from simulation.table import main

if __name__ == "__main__":
    sys.exit(main())
