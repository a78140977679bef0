"""With `stream=True`: the answer is one artifact to which each word is appended."""

from chat import application

from interop.host import serve

if __name__ == "__main__":
    serve(application(stream=True))
