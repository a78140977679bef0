"""As the executor is by default: the answer is the message of a status of its Task, which has no artifact."""

from chat import application

from interop.host import serve

if __name__ == "__main__":
    serve(application(stream=False))
