// Draws docs/picture.svg from the program's own output: a session's reasoning, a killed daemon, and the way back.
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { makeHome } from "../test/fixtures/daemon.ts"
import { connect } from "../test/fixtures/mcp.ts"

const home = makeHome()
const project = join(home.env.HOME!, "shop")
mkdirSync(project)
const shown: { text: string; kind: "command" | "output" | "note" }[] = []
const note = (text: string) => shown.push({ text, kind: "note" })
const say = (text: string) => {
  for (const line of text.trimEnd().split("\n"))
    shown.push({ text: line.replaceAll(home.env.HOME!, "~"), kind: "output" })
}
const run = async (...args: string[]) => {
  shown.push({ text: `$ throughline ${args.join(" ")}`, kind: "command" })
  say((await home.run(...args)).stdout)
}

try {
  await home.run("start")
  const agent = await connect(home, { cwd: project, env: { CLAUDE_PROJECT_DIR: project } })
  await agent.call("init", { operation: "start_new", title: "Why checkout drops orders" })
  for (const thought of [
    "Orders vanish only when two payments land in the same second.",
    "The worker acknowledges before the row is written: a crash in between loses the order.",
    "Write first, acknowledge after. The key of the payment makes a repeat harmless.",
  ]) {
    await agent.call("thought", { thought, nextThoughtNeeded: true })
  }
  await agent.call("thought", {
    thought: "Or an outbox table, if the queue must stay first.",
    nextThoughtNeeded: true,
    branchId: "outbox",
    branchFromThought: 2,
  })
  await agent.close()
  note("# an agent recorded its reasoning; now everything dies: agent, context, daemon")
  shown.push({ text: "$ kill -9 $(pgrep claude) $(pgrep throughline)", kind: "command" })
  await home.kill()
  note("")
  note('# a new agent in the same project, with no id to remember: init {"operation":"load_context"}')
  const fresh = await connect(home, { cwd: project, env: { CLAUDE_PROJECT_DIR: project } })
  const { content } = await fresh.client.callTool({ name: "init", arguments: { operation: "load_context" } })
  say((content as { text: string }[])[0]!.text)
  await fresh.close()
  note("")
  await run("sessions")
  await run("search", "acknowledge")
} finally {
  await home.dispose()
}
writeFileSync(new URL("../docs/picture.svg", import.meta.url), draw())

function draw(): string {
  const [size, height, left, top] = [13, 19, 18, 52]
  const widest = Math.max(...shown.map(({ text }) => text.length))
  const [width, total] = [Math.ceil(left * 2 + widest * size * 0.602), top + shown.length * height + 14]
  const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;")
  const lines = shown.map(
    ({ text, kind }, index) =>
      `<text class="${kind}" x="${left}" y="${top + index * height}" xml:space="preserve">${escaped(text)}</text>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${total}" viewBox="0 0 ${width} ${total}" role="img" aria-label="Throughline brings an agent's reasoning back after a kill">
<style>
  .frame { fill: #fbfbfa; stroke: #d8d8d4 } .bar { fill: #eeeeea } .dot { fill: #cfcfc9 }
  text { font: ${size}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #2b2b2a }
  .command { font-weight: 600; fill: #0b5f4f } .note { fill: #8a6d1f }
  @media (prefers-color-scheme: dark) {
    .frame { fill: #161817; stroke: #343836 } .bar { fill: #222524 } .dot { fill: #454a48 }
    text { fill: #dcdedb } .command { fill: #6fd6bd } .note { fill: #d9b65c }
  }
</style>
<rect class="frame" x="0.5" y="0.5" width="${width - 1}" height="${total - 1}" rx="9"/>
<path class="bar" d="M1 30V9.5A8.5 8.5 0 0 1 9.5 1h${width - 19}a8.5 8.5 0 0 1 8.5 8.5V30z"/>
${[18, 36, 54].map((x) => `<circle class="dot" cx="${x}" cy="15" r="5"/>`).join("")}
${lines.join("\n")}
</svg>
`
}
