"""The two clients: all operations, and `publish`, which does everything from a Card to a Release."""

from contextlib import aclosing, closing

from aop.client.call import Document
from aop.client.operations import AsyncOperations, SyncOperations
from aop.client.proofs import ServeProof
from aop.client.publishing import ChangedCard, OnStep, Publishing, PublishOptions, released
from aop.contracts.publication import Release

_WAIT_SECONDS = 30.0


class Client(AsyncOperations):
    """The asynchronous client.

        async with Client("http://127.0.0.1:8080", token) as client:
            result = await client.invoke("demo", "acme:adder", "add", {"numbers": [1, 2]})
            print(result.value)

    Lists are iterated with `async for`. It belongs to the event loop of its first call.
    """

    async def publish(
        self,
        card: Document,
        *,
        proofs: ServeProof | None = None,
        provider_id: str | None = None,
        changed: ChangedCard = ChangedCard.REFUSE,
        wait_seconds: float = _WAIT_SECONDS,
        on_step: OnStep = lambda _: None,
    ) -> Release:
        """Registers the Card, binds and proves its endpoint, creates the Release and publishes it.

        Can be repeated after any failure: what is done already is used, and only the rest is done. Each step
        is handed to `on_step` when it is done; an error that it raises stops before the next step.

        - `proofs` serves the proof of a challenge, such as `proof_folder(path)`. Without it ProofNeeded is raised when
          a proof is due.
        - `provider_id` is the provider to publish under, by default the owner of the Card.
        - `changed` says what happens when the version is registered already with other content.
        - `wait_seconds` is how long to wait until the proof is seen at its URL, else ProofNotServed is raised; with 0
          the platform is asked at once.

        A version or Release that was taken out of use raises PublishStopped.
        """
        options = PublishOptions(proofs, provider_id, changed, wait_seconds)
        async with aclosing(Publishing(self, card, options).steps()) as steps:
            async for step in steps:
                if (outcome := on_step(step)) is not None:
                    await outcome
        return released(step)


class SyncClient(SyncOperations):
    """The same client without `await`; threads may share it.

    with SyncClient("http://127.0.0.1:8080", token) as client:
        print(client.invoke("demo", "acme:adder", "add", {"numbers": [1, 2]}).value)
    """

    def publish(
        self,
        card: Document,
        *,
        proofs: ServeProof | None = None,
        provider_id: str | None = None,
        changed: ChangedCard = ChangedCard.REFUSE,
        wait_seconds: float = _WAIT_SECONDS,
        on_step: OnStep = lambda _: None,
    ) -> Release:
        options = PublishOptions(proofs, provider_id, changed, wait_seconds)
        publishing = Publishing(self._sharing(AsyncOperations), card, options)
        with closing(self._iterated(publishing.steps())) as steps:
            for step in steps:
                on_step(step)
        return released(step)

    publish.__doc__ = Client.publish.__doc__
