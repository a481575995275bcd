import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Caller } from "../src/domain/caller.ts"
import type { Call } from "../src/operations/invoke.ts"
import { client } from "../src/surfaces/http/client.ts"
import type { DemoPlace } from "./place.ts"
import { tellRestart } from "./restart.ts"
import { idOf } from "./story.ts"
import { openTerminal } from "./terminal.ts"

const OWNER: Caller = { surface: "cli" }
const ANSWER_MS = 30_000
const POLL_MS = 50

export interface Seeded {
  /** Why no agent runs in a terminal, where none does. */
  noTerminal: string | undefined
}

/** What agents and people did by asking the program itself: asked through the same operations, at this moment. */
export async function seed(call: Call, place: DemoPlace, nowMs: number): Promise<Seeded> {
  const owner = client(call, OWNER)
  const terminal = openTerminal(call)
  const storefront = join(place.userDir, "storefront")
  await thoughts(call, storefront)
  await client(call, agentOf("packing-slip", storefront))("task_state", {
    operation: "save",
    current_task: "Packing slip shows the gift wrap",
    current_task_id: "SHOP-212",
    last_completed_step: "WRAP stands behind the items; tests pass",
  })

  // After the task was saved, so that the restart notice has it.
  await tellRestart(place, nowMs)

  const ask = (fromTeam: string, team: string, question: string, timeout = ANSWER_MS) =>
    owner("teams_ask", { team, question, fromTeam, timeout })
  const refund = "A customer returns an item that was half paid with a gift card. Where does the refund go?"
  await Promise.all([
    ask("storefront", "payments", refund).then(() =>
      ask("storefront", "payments", "And does your rate limit still need Redis?"),
    ),
    ask("payments", "storefront", "Does your admin page still call the old refund endpoint?"),
    ask("warehouse", "storefront", "Does the gift wrap on the slip matter for a parcel's weight?"),
    refused(call)
      .then(() => ask("storefront", "infra", "Please deploy the alarm for swept checkouts.", 0))
      .then(() => waiting(call)),
  ])

  await owner("teams_notify", {
    toTeam: "warehouse",
    fromTeam: "infra",
    message:
      "Redis is switched off at the end of the week. Packing slips need a queue in Postgres: skip locked will do.",
  })
  const send = (target: string, message: string) => owner("send_message", { target, message })
  await send("storefront", "Leave the coupon code of the summer sale in until Sunday.")
  await send("storefront", "URGENT The banner still says Friday.")
  const { id } = await send("payments", "Send me the refund report of last month.")
  if (id !== undefined) await owner("queue.cancel", { id })
  return { noTerminal: await terminal }
}

const agentOf = (story: string, projectDir: string): Caller => ({
  surface: "mcp",
  nativeSession: { platform: "claude-code", id: idOf("claude-code", story) },
  key: `claude-code:${idOf("claude-code", story)}`,
  projectDir,
  cwd: projectDir,
})

/** Steps of reasoning with a branch, for `init load_context` and `sessions show` to bring back. */
async function thoughts(call: Call, projectDir: string): Promise<void> {
  const agent = client(call, agentOf("checkout-again", projectDir))
  await agent("init", { operation: "start_new", title: "Where an order is lost between charge and confirm" })
  const line = [
    "An order that was charged and not confirmed exists at the provider only: our row still says reserved.",
    "The charge carries the order's id as its idempotency key, so asking the provider again is harmless.",
    "A sweeper can look at orders that are reserved for more than two minutes, ask the provider, then confirm or release.",
    "Two sweepers at once must not both release: take the row with skip locked.",
  ]
  for (const thought of line) await agent("thought", { thought, nextThoughtNeeded: true })
  const branch = { nextThoughtNeeded: true, branchId: "outbox", branchFromThought: 2 }
  await agent("thought", { ...branch, thought: "Or an outbox: confirm writes an event in the same transaction." })
  await agent("thought", {
    ...branch,
    thought: "It does not help when the provider's answer is lost, so the sweeper is needed all the same. Dropped.",
  })
  await agent("thought", {
    thought: "The sweeper it is, with a metric: checkout_swept_total. More than five in ten minutes is an alarm.",
    nextThoughtNeeded: false,
  })
}

/** A command that somebody asked for in the middle of a sale, and that was denied. */
async function refused(call: Call): Promise<void> {
  const owner = client(call, OWNER)
  const asked = owner("teams_ask", {
    team: "infra",
    question: "Deploy the alerts to production now.",
    fromTeam: "payments",
    timeout: ANSWER_MS,
  })
  const id = await waiting(call)
  if (id !== undefined)
    await owner("permissions.answer", { id, answer: "deny", reason: "not during the sale; tonight after ten" })
  await asked
}

async function waiting(call: Call): Promise<string | undefined> {
  for (const endMs = Date.now() + ANSWER_MS; Date.now() < endMs; await sleep(POLL_MS)) {
    const { permissions } = await client(call, OWNER)("permissions.list", {})
    if (permissions[0]) return permissions[0].id
  }
  return undefined
}
