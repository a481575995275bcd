import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { helloOf, openTab } from "../../test/fixtures/tab.ts"

let session: typeof import("./session.ts")
/** What the daemon that is asked for its proof does before it answers. */
let meanwhile: () => void
let hellos: number
beforeEach(async () => {
  vi.resetModules()
  meanwhile = () => {}
  hellos = 0
  vi.stubGlobal("fetch", async (path: string, { body }: { body?: string }) => {
    const answer = await helloOf(path, body)
    if (path === "/hello") {
      hellos++
      meanwhile()
    }
    return answer
  })
  openTab("/")
  session = await import("./session.ts")
})
afterEach(() => vi.unstubAllGlobals())

describe("the key is sent without a new proof", () => {
  test("only while the line to the journal is open", async () => {
    await session.authorization()
    expect(session.proved()).toBeUndefined()
    session.lineOpened()
    expect(session.proved()).toEqual({ authorization: "Bearer a-key" })
    session.lineLost()
    expect(session.proved()).toBeUndefined()
  })

  test("not after a request was lost, until there is a new proof", async () => {
    await session.authorization()
    session.lineOpened()
    session.doubt()
    expect(session.proved()).toBeUndefined()
    await session.authorization()
    expect(session.proved()).toBeDefined()
    expect(hellos).toBe(2)
  })

  test("not by the proof of a daemon that ended before it was checked", async () => {
    session.lineOpened()
    meanwhile = session.lineLost
    await expect(session.authorization()).rejects.toMatchObject({ code: "daemon_unreachable" })
    session.lineOpened()
    expect(session.proved()).toBeUndefined()
  })
})
