"""Ids for rows that a benchmark writes itself: they rise with time as real ones do, and lie in their month."""


def root_task(at: str, seed: str = "random()::text") -> str:
    """SQL of a UUIDv7 of a moment, with its other digits from a text."""
    return (
        f"(lpad(to_hex((extract(epoch FROM {at}) * 1000)::bigint), 12, '0') || '7' || substr(md5({seed}), 1, 3)"
        f" || '8' || substr(md5({seed}), 4, 15))::uuid"
    )
