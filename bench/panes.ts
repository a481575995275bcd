import { parseArgs } from "node:util"
import { claudeCode } from "../src/agents/claude-code/console.ts"
import { consoles } from "../src/agents/list.ts"
import { promptHash } from "../src/domain/ids.ts"
import { makePaster } from "../src/queue/paste.ts"
import { type FakeAgent, makeFakeAgents } from "../test/fixtures/fake-agents.ts"
import { hostileTexts } from "../test/fixtures/hostile-texts.ts"
import { interleave } from "../test/fixtures/interleave.ts"
import { makeRandom } from "./corpus/random.ts"

/**
 * Hostile texts through real tmux into fake agents, and texts for eight agents in two servers.
 * `--part hostile --texts 500`, `--part shell --texts 500`, `--part panes --messages 400`, `--part fuzz --texts 10000`.
 */
const { values } = parseArgs({
  options: {
    part: { type: "string", default: "hostile" },
    texts: { type: "string", default: "500" },
    messages: { type: "string", default: "400" },
    seed: { type: "string", default: "1" },
  },
})
const random = makeRandom(Number(values.seed))
const texts = hostileTexts(random, Number(values.texts))
const agents = makeFakeAgents()
const paster = makePaster({ panes: agents.panes, consoles })
const request = (agent: FakeAgent, text: string) => ({
  platform: "claude-code",
  pane: agent.pane,
  text,
  isAgentThere: agent.isThere,
})

/** Several agents share the texts, so that the machine and not the waiting decides how long it takes. */
async function hostile(count: number) {
  const found = { submitted: 0, refused: 0, putOff: 0, wrong: 0, violations: 0, pasteToEnterMs: [] as number[] }
  const work = async (index: number) => {
    let agent = await agents.start({ name: `agent-${index}` })
    let sent = 0
    const violationsOf = (one: FakeAgent) =>
      one.log().filter(({ kind }) => !["started", "prompt", "turn"].includes(kind)).length
    for (const text of texts.filter((_, at) => at % count === index)) {
      const ready = claudeCode.prepare(text, { isCommand: false })
      const began = performance.now()
      let result = await paster.submit(request(agent, text))
      // Nothing was written: the dispatcher comes again too.
      for (let left = 20; result.kind === "later" && left > 0; left--)
        result = await paster.submit(request(agent, text))
      found.pasteToEnterMs.push(performance.now() - began)
      if ("refused" in ready) {
        if (result.kind === "refused") found.refused++
        else found.wrong++
        continue
      }
      if (result.kind === "later") {
        // Its drawing went astray over the text before, and nobody types into a screen that shows no input line.
        found.putOff++
        found.violations += violationsOf(agent)
        agent = await agents.start({ name: `agent-${index}-${found.putOff}` })
        sent = 0
        continue
      }
      if (result.kind !== "submitted") {
        found.wrong++
        console.log("not submitted:", JSON.stringify(text).slice(0, 300), JSON.stringify(result).slice(0, 300))
        console.log((await agents.panes.look(agent.pane))?.lines.slice(-14).join("\n"))
        break
      }
      sent++
      const prompts = (await agent.until((all) => all.filter(({ kind }) => kind === "prompt").length >= sent)).filter(
        ({ kind }) => kind === "prompt",
      )
      const last = prompts.at(-1)!
      const isExact = Buffer.from(last.pasted!, "base64").toString("utf8") === ready.text
      const isOne = prompts.length === sent && promptHash(last.text) === promptHash(ready.text)
      if (isExact && isOne) found.submitted++
      else {
        found.wrong++
        console.log("wrong:", JSON.stringify(text).slice(0, 200), result.kind)
      }
      while (agent.registry()?.status !== "idle") await new Promise((resolve) => setTimeout(resolve, 5))
    }
    found.violations += violationsOf(agent)
  }
  await Promise.all(Array.from({ length: count }, (_, index) => work(index)))
  const sorted = found.pasteToEnterMs.toSorted((a, b) => a - b)
  const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)]!)
  return { ...found, pasteToEnterMs: { p50: at(0.5), p95: at(0.95), max: Math.round(sorted.at(-1)!) } }
}

/** The agent has ended, and a shell is in its pane. */
async function shell() {
  const agent = await agents.start({ name: "left", inShell: true })
  await paster.submit(request(agent, "EXIT"))
  while (agent.isThere()) await new Promise((resolve) => setTimeout(resolve, 20))
  await new Promise((resolve) => setTimeout(resolve, 300))
  const screen = async () => (await agents.panes.look(agent.pane))!.lines.join("\n").trim()
  const before = await screen()
  const found: Record<string, number> = {}
  for (const text of texts) {
    const { kind } = await paster.submit(request(agent, text))
    found[kind] = (found[kind] ?? 0) + 1
  }
  return { ...found, screenChanged: (await screen()) !== before }
}

const began = performance.now()
try {
  const parts: Record<string, () => Promise<unknown>> = {
    hostile: () => hostile(2),
    fuzz: () => hostile(4),
    shell,
    panes: () => interleave({ agents, messages: Number(values.messages), random }),
  }
  const found = await parts[values.part]!()
  console.log(values.part, JSON.stringify(found), `${Math.round((performance.now() - began) / 1_000)} s`)
} finally {
  agents.end()
}
