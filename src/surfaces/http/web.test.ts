import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Hono } from "hono"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { webPages } from "./web.ts"

let dir = ""
const app = new Hono()
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "pages-"))
  mkdirSync(join(dir, "assets"))
  writeFileSync(join(dir, "index.html"), "<!doctype html>the page")
  writeFileSync(join(dir, "assets", "index-abc123.js"), "let x")
  writeFileSync(join(dir, "..", "outside.js"), "not for the web")
  app.use(webPages(dir))
  app.all("*", (c) => c.text("next", 404))
})
afterAll(() => {
  rmSync(dir, { recursive: true, force: true })
  rmSync(join(dir, "..", "outside.js"), { force: true })
})

describe("the dashboard's files", () => {
  test.each(["/", "/search", "/sessions/0199-ab", "/teams", "/analytics", "/health"])(
    "%s is the page",
    async (path) => {
      const response = await app.request(path)
      expect([response.status, await response.text()]).toEqual([200, "<!doctype html>the page"])
      expect(response.headers.get("content-type")).toContain("text/html")
      expect(response.headers.get("cache-control")).toBe("no-cache")
    },
  )

  test("no script and no style may come from anywhere else, nor stand in the page", async () => {
    const policy = (await app.request("/")).headers.get("content-security-policy")!
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toContain("unsafe")
  })

  test("files are kept by the browser under names that change with what is in them", async () => {
    const response = await app.request("/assets/index-abc123.js")
    expect(await response.text()).toBe("let x")
    expect(response.headers.get("content-type")).toContain("text/javascript")
    expect(response.headers.get("cache-control")).toContain("immutable")
    expect(response.headers.get("x-content-type-options")).toBe("nosniff")
  })

  test.each([
    "/assets/nothing.js",
    "/../outside.js",
    "/assets/..%2f..%2foutside.js",
    "/api/status",
    "/sessions/a/b",
    "/index.html/",
  ])("%s is none of them", async (path) => {
    const response = await app.request(path)
    expect(await response.text()).toBe("next")
  })

  test("a page is asked for, not written to", async () => {
    expect(await (await app.request("/", { method: "POST" })).text()).toBe("next")
    const head = await app.request("/", { method: "HEAD" })
    expect([head.status, await head.text()]).toEqual([200, ""])
  })
})
