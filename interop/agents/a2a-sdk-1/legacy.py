"""a2a-sdk 1.x that also answers A2A 0.3."""

from chat import application

from interop.host import serve

if __name__ == "__main__":
    serve(application("1.0", "0.3"))
