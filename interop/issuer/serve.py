"""Canaille as an OpenID provider in memory: one person, the Console as a public client, the platform as its audience.

Arguments: its port, the origin of the Console, the client id, the audience, the person's name and password, the
seconds that an access token lives.
"""

import sys

from canaille import create_app
from canaille.app import models
from canaille.backends import Backend
from flask import Flask
from werkzeug.serving import make_server


def provider(port: int, token_seconds: int) -> Flask:
    config = {
        "SECRET_KEY": "for tests on loopback",
        "SERVER_NAME": f"127.0.0.1:{port}",
        "PREFERRED_URL_SCHEME": "http",
        "CANAILLE": {"DATABASE": "memory", "JAVASCRIPT": False},
        "OAUTH2_TOKEN_EXPIRES_IN": {"authorization_code": token_seconds, "refresh_token": token_seconds},
    }
    return create_app(config)


def fill(app: Flask, console: str, client_id: str, audience: str, person: tuple[str, str]) -> None:
    name, password = person
    with app.app_context():
        resource = models.Client(client_id=audience, client_name="Agent Operating Platform")
        Backend.instance.save(resource)
        client = models.Client(
            client_id=client_id,
            client_name="Console",
            client_uri=console,
            redirect_uris=[f"{console}/sign-in"],
            post_logout_redirect_uris=[f"{console}/sign-in"],
            grant_types=["authorization_code", "refresh_token"],
            response_types=["code"],
            scope=["openid"],
            token_endpoint_auth_method="none",
            id_token_signed_response_alg="RS256",
            audience=[resource],
        )
        Backend.instance.save(client)
        account = models.User(
            user_name=name, family_name=name, given_name=name, emails=[f"{name}@example.com"], password=password
        )
        Backend.instance.save(account)


def main(arguments: list[str]) -> None:
    port, console, client_id, audience, name, password, seconds = arguments
    app = provider(int(port), int(seconds))
    fill(app, console, client_id, audience, (name, password))
    server = make_server("127.0.0.1", int(port), app, threaded=True)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    server.serve_forever()


if __name__ == "__main__":
    main(sys.argv[1:])
