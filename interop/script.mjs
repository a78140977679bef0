// What the Agents in Node say: the same script as script.py.
const WAIT_MS = 12_000;

export async function* words(text, signal) {
  if (text === "break") throw new Error("the provider of the model is away");
  if (text === "wait") await pause(WAIT_MS, signal);
  for (const piece of ["You ", "said: ", text]) yield piece;
}

function pause(milliseconds, signal) {
  console.log("work started");
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

// Prints the method of each call, so that a cancel that arrives can be seen.
export function showMethods(request, response, next) {
  if (request.method === "POST") console.log("method", request.body?.method);
  next();
}
