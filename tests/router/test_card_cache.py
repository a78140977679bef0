"""The Router's memory of Cards: the one that was used longest ago gives way, by number and by bytes."""

import json

from aop.base.canonical import canonical, digest
from aop.router.targets.card import TargetCard, target_card
from aop.router.targets.resolution import CardCache
from tests.support.cards import a_card, a_skill

MAX_CARDS = 4096


def card_of(number: int, schema_bytes: int = 10) -> TargetCard:
    schema = {"title": "x" * schema_bytes}
    document = canonical(a_card(agent_id=f"acme:a{number}", skills=[a_skill(inputSchema=schema)], permissions=[]))
    return target_card(document, digest(document))


def kept(cache: CardCache, cards: list[TargetCard]) -> list[bool]:
    return [cache.find(f"rel-{number}") is not None for number, card in enumerate(cards)]


def test_one_card_more_than_are_kept_makes_the_first_give_way() -> None:
    cache, card = CardCache(1 << 40), card_of(0)
    for number in range(MAX_CARDS + 1):
        cache.keep(f"rel-{number}", card, card.kept_bytes)
    assert cache.find("rel-0") is None
    assert cache.find("rel-1") is card
    assert cache.find(f"rel-{MAX_CARDS}") is card


def test_the_card_that_is_used_most_does_not_give_way() -> None:
    cards = [card_of(number, 50_000) for number in range(20)]
    cache = CardCache(3 * cards[0].kept_bytes)
    for number, card in enumerate(cards):
        cache.keep(f"rel-{number}", card, card.kept_bytes)
        assert cache.find("rel-0") is cards[0]
    assert kept(cache, cards) == [number in {0, 18, 19} for number in range(20)]


def test_the_limit_in_bytes_counts_what_schemas_take() -> None:
    cards = [card_of(number, 50_000) for number in range(5)]
    cache = CardCache(3 * cards[0].kept_bytes)
    for number, card in enumerate(cards):
        cache.keep(f"rel-{number}", card, card.kept_bytes)
    assert kept(cache, cards) == [False, False, True, True, True]
    assert cards[0].kept_bytes >= len(json.dumps({"title": "x" * 50_000}))


def test_a_card_that_is_put_again_or_forgotten_is_not_counted_twice() -> None:
    cards = [card_of(number, 50_000) for number in range(3)]
    cache = CardCache(3 * cards[0].kept_bytes)
    for number, card in enumerate([*cards, *cards, *cards]):
        cache.keep(f"rel-{number % 3}", card, card.kept_bytes)
    assert kept(cache, cards) == [True, True, True]
    cache.forget("rel-1")
    cache.keep("rel-1", cards[1], cards[1].kept_bytes)
    assert kept(cache, cards) == [True, True, True]
