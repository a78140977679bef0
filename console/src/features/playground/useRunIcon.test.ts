import { describe, expect, it } from "vitest"

import { answered, begin, broken, type Run } from "@/features/playground/run"
import { tabState } from "@/features/playground/useRunIcon"

const running = begin("text", false, 0)
const done = answered(running, { invocationId: "inv_1", traceId: "1" }, {}, 1)
const stopped = broken(running, undefined, true, 1)
const news = (run: Run) => ({ run, isSeen: false })

describe("the icon of the tab", () => {
  it("says that something runs, and how it ended until somebody looked", () => {
    expect(tabState([])).toBe("idle")
    expect(tabState([news(done), news(running)])).toBe("running")
    expect(tabState([news(done)])).toBe("done")
    expect(tabState([news(done), news(stopped)])).toBe("failed")
    expect(tabState([{ run: stopped, isSeen: true }])).toBe("idle")
  })
})
