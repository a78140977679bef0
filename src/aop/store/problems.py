"""What a store can be blamed for; free of the driver, so that a unit without a store can tell these, too."""


class StoreUnavailable(Exception):
    """The store failed or did not answer. Carries the class of the failure only: its text may repeat row contents."""


class StoreNotAsExpected(Exception):
    """The schema is there, but is not the one this version works with."""


class StoreAway(StoreUnavailable):
    """It cannot be reached, or does not serve just now. One that is there and refuses its user is not away."""


class NotWritable(StoreAway):
    """The node that answered is a standby, is read-only, or was the leader before a newer one was promoted."""


class NotReplicated(StoreUnavailable):
    """The commit is on this node, but the server stopped waiting for its synchronous standby: it may still be lost."""
