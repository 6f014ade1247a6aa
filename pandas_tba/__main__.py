"""``python -m pandas_tba`` starts the command line."""

import sys

from pandas_tba.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
