"""Refuses to be part of another package named aop, whose first file was installed over ours. What programs import loads
this before anything else, because no other module here would say what is wrong."""

import aop

if getattr(aop, "__distribution__", None) != "agent-operating-platform":
    raise ImportError(
        f"{aop.__file__} is of another package named aop, installed over agent-operating-platform;"
        " uninstall both, then install agent-operating-platform again"
    )
