"""A streamed Invocation on its way to its caller: frames, their queue, progress in the Ledger."""
