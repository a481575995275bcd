import { existsSync } from "node:fs"
import { setTimeout as sleep } from "node:timers/promises"
import { makeTmuxRunner } from "../src/adapters/tmux/tmux-shell.ts"
import type { Home } from "../src/daemon/process/home.ts"
import { processStart } from "../src/daemon/process/process-identity.ts"
import { Failure } from "../src/domain/failure.ts"
import type { Call } from "../src/operations/invoke.ts"
import { client } from "../src/surfaces/http/client.ts"

const TEAM = "warehouse"
const SENT = "Count the lamps again before the shop opens: the last count differs by 14."
const DONE_MS = 15_000
const POLL_MS = 100
const END_MS = 3_000

/** Starts a team's mock agent in a terminal of the demo and sends it a message. Returns why it could not start. */
export async function openTerminal(call: Call): Promise<string | undefined> {
  const owner = client(call, { surface: "cli" })
  const trouble = await owner("up", { team: TEAM }).then(
    () => undefined,
    (error: unknown) => Failure.from(error).message,
  )
  const { id } = await owner("send_message", { target: TEAM, message: SENT })
  if (trouble !== undefined) {
    // Where there is no tmux it is not tried again and again.
    await owner("down", { team: TEAM }).catch(() => {})
    return trouble
  }
  for (const endMs = Date.now() + DONE_MS; id !== undefined && Date.now() < endMs; await sleep(POLL_MS))
    if ((await owner("queue.show", { id })).state === "done") break
  return undefined
}

/** Ends whatever runs in the demo's terminals. With its daemon gone nobody starts it again. */
export async function closeTerminals({ tmux }: Home, env: Record<string, string | undefined>): Promise<void> {
  if (!existsSync(tmux)) return
  const run = makeTmuxRunner({ env })
  try {
    const { stdout } = await run(tmux, ["list-panes", "-a", "-F", "#{pane_pid}"])
    const found = stdout.split("\n").flatMap((line) => {
      const [pid, start] = [Number(line), Number(line) > 0 ? processStart(Number(line)) : undefined]
      return start === undefined ? [] : [{ pid, start }]
    })
    await run(tmux, ["kill-server"])
    const left = () => found.filter(({ pid, start }) => processStart(pid) === start)
    for (const endMs = Date.now() + END_MS; left().length > 0 && Date.now() < endMs; ) await sleep(POLL_MS)
    for (const { pid } of left()) process.kill(pid, "SIGKILL")
  } catch (error) {
    // A socket that is left over, and no tmux.
    if (Failure.from(error).code !== "dependency_missing") throw error
  }
}
