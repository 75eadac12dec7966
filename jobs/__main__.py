"""All jobs as one command with sub-commands: `python -m jobs run --settings my.toml`."""

import sys

from jobs.frame.commands import main

if __name__ == "__main__":
    sys.exit(main())
