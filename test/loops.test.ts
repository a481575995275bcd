import { readFileSync } from "node:fs"
import { glob } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"

/**
 * Whatever runs for as long as the daemon does runs under src/lib/supervised-loop.ts, so that it is restarted and shown.
 * A loop in any other file is named here, with the reason why it ends by itself.
 */
const allowed: Record<string, { loops: number; why: string }> = {
  "src/lib/clock.ts": { loops: 1, why: "the timer behind every(), which is seen where it is called" },
  "src/lib/supervised-loop.ts": { loops: 1, why: "the supervisor itself" },
  "src/capture/watch/queue.ts": { loops: 1, why: "waits inside a reader's round" },
  "src/agents/codex/line-asking.ts": { loops: 1, why: "is a round of the supervised approvals loop" },
  "src/permissions/line-asking.ts": { loops: 2, why: "both end with the question, inside a supervised round" },
  "src/permissions/dialogs.ts": { loops: 1, why: "ends with the one dialog that it watches" },
  "src/queue/message-leases.ts": { loops: 1, why: "waits a few seconds for one message's confirmation" },
  "src/queue/background-hooks.ts": { loops: 1, why: "ends with the hook's request" },
  "src/queue/recovery.ts": { loops: 1, why: "settles one message; a failure leaves it to the next round" },
  "src/queue/line-turns.ts": { loops: 1, why: "follows one message; it is begun again while it is under way" },
  "src/queue/paste.ts": { loops: 1, why: "types one message" },
  "src/live/hook-status.ts": { loops: 1, why: "reads pages until the last" },
  "src/live/watch.ts": { loops: 1, why: "reads pages until the last" },
  "src/teams/asks.ts": { loops: 2, why: "both end with the caller's request" },
  "src/teams/open-session.ts": { loops: 1, why: "ends with one question" },
  "src/permissions/pending.ts": { loops: 2, why: "both end with the hook's request" },
  "src/permissions/permits.ts": { loops: 1, why: "ends with one permission" },
  "src/teams/recovery.ts": { loops: 1, why: "settles one question" },
  "src/teams/turn.ts": { loops: 1, why: "ends with one turn" },
  "src/teams/maintenance.ts": { loops: 1, why: "a bounded number of slices inside a supervised round" },
  "src/surfaces/http/events.ts": { loops: 1, why: "ends with the browser's request, which is made again" },
  "src/surfaces/cli/cli.ts": { loops: 1, why: "a spinner of the command line" },
  "src/store/tables/topics.ts": { loops: 1, why: "follows a chain of chats to its end" },
  "src/store/tables/leasing.ts": { loops: 1, why: "a statement inside a transaction" },
  "src/daemon/wiring/watch-permissions.ts": { loops: 3, why: "the command line's own, until Ctrl-C" },
  "src/daemon/commands/telegram-setup.ts": { loops: 2, why: "questions of the command line" },
  "demo/agent-terminal.ts": { loops: 1, why: "another process, which is the demo's" },
}
/** Works on the index's own tables, batch by batch, inside the supervised index loop. */
const COMPUTING = /^src\/search\/(?:words\/|index\/(?!catch-up|core|indexer|reconcile|thread)|brief\/(?!start-context))/

const UNTIL_ABORTED =
  /\bsetInterval\s*\(|(?<![.\w])every\s*\([\w.]+,\s*\(\)\s*=>|\bwhile\s*\([^\n]*aborted|\bfor\s*\([^;\n]*;[^;\n]*aborted/g
/** Endless, and it waits for something: what only computes has an end. */
const ENDLESS = /(?:\bwhile\s*\(\s*(?:true|1)\s*\)|\bfor\s*\(\s*;\s*;)[\s\S]{0,400}?\bawait\b/g

const project = fileURLToPath(new URL("..", import.meta.url))
const files = (await Array.fromAsync(glob(["src/**/*.ts", "demo/**/*.ts"], { cwd: project }))).filter(
  (file) => !file.endsWith(".test.ts") && !COMPUTING.test(file),
)
const counted = (source: string) => [UNTIL_ABORTED, ENDLESS].flatMap((loop) => source.match(loop) ?? []).length

test("no loop runs outside of the supervisor, but for those that end by themselves", () => {
  const tooMany = files.flatMap((file) => {
    const loops = counted(readFileSync(`${project}/${file}`, "utf8"))
    return loops > (allowed[file]?.loops ?? 0) ? [`${file}: ${loops}; run it with superviseLoop`] : []
  })
  expect(tooMany).toEqual([])
})

test("every exception is still there", () => {
  const gone = Object.keys(allowed).filter(
    (file) => !files.includes(file) || counted(readFileSync(`${project}/${file}`, "utf8")) === 0,
  )
  expect(gone).toEqual([])
})

test.each([
  "setInterval(() => void work(), 1_000)",
  "every(LOOK_MS, () => void work())",
  "while (!signal.aborted) {",
  "while (!isOver && !ending.aborted)",
  "while (true) await work()",
  "for (;;) {\n  const next = await queue.take()\n}",
  "for (let round = 0; !signal.aborted; round++)",
])("%s is seen as a loop", (source) => {
  expect(counted(source)).toBe(1)
})
