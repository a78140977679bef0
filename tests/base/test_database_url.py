"""PostgreSQL URLs with one host and with several."""

import pytest

from aop.base.database_url import single_host_urls
from aop.base.settings import database_url


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("postgresql://u:p@db/aop", ["postgresql://u:p@db/aop"]),
        ("postgres:///aop?host=/run/db", ["postgres:///aop?host=%2Frun%2Fdb"]),
        (
            "postgresql://u:p%2C%40@a:1,b,[::1]:3/aop?sslmode=require&target_session_attrs=read-write",
            [f"postgresql://u:p%2C%40@{host}/aop?sslmode=require" for host in ("a:1", "b", "[::1]:3")],
        ),
    ],
)
def test_a_url_is_split_into_one_for_each_host(text: str, urls: list[str]) -> None:
    assert single_host_urls(text) == urls
    assert database_url(text).reveal() == text


@pytest.mark.parametrize(
    "text",
    [
        "mysql://u@db/aop",
        "postgresql://u@db",
        "postgresql://u:word-of-mine@a,,b/aop",
        "postgresql://u:word-of-mine@a:1,b:x/aop",
        "postgresql://u:word-of-mine@a,b/aop?target_session_attrs=any",
        "postgresql://u:word-of-mine@a,b/aop?target_session_attrs=standby",
    ],
)
def test_a_url_that_no_unit_could_write_to_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(ValueError, match=r"PostgreSQL URL|only as read-write") as refused:
        database_url(text)
    assert "word-of-mine" not in str(refused.value)
