// How long a brief takes in a project of 200 sessions, at common budgets.
//   node bench/brief.ts
import { mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ProjectId, SessionId } from "../src/domain/ids.ts"
import type { Store } from "../src/domain/store.ts"
import { type Find, makeBriefs } from "../src/search/brief/brief.ts"
import { sqlite } from "../src/store/dialects/sqlite.ts"
import { openStore } from "../src/store/open.ts"
import { keepConversation, type Spoken } from "../test/fixtures/conversation.ts"
import { realTokens } from "../test/fixtures/tokens.ts"
import { makeRandom } from "./corpus/random.ts"
import { makeTexts } from "./corpus/text.ts"
import { type Row, report, round, summarize, timed } from "./lib.ts"

const SESSIONS = 200
const RUNS = 40
const BAR_MS = 150
const START = Date.parse("2026-01-01T00:00:00Z")
const random = makeRandom(11)
const texts = makeTexts(random)

const dir = mkdtempSync(join(tmpdir(), "bench-brief-"))
const path = join(dir, "throughline.db")
try {
  const store = await openStore(sqlite({ path }))
  const projectId = (await store.projects.ensure("file:///w/app", START)).id
  const { turns, newest } = await fillProject(store, projectId)
  const sizeMb = Math.round(statSync(path).size / 1e6)
  const outline = await store.turns.outline(newest)
  const find: Find = async (_, __, limit) =>
    Array.from({ length: limit }, () => ({ exchange: random.pick(outline).seq, sessionId: newest, score: 1 }))
  const tokens = realTokens(dir)
  const briefs = makeBriefs({ store, tokens, find, labelOf: (platform) => platform })

  const rows: Row[] = [
    { what: "turns", value: turns },
    { what: "database, MB", value: sizeMb },
    { what: "first brief, ms", value: round(await timed(() => briefs.make({ projectId, maxTokens: 2000 })), 1) },
  ]
  for (const maxTokens of [500, 2000, 8000]) {
    const times: number[] = []
    let most = 0
    for (let run = 0; run < RUNS; run++) {
      const make = () => briefs.make({ projectId, maxTokens, query: "why is that so" })
      times.push(await timed(async () => (most = Math.max(most, (await make())!.tokensUsed))))
    }
    const { p50, p99 } = summarize(times)
    rows.push(
      { what: `brief of ${maxTokens} tokens, p50 ms`, value: p50 },
      { what: `brief of ${maxTokens} tokens, p99 ms`, value: p99, bar: `<= ${BAR_MS}`, holds: p99 <= BAR_MS },
      {
        what: `brief of ${maxTokens} tokens, most tokens`,
        value: most,
        bar: `<= ${maxTokens}`,
        holds: most <= maxTokens,
      },
    )
  }
  report("brief", rows)
  await store.close()
} finally {
  rmSync(dir, { recursive: true, force: true })
}

/** Most sessions are short; every tenth has thousands of turns, and so does the newest. */
async function fillProject(store: Store, projectId: ProjectId): Promise<{ turns: number; newest: SessionId }> {
  let turns = 0
  let newest: SessionId | undefined
  for (let index = 0; index < SESSIONS; index++) {
    const exchanges = index % 10 === 9 ? 150 : random.size(8)
    const spoken = Array.from({ length: exchanges }, exchange).flat()
    const startMs = START + index * 86_400_000
    const of = { projectId, startMs, title: texts.title(), projectPath: "/w/app" }
    newest = (await store.transaction((tx) => keepConversation(tx, of, spoken))).id
    turns += spoken.length
  }
  return { turns, newest: newest! }
}

function exchange(): Spoken[] {
  const calls = Array.from({ length: random.size(6) }, (): Spoken[] => {
    const toolCallId = random.hex(12)
    const path = `/w/app/${texts.path()}`
    const [toolName, input] = random.pick([
      ["Edit", { file_path: path, old_string: texts.code(300), new_string: texts.code(300) }],
      ["Write", { file_path: path, content: texts.code(random.size(3000)) }],
      ["Bash", { command: `npm test ${path}` }],
    ])
    return [
      ["tool_call", JSON.stringify(input), { toolName, toolCallId }],
      ["tool_result", texts.output(random.size(2500)), { toolCallId, isError: random.chance(0.05) }],
    ]
  })
  return [["prompt", texts.prose(random.size(300))], ...calls.flat(), ["reply", texts.prose(random.size(900))]]
}
