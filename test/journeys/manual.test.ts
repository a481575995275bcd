import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { documents, missingIn, namedCommands, shownCommands } from "../fixtures/manual.ts"
import { makeReader, type Reader } from "../fixtures/reader.ts"

const SLOW_MS = 240_000
const SOON = { timeout: 60_000, interval: 50 }

/** What the test run itself begins with; nothing else that the manual shows is left out. */
const LEFT_OUT = ["npm ci && npm start", "npm ci && npm test"]

/** These begin on a machine where Throughline has not been started. */
const FROM_THE_START = ["README.md", "docs/first-minutes.md"]

interface Way {
  /** What is typed instead, where the manual leaves a gap. */
  as?: string
  /** Typed behind it, to see what it did. */
  proof?: string
  /** What is printed. */
  says?: RegExp
  /** It is typed into a terminal; to what it asks, this is pressed. */
  asks?: readonly [question: RegExp, ...keys: string[]][]
  code?: number
}

const OWN_TOOLS: [RegExp, ...string[]] = [/own tools without asking each time\? \[y\/N\]/, "n", "Enter"]

/** How single commands are to be typed, or what they are to say; any other just has to do its work and say something. */
const WAYS: Record<string, Way> = {
  "throughline start": { says: /Throughline \S+ (started|is already running)/ },
  "throughline stop": { says: /stopped/ },
  "throughline start --demo": { says: /Demo ready/ },
  "throughline stop --demo": { says: /Demo removed/ },
  'throughline search "why did we drop redis" --limit 3 --demo': { says: /Why did we drop Redis\?/ },
  "throughline resume checkout timeout --demo": { says: /claude --resume/ },
  "throughline sessions live --demo": { says: /waiting \(permission\)/ },
  "throughline permissions --demo": { says: /permissions answer/ },
  'throughline ask payments "where does a refund of a gift card go?" --demo': { says: /how the order was paid/ },
  "throughline dashboard --demo": { says: /http:\/\/127\.0\.0\.1:\d+\S*#token=/ },
  "throughline setup": {
    asks: [[/Set them up\? \[y\/N\]/, "y", "Enter"], OWN_TOOLS],
    says: /Undo: throughline unsetup claude-code|All installed agents are set up/,
  },
  "throughline doctor": { says: /^All good\.$/m },
  "throughline sessions": { says: / api [\s\S]*Why did we drop Redis\?/ },
  "throughline sessions show 58d24618": { says: /Resume: .*claude --resume[\s\S]*Join the users instead/ },
  "throughline sessions export 58d24618 --format json": { says: /^\{[\s\S]*Join the users instead[\s\S]*\}$/ },
  'throughline search "outbox table"': { says: /^\S+ .* api {2}The retry queue/ },
  "throughline search": {
    asks: [[/esc quit[\s\S]*The retry queue|The retry queue[\s\S]*esc quit/, "Escape"]],
  },
  "throughline search retry queue": { says: /^\S+ .* api {2}The retry queue/ },
  "throughline search '\"retry queue\" -redis'": { says: /The retry queue/ },
  "throughline search 'conf* timeout' --agent codex --since 2026-10-01": {
    says: /codex {2}api {2}Where the timeout is configured/,
  },
  "throughline search getUserById --role assistant --open 2": { says: /getUserById/ },
  "throughline resume outbox": { says: /claude --resume/ },
  "throughline resume outbox table": { says: /claude --resume/ },
  "throughline resume 58d24618 --run": {
    as: "throughline resume 58d24618 --run 2>&1",
    proof: "tail -1 ~/claude.log",
    says: /^cd .*\/api && claude --resume (\S+)\n--resume \1$/,
  },
  "throughline handoff 58d24618 --to codex": { says: /codex resume/ },
  "throughline handoff 58d24618 --to claude-code --max-tokens 30000": { says: /claude --resume/ },
  "throughline sources": { says: /Claude Code +\d+ / },
  "throughline sources trust ~/code/shop": { as: "mkdir -p ~/code/shop && throughline sources trust ~/code/shop" },
  'throughline forget --containing "text"': { asks: [[/\? \[y\/N\]/, "y", "Enter"]], says: /Deleted \d/ },
  'throughline forget --containing "Project Nightfall" --dry-run': { says: /Would delete \d+ sessions?, 1 message/ },
  'throughline forget --containing "Project Nightfall" --yes': { says: /Deleted \d+ sessions?, 1 message/ },
  "throughline send <team or id> <message>": { as: 'throughline send homelab "fix the DNS"', says: /homelab/ },
  "throughline teams": { says: /homelab +claude-code/ },
  "throughline teams add web --project ~/web --when-away resume": { says: /web works in / },
  "throughline queue": { says: /homelab/ },
  "throughline teams import teams.json": { says: /1 added \(mobile\)/ },
  "throughline teams remove web": { asks: [[/\? \[y\/N\]/, "y", "Enter"]] },
  "throughline teams threads": { says: /api +main/ },
  "throughline teams status": { says: /api +claude-code +1/ },
  "throughline up homelab": { says: /supervised/ },
  'throughline ask homelab "Is DNS up?"': { says: /mock agent/ },
  'throughline ask api "Which endpoint lists invoices?"': { says: /mock agent/ },
  "throughline telegram setup": { asks: [[/^Token: *$/m, "C-c"]], says: /cancelled/, code: 2 },
  "throughline service install": {
    asks: [[/Write it and start it\? \[y\/N\]/, "y", "Enter"]],
    says: /The daemon is running/,
  },
  "throughline setup claude-code": { asks: [[/\? \[y\/N\]/, "y", "Enter"], OWN_TOOLS] },
  "throughline setup claude-code --allow-tools": { asks: [[/\? \[y\/N\]/, "y", "Enter"]] },
  "throughline unsetup claude-code": { asks: [[/\? \[y\/N\]/, "y", "Enter"]] },
  "mkdir -p .throughline/conversations": { proof: "ls -d .throughline/conversations" },
  'echo \'{"type":"exchange","timestamp":"2026-01-31T12:00:00Z","user":"Which queue?","ai":"Redis.","session_id":"abc"}\' >> .throughline/conversations/current-session.jsonl':
    {
      proof: "throughline import >/dev/null && throughline sessions show abc",
      says: /Which queue\?[\s\S]*Redis\./,
    },
  'tar -czf throughline-backup.tgz -C "$HOME" .throughline': {
    proof: "tar -tzf throughline-backup.tgz",
    says: /^\.throughline\/throughline\.db$/m,
  },
  "source <(throughline completion bash)": { proof: "complete -p throughline", says: /-F _throughline throughline/ },
  // Not every machine has these shells; what they would read is made in any case.
  "source <(throughline completion zsh)": { as: "throughline completion zsh", says: /^#compdef throughline/ },
  "throughline completion fish | source": { as: "throughline completion fish", says: /complete -c throughline/ },
}
/** Where the same command means something else. */
const HERE: Record<string, Way> = {
  "docs/troubleshooting.md throughline doctor": { says: /^First: throughline setup$/m },
  "docs/hooks.md throughline setup": { says: /claude-code +Claude Code +yes +not set up/ },
}

const shown = documents.flatMap(shownCommands)
const wayOf = ({ document, command }: (typeof shown)[number]): Way =>
  HERE[`${document} ${command}`] ?? WAYS[command] ?? {}

test("only the common set-up is left out, and no step is missing from the manual", () => {
  expect(shown.length).toBeGreaterThan(50)
  expect(shown.map(({ command }) => command).filter((command) => /\bnpm\b/.test(command))).toEqual(LEFT_OUT)
  const all = new Set(shown.flatMap(({ document, command }) => [command, `${document} ${command}`]))
  expect(Object.keys({ ...WAYS, ...HERE }).filter((key) => !all.has(key))).toEqual([])
})

describe.each(documents.filter((document) => shownCommands(document).length > 0))("%s", (document) => {
  let reader: Reader
  beforeAll(async () => {
    reader = makeReader()
    if (!FROM_THE_START.includes(document)) await reader.types("throughline start && throughline import")
  })
  afterAll(() => reader.leaves())

  const lines = shownCommands(document).filter(({ command }) => !LEFT_OUT.includes(command))
  test.each(lines)("line $line: $command", { timeout: SLOW_MS }, async (line) => {
    const { as = line.command, proof, says = /\S/, asks, code = 0 } = wayOf(line)
    const typed = /\b58d24618\b/.test(as) ? as.replace("58d24618", await reader.sessionId()) : as
    if (asks) return answered(reader, typed, { asks, says, code })
    const answer = await reader.types(proof === undefined ? typed : `${typed} && ${proof}`)
    expect({ ...answer, stdout: "" }, answer.stdout).toEqual({ code, stdout: "", stderr: "" })
    expect(answer.stdout.trimEnd()).toMatch(says)
  })
})

/** Types it into a terminal and answers what it asks, each question once. */
async function answered(
  reader: Reader,
  typed: string,
  { asks, says, code }: Required<Pick<Way, "asks" | "says" | "code">>,
): Promise<void> {
  const terminal = reader.terminal()
  const screen = () => terminal.lines().join("\n")
  const isBack = () => /^[$#]$/.test(terminal.lines().at(-1) ?? "") && terminal.lines().length > 1
  terminal.run(typed)
  for (const [question, ...keys] of asks) {
    await expect.poll(() => question.test(screen()) || isBack(), SOON).toBe(true)
    if (!isBack()) terminal.key(...keys)
  }
  await expect.poll(screen, SOON).toMatch(says)
  expect(await terminal.exitCode(), screen()).toBe(code)
}

test("every command that a sentence names is there, with the options it is named with", {
  timeout: SLOW_MS,
}, async () => {
  const named = documents.flatMap(namedCommands)
  expect(named.length).toBeGreaterThan(80)
  // The agents' hooks run it; it is no command for people.
  const ours = [...named, ...shown].filter(({ command }) => /^throughline (?!hook )/.test(command))
  const wrong = ours.map(async ({ document, line, command }) => {
    const missing = await missingIn(command)
    return missing === undefined ? [] : [`${document}:${line}: ${missing}`]
  })
  expect((await Promise.all(wrong)).flat()).toEqual([])
})
