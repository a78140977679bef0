"""a2a-sdk 1.x as it is by default: A2A 1.0 alone."""

from chat import application

from interop.host import serve

if __name__ == "__main__":
    serve(application("1.0"))
