import { join } from "node:path"
import { writeSpool } from "../src/capture/read/spool.ts"
import { hookHeaders } from "../src/domain/hook.ts"
import type { DemoPlace } from "./place.ts"
import { allStories } from "./stories.ts"
import { idOf } from "./story.ts"

const [BEFORE, AFTER] = ["packing-slip", "wrapped-weight"]

/** What the hooks of a session said that was cleared in the middle of its task, and of the one that came after it. */
export async function tellRestart({ homeDir, userDir }: DemoPlace, nowMs: number): Promise<void> {
  const { startMs, project } = allStories(nowMs).find(({ name }) => name === AFTER)!
  const said = [
    { name: BEFORE, agoMs: 5_000, event: "SessionStart", source: "resume" },
    { name: BEFORE, agoMs: 2_000, event: "SessionEnd", reason: "clear" },
    { name: AFTER, agoMs: 1_000, event: "SessionStart", source: "clear" },
  ]
  for (const { name, agoMs, event, ...how } of said) {
    const atNs = BigInt(startMs - agoMs) * 1_000_000n
    const cwd = join(userDir, project)
    const body = JSON.stringify({ hook_event_name: event, session_id: idOf("claude-code", name), cwd, ...how })
    const headers = hookHeaders({ key: `demo-${name}-${event}`, atNs, env: {} })
    await writeSpool(join(homeDir, "spool"), { platform: "claude-code", headers, body, atNs })
  }
}
