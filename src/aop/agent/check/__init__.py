"""`aop agent check`: calls that an Agent must accept, and calls that it must refuse."""
