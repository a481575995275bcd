import { describe, expect, test } from "vitest"
import * as z from "zod"
import { proves } from "../../test/promises.ts"
import type { Caller } from "../domain/caller.ts"
import type { Failure } from "../domain/failure.ts"
import { local } from "./invoke.ts"
import { type Operation, operation } from "./operation.ts"
import type { Services } from "./services.ts"

const everything = operation({
  name: "test.everything",
  summary: "Takes every kind of input",
  effect: "read",
  access: "anyone",
  on: ["http"],
  input: z.strictObject({
    text: z.string().min(1).max(100),
    kind: z.enum(["red", "green"]).optional(),
    count: z.int().min(1).max(5000).optional(),
    ratio: z.number().max(1).optional(),
    flag: z.boolean().optional(),
    tags: z.array(z.string().max(3)).max(2).optional(),
    url: z
      .string()
      .regex(/^https:/, "Must begin with https:")
      .optional(),
  }),
  output: z.object({ echoed: z.string(), flag: z.boolean().default(false) }),
  text: ({ echoed }) => echoed,
  run: async (_, { text, flag }) => ({ echoed: text, ...(flag === undefined ? {} : { flag }) }),
})

const wrong = operation({
  name: "test.wrong",
  summary: "Answers in a shape that it did not announce",
  effect: "read",
  access: "anyone",
  on: ["http"],
  input: z.strictObject({}),
  output: z.object({ count: z.number() }),
  text: () => "",
  run: async () => ({ count: "three" }) as never,
})

// Neither operation asks anything of the modules.
const call = local([everything, wrong] as unknown as Operation[], {} as Services)
const ask = (input: unknown, name = "test.everything") => call(name, input, { surface: "local" })
const refused = (input: unknown, name?: string): Promise<Failure> =>
  ask(input, name).then(
    (answer) => Promise.reject(new Error(`answered ${JSON.stringify(answer)}`)),
    (failure: Failure) => failure,
  )

describe(proves("bad-input.named"), () => {
  test.each<[name: string, input: unknown, message: string, parameter: string]>([
    ["missing", {}, "text is missing (must be a string)", "text"],
    ["of another type", { text: 5 }, "text must be a string, got 5", "text"],
    ["null", { text: null }, "text must be a string, got null", "text"],
    ["too short", { text: "" }, 'text must be at least 1 character, got ""', "text"],
    ["not among the choices", { text: "x", kind: "blue" }, 'kind must be one of red, green, got "blue"', "kind"],
    ["not whole", { text: "x", count: 1.5 }, "count must be a whole number, got 1.5", "count"],
    ["no number", { text: "x", count: "2" }, 'count must be a number, got "2"', "count"],
    ["too small", { text: "x", count: 0 }, "count must be at least 1, got 0", "count"],
    ["too big", { text: "x", count: 6000 }, "count must be at most 5,000, got 6000", "count"],
    ["too big a fraction", { text: "x", ratio: 1.5 }, "ratio must be at most 1, got 1.5", "ratio"],
    ["not a yes or no", { text: "x", flag: "yes" }, 'flag must be a boolean, got "yes"', "flag"],
    ["no list", { text: "x", tags: "a" }, 'tags must be an array, got "a"', "tags"],
    [
      "too long a list",
      { text: "x", tags: ["a", "b", "c"] },
      'tags must be at most 2 items, got ["a","b","c"]',
      "tags",
    ],
    ["wrong inside a list", { text: "x", tags: ["a", 2] }, "tags.1 must be a string, got 2", "tags.1"],
    ["of a wrong form", { text: "x", url: "ftp:" }, 'url must begin with https:, got "ftp:"', "url"],
    [
      "unknown",
      { text: "x", txt: 1 },
      'unknown parameter "txt" (known: text, kind, count, ratio, flag, tags, url)',
      "txt",
    ],
    ["no object", [1], "the input must be an object, got [1]", ""],
    ["a bare text", "x", 'the input must be an object, got "x"', ""],
  ])("one that is %s", async (_, input, message, parameter) => {
    expect(await refused(input)).toMatchObject({ code: "bad_input", message, data: { parameter } })
  })

  test("several at once are all named", async () => {
    const { message } = await refused({ text: 1, count: 0 })
    expect(message).toBe("text must be a string, got 1; count must be at least 1, got 0")
  })

  test("several that are unknown are named one by one", async () => {
    const { message } = await refused({ text: "x", one: 1, two: 2 })
    expect(message).toContain('unknown parameter "one", "two" (known: ')
  })

  test("of a long list the beginning is shown, and sixty characters are not long", async () => {
    const long = `[${'"a",'.repeat(20)}"a"]`
    expect((await refused({ text: "x", tags: JSON.parse(long) })).message).toBe(
      `tags must be at most 2 items, got ${long.slice(0, 60)}…`,
    )
    const list = ["a", "a", "a".repeat(60 - '["a","a",""]'.length)]
    expect(JSON.stringify(list)).toHaveLength(60)
    expect((await refused({ text: "x", tags: list })).message).toContain(`got ${JSON.stringify(list)}`)
    expect((await refused({ text: "x", kind: "k".repeat(60) })).message).toContain(`got "${"k".repeat(59)}…`)
  })

  test("the error of the check is attached", async () => {
    expect((await refused({})).cause).toBeInstanceOf(z.ZodError)
  })

  test("a long value is shown by its length and its beginning", async () => {
    const { message } = await refused({ text: "y".repeat(12_345) })
    expect(message).toBe(`text must be at most 100 characters, got 12,345 characters ("${"y".repeat(60)}"…)`)
  })
})

test("what is asked without input is asked with none", async () => {
  expect((await refused(undefined)).message).toBe("text is missing (must be a string)")
})

test("the answer is what the operation announced, defaults included", async () => {
  expect(await ask({ text: "x" })).toEqual({ echoed: "x", flag: false })
})

test("an operation that does not exist is named", async () => {
  expect(await refused({}, "test.nothing")).toMatchObject({
    code: "unknown_operation",
    message: 'there is no operation "test.nothing"',
    data: { name: "test.nothing" },
  })
})

test("an answer in a wrong shape is a bug, with its cause attached", async () => {
  const failure = await refused({}, "test.wrong")
  expect(failure).toMatchObject({ code: "internal", message: "test.wrong answered in a wrong shape" })
  expect(failure.cause).toBeInstanceOf(z.ZodError)
})

describe("what is written in the audit", () => {
  const heard: string[] = []
  const services = {
    audit: async ({ who, what, data }: { who: string; what: string; data: object }) =>
      void heard.push(`${who} ${what} ${JSON.stringify(data)}`),
  } as unknown as Services
  const audited = async (values: Partial<Operation>, caller: Caller = { surface: "cli" }) => {
    heard.length = 0
    const op = {
      ...everything,
      ...{ effect: "write", access: "owner" },
      run: async () => {
        heard.push("run")
        return { echoed: "" }
      },
      ...values,
    } as unknown as Operation
    await local([op], services)("test.everything", { text: "x" }, caller)
    return heard
  }

  test("is what the owner changes, before it is done, and by which way", async () => {
    expect(await audited({})).toEqual(['the owner test.everything {"via":"terminal","text":"x"}', "run"])
    expect(await audited({ effect: "destroy" }, { surface: "http", isOwner: true })).toEqual([
      'the owner test.everything {"via":"dashboard","text":"x"}',
      "run",
    ])
  })

  test("is as much of it as the operation shows", async () => {
    expect(await audited({ audited: () => ({ chars: 1 }) })).toEqual([
      'the owner test.everything {"via":"terminal","chars":1}',
      "run",
    ])
  })

  test.each<[string, Partial<Operation>]>([
    ["a look", { effect: "read" }],
    ["what others may do as well", { access: "agent" }],
    ["what anyone may do", { access: "anyone" }],
    ["an operation that writes its own entry", { audited: "itself" }],
    ["one that has changed nothing", { audited: () => undefined }],
  ])("is not %s", async (_, values) => {
    expect(await audited(values)).toEqual(["run"])
  })
})
