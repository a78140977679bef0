"""Canonical endpoints (contract 5.3), exact origins of settings, and the looser endpoint rule of Cards (2.1)."""

import json
import re
from ipaddress import IPv6Address

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from aop.base import assets
from aop.net.origin import Endpoint, InvalidEndpoint, parse_origin
from tests.net.readings import CARD_ENDPOINT, reads_endpoint
from tests.support.every import every

REFUSED = [
    "", " ", "agent.example", "//agent.example/", "ftp://agent.example/", "ws://agent.example/", "file:///etc/passwd",
    "httpss://agent.example/", "http:agent.example", "http:/agent.example", "http:///agent.example", "http://",
    "https:///", "javascript:alert(1)", "://agent.example", "h ttp://agent.example/", "http//agent.example",
    "http:\\\\agent.example", "http://user@agent.example/", "http://user:pw@agent.example/", "http://@agent.example/",
    "http://:@agent.example/", "http://agent.example@127.0.0.1/", "http://agent.example:80@evil.example/",
    "http://agent.example/?q=1", "http://agent.example?", "http://agent.example/#f", "http://agent.example#",
    "http://agent.example/%41", "http://agent.example/%2e%2e/", "http://agent%2eexample/", "http://agent.example/%",
    "http://agent.example\\x", "http://agent.example/a\\b", "http:\\/agent.example/", "http://agent.example/.",
    "http://agent.example/..", "http://agent.example/./a", "http://agent.example/a/../b", "http://agent.example/a/..",
    "http://agent.example/a/.", "http://agent.example//../", " http://agent.example/", "http://agent.example/ ",
    "http://agent.example/a b", "http://agent .example/", "http://agent.example/\n", "\thttp://agent.example/",
    "http://agent.example/\x00", "http://agent\r.example/", "http://agent.example/\x7f", "http://agent.example\n",
    "http://agent.example/\u00a0", "http://agent.example/\u2028", "http://agent.example:/", "http://agent.example:0/",
    "http://agent.example:65536/", "http://agent.example:99999/", "http://agent.example:-1/",
    "http://agent.example:+80/", "http://agent.example:80a/", "http://agent.example:8 0/",
    "http://agent.example:80:80/", "http://agent.example:000/", "http://agent.example:\u0661/", "http://[::1]:/",
    "http://:80/", "http://ágent.example/", "http://\u0430gent.example/", "http://agent_1.example/",
    "http://agent..example/", "http://.example/", "http://agent.example../", "http://./", "http://../",
    "http://*.example/", "http://agent!.example/", "http://a,b/", "http://" + "a" * 64 + ".example/",
    "http://" + "a." * 127 + "aaa/", "http://agent.example。/", "http://\uff41gent.example/", "http://127.1/",
    "http://127.0.1/", "http://0x7f.1/", "http://0x7f000001/", "http://2130706433/", "http://017700000001/",
    "http://0177.0.0.1/", "http://127.0.0.01/", "http://127.0.0.0x1/", "http://0x7f.0x0.0x0.0x1/",
    "http://127.0.0.1.1/", "http://256.0.0.1/", "http://127.0.0.256/", "http://1.2.3.4.5/", "http://0/", "http://1/",
    "http://a.1/", "http://a.0x/", "http://a.0x7F/", "http://agent.example.123/", "http://127.0.0.1../",
    "http://①②⑦.⓪.⓪.①/", "http://\uff11\uff12\uff17.0.0.1/", "http://127。0。0。1/", "http://0X7f.1/",
    "http://00.0.0.0/", "http://999999999999/", "http://[::1%25eth0]/", "http://[fe80::1%eth0]/", "http://[::1/",
    "http://::1/", "http://[]/", "http://[:]/", "http://[::1]x/", "http://[1:2:3:4:5:6:7]/",
    "http://[1:2:3:4:5:6:7:8:9]/", "http://[::1::2]/", "http://[12345::]/", "http://[::g]/", "http://[127.0.0.1]/",
    "http://[::127.1]/", "http://[::ffff:127.0.0.01]/", "http://[v1.x]/", "http://[[::1]]/", "http://]::1[/",
    "http://agent.example/a|b", 'http://agent.example/"', "http://agent.example/<a>", "http://agent.example/ä",
    "http://agent.example/{id}", "http://agent.example/" + "a" * 2048, "http://agent.example/^",
    "http://agent.example/`",
]  # fmt: skip

CANONICAL = [
    ("http://agent.example", "http://agent.example/"),
    ("http://agent.example/", "http://agent.example/"),
    ("HTTPS://Agent.EXAMPLE/Path", "https://agent.example/Path"),
    ("http://agent.example./", "http://agent.example/"),
    ("http://agent.example.:80/a", "http://agent.example/a"),
    ("http://agent.example:80", "http://agent.example/"),
    ("https://agent.example:443/x/", "https://agent.example/x/"),
    ("http://agent.example:443/", "http://agent.example:443/"),
    ("https://agent.example:80/", "https://agent.example:80/"),
    ("http://agent.example:1/", "http://agent.example:1/"),
    ("http://agent.example:65535/", "http://agent.example:65535/"),
    ("http://agent.example:08080/", "http://agent.example:8080/"),
    ("http://localhost:8091/a2a", "http://localhost:8091/a2a"),
    ("http://127.0.0.1:8091", "http://127.0.0.1:8091/"),
    ("http://127.0.0.1./", "http://127.0.0.1/"),
    ("http://[::1]:8091/", "http://[::1]:8091/"),
    ("http://[0:0:0:0:0:0:0:1]/", "http://[::1]/"),
    ("http://[2001:0DB8:0000:0000:0001:0000:0000:0001]/", "http://[2001:db8::1:0:0:1]/"),
    ("http://[2001:db8:0:1:1:1:1:1]/", "http://[2001:db8:0:1:1:1:1:1]/"),
    ("http://[2001:db8::0:1:0:0:0]/", "http://[2001:db8:0:0:1::]/"),
    ("http://[::]/", "http://[::]/"),
    ("http://[::FFFF:7F00:1]/", "http://[::ffff:127.0.0.1]/"),
    ("http://[64:ff9b::192.0.2.1]/", "http://[64:ff9b::c000:201]/"),
    ("https://xn--bcher-kva.example/", "https://xn--bcher-kva.example/"),
    ("https://a-b.1c.example-2/", "https://a-b.1c.example-2/"),
    ("https://0x7f.example/", "https://0x7f.example/"),
    ("https://1.2.3.com/", "https://1.2.3.com/"),
    ("http://agent.example//a//", "http://agent.example//a//"),
    ("http://agent.example/...", "http://agent.example/..."),
    ("http://agent.example/.well-known/a.b", "http://agent.example/.well-known/a.b"),
    ("http://agent.example/a;v=1,2:@!$&'()*+=~-_", "http://agent.example/a;v=1,2:@!$&'()*+=~-_"),
    ("https://" + "a" * 63 + ".example/", "https://" + "a" * 63 + ".example/"),
    ("https://" + ("a" * 49 + ".") * 5 + "aaa./", "https://" + ("a" * 49 + ".") * 5 + "aaa/"),
]


@every("text", REFUSED)
def test_a_doubtful_endpoint_is_refused(text: str) -> None:
    with pytest.raises(InvalidEndpoint):
        Endpoint.parse(text)


@every(("text", "canonical"), CANONICAL)
def test_an_endpoint_has_one_canonical_form(text: str, canonical: str) -> None:
    assert Endpoint.parse(text).canonical == canonical
    assert Endpoint.parse(canonical) == Endpoint.parse(text)


def test_the_origin_is_scheme_host_and_non_default_port_and_the_path_is_kept_apart() -> None:
    endpoint = Endpoint.parse("HTTP://[::1]:8080/a2a/v1")
    assert (endpoint.origin, endpoint.path) == ("http://[::1]:8080", "/a2a/v1")
    assert (endpoint.scheme, endpoint.host, endpoint.port) == ("http", "::1", 8080)
    assert endpoint.authority == "[::1]:8080"
    assert not endpoint.is_default_port
    assert Endpoint.parse("https://agent.example:443").origin == "https://agent.example"
    assert Endpoint.parse("https://agent.example").is_default_port


def test_a_refusal_never_repeats_what_it_read() -> None:
    with pytest.raises(InvalidEndpoint) as refused:
        Endpoint.parse("http://user:s3cret@agent.example/")
    assert "s3cret" not in str(refused.value)


hosts = (
    st.from_regex(r"[A-Za-z0-9-]{1,8}(\.[A-Za-z0-9-]{1,8}){0,3}\.?", fullmatch=True)
    | st.ip_addresses(v=4).map(str)
    | st.ip_addresses(v=6).map(lambda address: f"[{address.exploded}]")
)
paths = st.from_regex(r"(/[-.~0-9A-Za-z_:@!$&'()*+,;=]{0,6}){0,4}", fullmatch=True)


@given(st.sampled_from(["http", "HTTPS", "https"]), hosts, st.none() | st.integers(1, 65535), paths)
def test_the_canonical_form_is_its_own_canonical_form(scheme: str, host: str, port: int | None, path: str) -> None:
    text = f"{scheme}://{host}{'' if port is None else f':{port}'}{path}"
    try:
        endpoint = Endpoint.parse(text)
    except InvalidEndpoint:
        assume(False)
    again = Endpoint.parse(endpoint.canonical)
    assert again == endpoint
    assert again.canonical == endpoint.canonical
    assert re.fullmatch(r"https?://[-.0-9a-z:\[\]]+/\S*", endpoint.canonical)


@given(st.ip_addresses(v=6))
def test_every_ipv6_host_keeps_its_address(address: IPv6Address) -> None:
    assert IPv6Address(Endpoint.parse(f"http://[{address.exploded}]/").host) == address


@given(st.text(max_size=30))
def test_any_text_is_refused_or_read_as_others_read_it(text: str) -> None:
    for candidate in (text, f"http://{text}", f"http://agent.example/{text}", f"http://[{text}]/"):
        assert reads_endpoint(candidate) in {True, False}


@pytest.mark.parametrize(
    "text",
    [
        "http://127.0.0.1:8080", "https://agent.example", "http://localhost", "https://[::1]:8443",
        "https://10.0.0.1:444",
    ],
)  # fmt: skip
def test_a_configured_origin_is_taken_in_its_exact_spelling(text: str) -> None:
    assert parse_origin(text).origin == text


@every(
    "text",
    [
        "http://127.0.0.1:8080/", "HTTP://agent.example", "http://Agent.example", "http://agent.example:80",
        "agent.example", "https://agent.example:443", "http://agent.example.", "http://[0:0::1]",
        "http://agent.example/a", "*", "null", "", "http://agent.example:08080", " http://agent.example",
        "http://agent.example?", "http://*.example",
    ],
)  # fmt: skip
@pytest.mark.rows("OPS-03")
def test_an_origin_in_any_other_spelling_is_refused(text: str) -> None:
    with pytest.raises(InvalidEndpoint):
        parse_origin(text)


@pytest.mark.parametrize(
    "text",
    [
        "http://agent.example", "https://agent.example:8443/a?b=c#d", "HTTP://127.1/", "http://agent.example/a@b",
        "http://[::1]/", "http://agent.example/?q=a@b", "http://agent.example/%41/../x", "https://a_b.example:/",
        "http://agent.example#a@b", "http://agent.example/" + "a" * (2048 - 21),
    ],
)  # fmt: skip
def test_a_card_may_name_any_absolute_http_uri(text: str) -> None:
    assert CARD_ENDPOINT.is_valid(text)


@every(
    ("text", "rule"),
    [
        ("", "format"), ("agent.example/a", "format"), ("/a", "format"), ("ftp://agent.example/", "pattern"),
        ("http://", "pattern"), ("http:///a", "pattern"), ("http://user@agent.example/", "pattern"),
        ("http://@agent.example/", "pattern"), ("http://user:pw@agent.example/", "pattern"),
        ("http://agent.example/a b", "format"), ("http://agent.example/\n", "format"),
        (" http://agent.example/", "format"), ("http://agent.example/%4", "format"),
        ("http://ágent.example/", "format"), ("http://agent.example/\u00a0", "format"), ("http://a:b:c/", "format"),
        ("http://agent.example\\@evil/", "format"), ("http://agent.example/" + "a" * (2049 - 21), "maxLength"),
    ],
)  # fmt: skip
def test_a_card_endpoint_with_user_info_blanks_or_another_scheme_is_refused(text: str, rule: str) -> None:
    assert rule in {violation.rule for violation in CARD_ENDPOINT.violations(text)}


def test_the_endpoint_vectors_of_the_contract_hold() -> None:
    rows = json.loads((assets.folder("contracts") / "vectors" / "network.json").read_bytes())["endpoints"]
    assert rows
    assert [row["name"] for row in rows if canonical_or_none(row["endpoint"]) != row.get("canonical")] == []


def canonical_or_none(text: str) -> str | None:
    try:
        return Endpoint.parse(text).canonical
    except InvalidEndpoint:
        return None
