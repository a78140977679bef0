"""`python -m aop` is the aop command."""

import sys

from agent_operating_platform import main

sys.exit(main())
