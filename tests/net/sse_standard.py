"""The standard's own wording of server-sent events, line by line, as slow as it reads: what our parser is held to."""


def by_the_standard(data: bytes) -> list[bytes]:
    """The data of every event of a whole stream."""
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    found: list[bytes] = []
    lines: list[bytes] = []
    has_data = False
    for line in text.split(b"\n")[:-1]:
        if not line:
            if has_data:
                found.append(b"\n".join(lines))
            lines, has_data = [], False
            continue
        name, colon, value = line.partition(b":")
        if name == b"data":
            has_data = True
            lines.append(value[1:] if colon and value[:1] == b" " else value)
    return found
