// Pictures of every page of the dashboard, with the demo's data, into docs/pictures: node scripts/screenshots.ts
// Needs a build, and Debian's chromium.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { client, remote } from "../src/surfaces/http/client.ts"
import { openBrowser, PHONE } from "../test/fixtures/browser.ts"
import { repacked } from "./png.ts"

const BIN = fileURLToPath(new URL("../bin/throughline.js", import.meta.url))
const OUT = fileURLToPath(new URL("../docs/pictures/", import.meta.url))
const MAX_KB = 150

const temp = mkdtempSync(join(tmpdir(), "tl-pictures-"))
const env = { PATH: process.env.PATH ?? "", HOME: temp, TMPDIR: temp, THROUGHLINE_HTTP_PORT: "0" }
const throughline = (...args: string[]) =>
  execFileSync(process.execPath, [BIN, ...args, "--demo"], {
    env,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  })

/** Runs in the page: the machine that took the pictures is not named. */
const rename = `(names) => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) for (const [from, to] of names) texts.currentNode.data = texts.currentNode.data.replaceAll(from, to)
}`

mkdirSync(OUT, { recursive: true })
throughline("start")
const browser = await openBrowser()
try {
  const { url, address } = JSON.parse(throughline("dashboard", "--json")) as { url: string; address: string }
  const token = address.split("#token=")[1]!
  const ask = client(
    remote(async ({ path, body, headers }) => {
      const response = await fetch(url + path, {
        method: "POST",
        body,
        headers: { ...headers, authorization: `Bearer ${token}` },
      })
      return { status: response.status, body: await response.text() }
    }),
    { surface: "http" },
  )
  const { hits } = await ask("search", {
    query: "why did we drop redis",
    project: "all",
    platform: "claude-code",
    limit: 1,
  })
  const pages: [name: string, path: string, ready: string][] = [
    ["home", "/", ".home"],
    ["search", "/search?q=why+did+we+drop+redis", ".hit"],
    ["session", `/sessions/${hits[0]!.sessionId}?at=${hits[0]!.exchangeId}`, ".turn-target"],
    ["teams", "/teams", ".matrix .cell"],
    ["analytics", "/analytics", ".plot canvas"],
    ["health", "/health", ".setting"],
  ]
  for (const scheme of ["light", "dark"] as const)
    for (const [size, viewport] of [
      ["desktop", { width: 1200, height: 760 }],
      ["phone", PHONE],
    ] as const) {
      const context = await browser.newContext({ viewport, colorScheme: scheme })
      const page = await context.newPage()
      await page.goto(address)
      for (const [name, path, ready] of pages) {
        await page.goto(url + path)
        await page.locator(ready).first().waitFor()
        await page.waitForTimeout(600)
        await page.evaluate(
          `(${rename})(${JSON.stringify([
            [process.execPath, "/usr/bin/node"],
            [temp, "/tmp"],
          ])})`,
        )
        const file = join(OUT, `${name}-${scheme}-${size}.png`)
        const picture = repacked(await page.screenshot())
        writeFileSync(file, picture)
        const kb = Math.round(picture.length / 1024)
        console.log(`${name} ${scheme} ${size}: ${kb} kB`)
        if (kb > MAX_KB) process.exitCode = 1
      }
      await context.close()
    }
} finally {
  await browser.close()
  throughline("stop", "--force")
  rmSync(temp, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
}
