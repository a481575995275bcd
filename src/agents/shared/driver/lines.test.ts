import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { startLines } from "./lines.ts"

let cwd: string
beforeAll(() => {
  cwd = mkdtempSync(join(tmpdir(), "lines-"))
})
afterAll(() => rmSync(cwd, { recursive: true, force: true }))

async function started(script: string) {
  const said: Record<string, unknown>[] = []
  const env = { PATH: "/usr/bin:/bin" }
  const onLine = (line: Record<string, unknown>) => void said.push(line)
  const lines = await startLines({ command: "sh", args: ["-c", script], cwd, env, onLine })
  return { lines, said }
}

const isAlive = (pid: number) => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"))
  } catch {
    return false
  }
}

async function pidIn(name: string): Promise<number> {
  for (;;) {
    try {
      const pid = Number(readFileSync(join(cwd, name), "utf8"))
      if (pid > 0) return pid
    } catch {
      // Not written yet.
    }
    await sleep(10)
  }
}

describe("a program that speaks in lines", () => {
  test("says lines of JSON, whole however long; what is none is counted, and its last errors are told", async () => {
    const { lines, said } = await started(
      `echo noise; echo '{"a":1}'; echo '{broken'; head -c 20000000 /dev/zero | tr '\\0' x | sed 's/^/{"long":"/; s/$/"}/'; echo;
       head -c 100000 /dev/zero | tr '\\0' e >&2; echo THE END >&2; exit 3`,
    )
    const reason = await lines.gone
    expect(said[0]).toEqual({ a: 1 })
    expect((said[1]!.long as string).length).toBe(20_000_000)
    expect(reason).toContain("ended with code 3 (2 lines of its output were no JSON)")
    expect(reason).toMatch(/THE END$/)
    expect(reason.length).toBeLessThan(5_000)
  })

  test("is closed by the end of its input", async () => {
    const { lines } = await started(`cat > /dev/null; exit 0`)
    lines.send({ any: "thing" })
    await lines.close()
    expect(await lines.gone).toContain("ended with code 0")
    lines.send({ too: "late" })
  })

  test("is ended when it does not go, with what it started, even what has left its group", async () => {
    const { lines } = await started(
      `trap '' TERM; setsid sh -c 'echo $$ > child; exec sleep 86398' & while true; do sleep 1; done`,
    )
    const child = await pidIn("child")
    await lines.close()
    expect(await lines.gone).toContain("SIGKILL")
    expect(isAlive(lines.pid)).toBe(false)
    while (isAlive(child)) await sleep(10)
  })
})
