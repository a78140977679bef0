"""A unit of a version that does not exist yet: `python -m tests.store.next_unit declared|undeclared UNIT`."""

import sys

from tests.store.next_version import DECLARED, become_next

if __name__ == "__main__":
    become_next(declared=sys.argv.pop(1) == DECLARED)
    from aop.cli.main import main

    sys.exit(main())
