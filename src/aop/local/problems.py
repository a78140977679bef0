"""The reasons for which the local platform cannot start or go on; each text is the one message its reader sees."""


class LocalProblem(Exception):
    """Ends `aop up` with its text and a non-zero exit code, without a traceback."""


class DataFolderUnusable(LocalProblem):
    pass


class DataFolderBusy(LocalProblem):
    pass


class PortTaken(LocalProblem):
    pass


class DatabaseUnusable(LocalProblem):
    pass


class PostgresUnusable(LocalProblem):
    pass


class UnitFailed(LocalProblem):
    pass


class SampleUnusable(LocalProblem):
    pass


class StepFailed(LocalProblem):
    """A step of publishing or installing a sample Agent was refused or got no answer."""


class NotRunning(LocalProblem):
    pass
