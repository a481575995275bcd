import { chmodSync, chownSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, afterEach, beforeAll, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"

const NOBODY = 65534
const isRoot = process.getuid?.() === 0

let home: TestHome
let place: string
beforeAll(async () => {
  home = makeHome()
  const temp = join(home.env.HOME!, "tmp")
  mkdirSync(temp)
  home.env.TMPDIR = temp
  place = join(temp, `throughline-demo-${process.getuid!()}`)
  await home.run("start")
}, 240_000)
afterEach(() => rmSync(place, { recursive: true, force: true }))
afterAll(() => home?.dispose())

/** As another user would, before there is a demo: its data directory is a link to the person's own. */
function plant(version: string, makeForeign: () => void): void {
  mkdirSync(join(place, "you"), { recursive: true })
  symlinkSync(home.dir, join(place, "home"))
  writeFileSync(join(place, "demo.json"), JSON.stringify({ version }))
  makeForeign()
}

test.each<[whose: string, makeForeign: () => void]>([
  ...(isRoot ? [["another user's", () => chownSync(place, NOBODY, NOBODY)] as [string, () => void]] : []),
  ["everybody's", () => chmodSync(place, 0o777)],
])(
  "a demo's folder that is %s neither stops nor replaces the person's daemon",
  async (_, makeForeign) => {
    const { pid } = home.registration()
    for (const version of ["0.0.1", (await home.run("--version")).stdout.trim()]) {
      plant(version, makeForeign)
      for (const command of ["start", "sessions", "doctor", "stop"]) {
        const { code, stdout, stderr } = await home.run(command, "--demo")
        expect({ command, code, stdout }).toEqual({ command, code: 4, stdout: "" })
        expect(stderr).toContain(`${place} is not a folder of yours alone`)
      }
      expect(readdirSync(join(place, "you"))).toEqual([])
      rmSync(place, { recursive: true })
    }
    expect((await home.run("status")).stdout).toContain(`pid ${pid},`)
  },
  240_000,
)
