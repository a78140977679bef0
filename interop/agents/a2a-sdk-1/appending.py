"""a2a-sdk 1.x whose executor appends each word to one artifact."""

from chat import application

from interop.host import serve

if __name__ == "__main__":
    serve(application("1.0", artifact_id="answer"))
