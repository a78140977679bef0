import { QueryClient, QueryObserver } from "@tanstack/react-query"
import { describe, expect, it } from "vitest"

import { readAgain } from "@/api/queries"

describe("what an action makes stale", () => {
  it("is read again, also where its first read is still under way", async () => {
    const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } })
    const answers: Array<(names: string[]) => void> = []
    const observer = new QueryObserver(client, {
      queryKey: ["listInstallations", {}, "whole"],
      queryFn: () => new Promise<string[]>((answer) => answers.push(answer)),
    })
    const stop = observer.subscribe(() => undefined)
    readAgain(client, ["installAgent", "listInstallations"])
    answers[0]?.([])
    answers[1]?.(["mailer"])
    await expect.poll(() => observer.getCurrentResult().data).toEqual(["mailer"])
    readAgain(client, ["listInstallations"])
    answers[2]?.(["mailer", "greeter"])
    await expect.poll(() => observer.getCurrentResult().data).toEqual(["mailer", "greeter"])
    stop()
    client.clear()
  })

  it("is not read while nobody looks at it", () => {
    const client = new QueryClient()
    client.setQueryData(["listInstallations", {}, "whole"], [])
    readAgain(client, ["listInstallations"])
    expect(client.isFetching()).toBe(0)
    expect(client.getQueryState(["listInstallations", {}, "whole"])?.isInvalidated).toBe(true)
    client.clear()
  })
})
