// What a hook adds to an agent's turn, against a Node that does nothing, interleaved in the same run.
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { BIN, makeHome, type TestHome } from "../test/fixtures/daemon.ts"
import { type Row, report, round, summarize, timed } from "./lib.ts"

const RUNS = Number(process.argv[2] ?? 200)

const [up, down] = [makeHome(), makeHome()]
for (const home of [up, down]) await home.json("setup", "claude-code", "--yes")
await up.run("start")

const payload = (bytes: number) =>
  JSON.stringify({
    session_id: "bench",
    transcript_path: "/nowhere/bench.jsonl",
    cwd: "/",
    hook_event_name: "PostToolUse",
    tool_name: "Bash",
    tool_response: "x".repeat(bytes),
  })
const [usual, large] = [payload(2_000), payload(3_000_000)]

const ways: Record<string, { run(): Promise<void>; bar?: number; share?: number }> = {
  "node -e 0": { run: () => child(up, process.execPath, ["-e", "0"], "") },
  "hook.sh, daemon up": { run: () => child(up, "/bin/sh", ["-c", commandOf(up)], usual), bar: 1.5 },
  "hook.sh, daemon down": { run: () => child(down, "/bin/sh", ["-c", commandOf(down)], usual), bar: 1.5 },
  "hook.sh, daemon up, 3 MB": { run: () => child(up, "/bin/sh", ["-c", commandOf(up)], large), share: 0.1 },
  "throughline hook (Node)": {
    run: () => child(up, process.execPath, [BIN, "hook", "claude-code"], usual),
    share: 0.25,
  },
}
const times: Record<string, number[]> = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))

try {
  for (const { run } of Object.values(ways)) for (let i = 0; i < 5; i++) await run()
  for (let round = 0; round < RUNS; round++) {
    for (const [name, { run, share = 1 }] of Object.entries(ways))
      if (round % Math.round(1 / share) === 0) times[name]!.push(await timed(run))
  }
} finally {
  await up.dispose()
  await down.dispose()
}

const results = Object.fromEntries(Object.entries(times).map(([name, values]) => [name, summarize(values)]))
const floor = results["node -e 0"]!
const rows = Object.entries(results).flatMap(([name, { p50, p95 }]): Row[] => {
  const ratio = round(p95 / floor.p95, 2)
  const bar = ways[name]!.bar
  return [
    { what: `${name} p50 / p95 ms`, value: `${round(p50, 1)} / ${round(p95, 1)}` },
    ...(bar === undefined
      ? []
      : [{ what: `${name} p95 / node -e 0 p95`, value: ratio, bar: `≤ ${bar}`, holds: ratio <= bar }]),
  ]
})
report("hooks", rows, { runs: RUNS, ...results })

/** As the agent would run it. */
function commandOf(home: TestHome): string {
  const settings = JSON.parse(readFileSync(join(home.env.HOME!, ".claude", "settings.json"), "utf8")) as {
    hooks: { PostToolUse: { hooks: { command: string }[] }[] }
  }
  return settings.hooks.PostToolUse[0]!.hooks[0]!.command
}

async function child({ env }: TestHome, command: string, args: string[], input: string): Promise<void> {
  const started = spawn(command, args, { env, stdio: ["pipe", "ignore", "ignore"] })
  started.stdin.on("error", () => {})
  started.stdin.end(input)
  const [code] = (await once(started, "exit")) as [number]
  if (code !== 0) throw new Error(`${command} ended with ${code}`)
}
