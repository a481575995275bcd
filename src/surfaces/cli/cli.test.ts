import { CommanderError } from "commander"
import { beforeEach, describe, expect, test } from "vitest"
import * as z from "zod"
import { failureText } from "../../daemon/process/fail.ts"
import { Failure } from "../../domain/failure.ts"
import { type Operation, operation } from "../../operations/operation.ts"
import { type CliOptions, cli, grouped } from "./cli.ts"

const garden = operation({
  name: "garden.plant",
  summary: "Plant something",
  effect: "write",
  access: "anyone",
  on: ["cli"],
  positional: ["plant", "place"],
  flags: { place: "at", howMany: "count" },
  isRefusal: ({ planted }) => planted === "nothing",
  forPeople: ({ planted }, { howMany }) => `${howMany} x ${planted}`,
  input: z.strictObject({
    plant: z.string().describe("What to plant"),
    place: z.string().optional().describe("Where"),
    howMany: z.int().default(1).describe("How many"),
    soil: z.enum(["sand", "clay"]).optional().describe("In what"),
    waterIt: z.boolean().default(false).describe("Water it, too"),
    tags: z.array(z.string()).optional().describe("What to call it"),
  }),
  output: z.object({ planted: z.string() }),
  text: () => expect.unreachable("an agent's words, shown to a person"),
  run: async (_, { plant }) => ({ planted: plant }),
})

const fell = operation({
  name: "garden.fell",
  summary: "Fell every tree",
  effect: "destroy",
  access: "anyone",
  on: ["cli"],
  input: z.strictObject({ dryRun: z.boolean().default(false).describe("Only say which") }),
  output: z.object({}),
  text: () => "felled",
  run: async () => ({}),
})

const mow = operation({
  name: "garden.mow",
  summary: "Mow the lawn",
  effect: "destroy",
  access: "anyone",
  on: ["cli"],
  input: z.strictObject({
    where: z.string().optional().describe("Where"),
    dryRun: z.boolean().default(false).describe("Only say how much"),
  }),
  output: z.object({ planted: z.string() }),
  question: ({ planted }, { where }) => `Mow ${planted} at ${where} permanently?`,
  text: () => "mown",
  run: async () => ({ planted: "" }),
})

const look = operation({
  name: "look",
  summary: "Look at the garden",
  effect: "read",
  access: "anyone",
  on: ["cli"],
  command: "garden",
  startsDaemon: false,
  input: z.strictObject({ season: z.string().optional().describe("When") }),
  output: z.object({}),
  text: () => "green",
  run: async () => ({}),
})

const rain = operation({
  name: "rain",
  summary: "Let it rain",
  effect: "write",
  access: "anyone",
  on: ["cli"],
  output: z.object({}),
  text: () => "wet",
  run: async () => ({}),
  input: z.strictObject({ litres: z.number().describe("How much") }),
})

const field = operation({
  name: "field",
  summary: "Look at a field",
  effect: "read",
  access: "anyone",
  on: ["cli"],
  input: z.strictObject({
    root: z.string().optional().describe("Where"),
    platform: z.string().optional().describe("Whose"),
    seed_key: z.string().optional().describe("Which seed"),
  }),
  output: z.object({}),
  text: () => "brown",
  run: async () => ({}),
})

const hidden = operation({ ...fell, name: "garden.hidden", on: ["http"] })

let written: string
let asked: { name: string; input: unknown; how: string }[]
let answers: boolean[]
let refusals: number
let hints: string[]
let refusal: Failure | undefined
beforeEach(() => {
  hints = []
  refusal = undefined
  refusals = 0
  written = ""
  asked = []
  answers = []
})

const asking = (how: string) => async (name: string, input: unknown) => {
  // As it goes over the wire: what is undefined is not sent.
  asked.push({ name, input: JSON.parse(JSON.stringify(input)), how })
  if (refusal) throw refusal
  return { planted: (input as { plant?: string }).plant === "stone" ? "nothing" : "oak" }
}
const options: CliOptions = {
  version: "1.2.3",
  operations: [garden, fell, mow, look, rain, field, hidden] as unknown as Operation[],
  call: asking("starting"),
  callIfRunning: asking("if running"),
  caller: { surface: "cli" },
  write: (text) => {
    written += text
  },
  hint: (text) => void hints.push(text),
  refused() {
    refusals++
  },
  confirm: async (question) => {
    written += `${question}\n`
    return answers.shift() ?? false
  },
}

async function run(...argv: string[]): Promise<void> {
  const program = cli(options)
  quiet(program)
  await program.parseAsync(argv, { from: "user" })
}

/** As the program does it; here for every command, so that none exits the test process. */
function quiet(command: ReturnType<typeof cli>): void {
  command.exitOverride().configureOutput({
    writeOut: (text) => {
      written += text
    },
    writeErr: (text) => {
      written += text
    },
  })
  for (const inner of command.commands) quiet(inner as ReturnType<typeof cli>)
}

describe("an operation becomes a command", () => {
  test("its name the words, its positional inputs the arguments", async () => {
    await run("garden", "plant", "oak", "by the gate")
    expect(asked).toEqual([{ name: "garden.plant", input: { plant: "oak", place: "by the gate" }, how: "starting" }])
    expect(written).toBe("1 x oak\n")
  })

  test("its other inputs the flags: number, choice, yes or no, list", async () => {
    await run("garden", "plant", "oak", "--how-many", "3", "--soil", "clay", "--water-it", "--tags", "old", "tall")
    expect(asked[0]!.input).toEqual({ plant: "oak", howMany: 3, soil: "clay", waterIt: true, tags: ["old", "tall"] })
    expect(written).toBe("3 x oak\n")
  })

  test("an input may have another flag, also what may stand at a position", async () => {
    await run("garden", "plant", "oak", "--at", "the gate", "--count", "2")
    expect(asked[0]!.input).toEqual({ plant: "oak", place: "the gate", howMany: 2 })
  })

  test("an answer that says no is told apart, with --json too", async () => {
    await run("garden", "plant", "oak")
    expect(refusals).toBe(0)
    await run("garden", "plant", "stone")
    await run("garden", "plant", "stone", "--json")
    expect(refusals).toBe(2)
  })

  test("--json prints the answer whole", async () => {
    await run("garden", "plant", "oak", "--json")
    expect(JSON.parse(written)).toEqual({ planted: "oak" })
    expect(asked[0]!.input).toEqual({ plant: "oak" })
  })

  test("under its own words where it names them, beside the commands below them", async () => {
    await run("garden", "--season", "spring")
    await run("garden", "plant", "oak", "--json")
    expect(asked.map(({ name, how }) => [name, how])).toEqual([
      ["look", "if running"],
      ["garden.plant", "starting"],
    ])
  })

  test("its help has the summary, every flag and its default", async () => {
    await expect(run("garden", "plant", "--help")).rejects.toMatchObject({ exitCode: 0 })
    for (const part of [
      "Plant something",
      "--how-many <n>",
      "How many (default 1)",
      '"sand", "clay"',
      "--water-it",
      "--json",
    ])
      expect(written).toContain(part)
  })

  test("not if the command line is none of its surfaces", async () => {
    await expect(run("garden", "--help")).rejects.toMatchObject({ exitCode: 0 })
    expect(written).not.toContain("hidden")
  })
})

describe("flags have one spelling", () => {
  test.each([
    [["--project", "x", "--agent", "codex", "--seed-key", "k"], []],
    [
      ["--root", "x", "--platform", "codex", "--seed_key", "k"],
      ["--root is now --project", "--platform is now --agent", "--seed_key is now --seed-key"],
    ],
  ])("%j", async (argv, expected) => {
    await run("field", ...argv)
    expect(asked[0]!.input).toEqual({ root: "x", platform: "codex", seed_key: "k" })
    expect(hints).toEqual(expected)
  })

  test("help shows only the current one", async () => {
    await expect(run("field", "--help")).rejects.toMatchObject({ exitCode: 0 })
    expect(written.match(/--[a-z][\w-]*/g)).toEqual(["--project", "--agent", "--seed-key", "--json", "--help"])
  })

  test("a refusal names the flag, not the parameter", async () => {
    refusal = new Failure("bad_input", 'root must be a folder, got "x"', { parameter: "root" })
    await expect(run("field", "--project", "x")).rejects.toThrow('--project: must be a folder, got "x"')
    refusal = new Failure("bad_input", 'root: unknown folder "x"', { parameter: "root" })
    await expect(run("field", "--project", "x")).rejects.toThrow('--project: unknown folder "x"')
    refusal = new Failure("bad_input", 'root = "x": must be a folder', { parameter: "root" })
    await expect(run("field", "--project", "x")).rejects.toThrow('root = "x": must be a folder')
  })
})

test("a required input may be at a position or behind a flag of the same name", async () => {
  const input = z.strictObject({ season: z.string() })
  const fence = { ...look, command: "fence", input, positional: ["season"], flags: { season: "season" } }
  for (const argv of [["--season", "spring"], ["autumn"]]) {
    const program = cli({ ...options, operations: [fence] as never })
    quiet(program)
    await program.parseAsync(["fence", ...argv], { from: "user" })
  }
  expect(asked.map((one) => one.input)).toEqual([{ season: "spring" }, { season: "autumn" }])
})

test("the commands of the program are in groups", () => {
  const program = cli({ ...options, operations: [look, { ...look, name: "search", command: "search" }] as never })
  grouped(program)
  expect(program.helpInformation().match(/^(Find|Administer):\n {2}\w+/gm)).toEqual([
    "Find:\n  search",
    "Administer:\n  garden",
  ])
})

describe("what is wrong is refused before anything is asked", () => {
  test.each([
    ["a number that is none", ["garden", "plant", "oak", "--how-many", "three"], '"three" is not a number'],
    ["an empty number", ["garden", "plant", "oak", "--how-many", ""], '"" is not a number'],
    ["a choice that is none", ["garden", "plant", "oak", "--soil", "rock"], "Allowed choices are sand, clay"],
    ["a missing argument", ["garden", "plant"], "missing required argument 'plant'"],
    ["a missing flag that is needed", ["rain"], "required option '--litres <n>'"],
    ["an unknown flag", ["garden", "plant", "oak", "--depth", "3"], "unknown option '--depth'"],
  ])("%s", async (_, argv, message) => {
    await expect(run(...argv)).rejects.toBeInstanceOf(CommanderError)
    expect(written).toContain(message)
    expect(asked).toEqual([])
  })
})

describe("what destroys asks first", () => {
  test("and does nothing unless the answer is yes", async () => {
    answers = [false]
    await run("garden", "fell")
    expect(asked).toEqual([])
    expect(written).toBe("Fell every tree?\n")
  })

  test("and does it on yes", async () => {
    answers = [true]
    await run("garden", "fell")
    expect(asked.map(({ name, input }) => [name, input])).toEqual([["garden.fell", {}]])
  })

  test("and does not ask when it is only to say what would go", async () => {
    await run("garden", "fell", "--dry-run")
    expect(asked).toEqual([{ name: "garden.fell", input: { dryRun: true }, how: "starting" }])
    expect(written).toBe("felled\n")
  })

  test("and says how much will go, which is looked up without doing anything", async () => {
    answers = [false]
    await run("garden", "mow", "--where", "home")
    expect(asked.map(({ name, input }) => [name, input])).toEqual([["garden.mow", { where: "home", dryRun: true }]])
    expect(written).toMatch(/^Mow \w* at home permanently\?\n$/)
  })

  test("and does not ask with --yes", async () => {
    await run("garden", "fell", "--yes")
    expect(asked).toHaveLength(1)
    expect(written).toBe("felled\n")
  })
})

test("a failure is a sentence and what to do, or JSON for scripts", () => {
  const failure = new Failure("session_not_found", "Session abc not found", { sessionId: "abc" })
  expect(failureText(failure, false)).toBe(`Session abc not found\n${failure.kind.help}\n`)
  expect(JSON.parse(failureText(failure, true))).toEqual({
    error: {
      code: "session_not_found",
      message: "Session abc not found",
      help: failure.kind.help,
      data: { sessionId: "abc" },
    },
  })
})
