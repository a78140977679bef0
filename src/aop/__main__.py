"""`python -m aop` is the aop command."""

import sys

from aop.cli.main import main

sys.exit(main())
