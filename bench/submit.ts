// The real Claude Code, idle in tmux: how long from `send` until it has the message, says so, and its reply is news?
import { setTimeout as sleep } from "node:timers/promises"
import { CLAUDES } from "../test/fixtures/agents.ts"
import { startClaude } from "../test/fixtures/claude-terminal.ts"
import { anthropicMessages, startModelApi, text } from "../test/fixtures/model-api.ts"
import { makeQueueHome } from "../test/fixtures/queue.ts"
import { type Row, report, summarize } from "./lib.ts"

const count = Number(process.argv[2] ?? 20)
const MAX_MS = 1_500
const PATIENCE_MS = 30_000

interface Update {
  type: string
  message_id?: string
  content: string
}

const rows: Row[] = []
const details: Record<string, unknown> = {}
for (const { name, version } of CLAUDES) {
  const model = await startModelApi(anthropicMessages)
  const q = await makeQueueHome(["web"])
  const claude = await startClaude(q, { which: name, team: "web", modelUrl: model.url })
  try {
    model.script(() => [text("Counted.")])
    const [submitted, replied]: [number[], number[]] = [[], []]
    let missing = 0
    for (let n = 0; n < count; n++) {
      while ((await claude.live())?.status !== "idle") await sleep(20)
      const sentAtMs = Date.now()
      const { id } = await q.send("web", `count stone ${n}`)
      let since: string | undefined
      const isReplied = async () => {
        const page = await q.call<{ updates: Update[]; next_since: string }>("pull_updates", {
          target: "web",
          ...(since === undefined ? {} : { since }),
        })
        since = page.next_since
        return page.updates.some(({ type, message_id }) => type === "reply" && message_id === id)
      }
      const until = sentAtMs + PATIENCE_MS
      while (Date.now() < until && !q.states(id!).includes("delivered")) await sleep(5)
      submitted.push(Date.now() - sentAtMs)
      while (Date.now() < until && !(await isReplied())) await sleep(20)
      replied.push(Date.now() - sentAtMs)
      while (Date.now() < until && (await q.show(id!)).state !== "done") await sleep(20)
      if (q.states(id!).join() !== "queued,delivered,seen,running,done") missing++
    }
    const [submit, reply] = [summarize(submitted), summarize(replied)]
    rows.push(
      { what: `${version}: submitted, ms p50`, value: submit.p50 },
      { what: `${version}: submitted, ms p95`, value: submit.p95, bar: `≤ ${MAX_MS}`, holds: submit.p95 <= MAX_MS },
      { what: `${version}: reply is news, ms p50`, value: reply.p50 },
      { what: `${version}: reply is news, ms p95`, value: reply.p95 },
      { what: `${version}: without all states`, value: missing, bar: "0", holds: missing === 0 },
    )
    details[version] = { submitted, replied }
  } finally {
    await claude.end()
    await model.close()
    await q.dispose()
  }
}
report("submit", rows, { count, ...details })
