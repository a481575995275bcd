import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { makeTestArchive, type TestArchive } from "../../fixtures/archive.ts"

const SID = "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2c01"
const FILE = `.claude/projects/-w-app/${SID}.jsonl`
const AT = Date.parse("2026-08-01T10:00:00.000Z")

type Fields = Record<string, unknown>
let clock = 0
const record = (type: string, uuid: string, parentUuid: string | null, more: Fields) => ({
  type,
  uuid,
  parentUuid,
  sessionId: SID,
  isSidechain: false,
  timestamp: new Date(AT + ++clock * 1000).toISOString(),
  cwd: "/w/app",
  ...more,
})
const user = (uuid: string, parent: string | null, content: unknown = `says ${uuid}`, more: Fields = {}) =>
  record("user", uuid, parent, { message: { role: "user", content }, ...more })
const assistant = (
  uuid: string,
  parent: string,
  block: Fields = { type: "text", text: `replies ${uuid}` },
  id = uuid,
) =>
  record("assistant", uuid, parent, { message: { id: `msg_${id}`, role: "assistant", model: "m", content: [block] } })
const call = (uuid: string, parent: string, id: string) =>
  assistant(uuid, parent, { type: "tool_use", id: `toolu_${uuid}`, name: "Read", input: { of: uuid } }, id)
const result = (uuid: string, parent: string) =>
  user(uuid, parent, [{ type: "tool_result", tool_use_id: `toolu_${parent}`, content: `result ${uuid}` }])
const system = (uuid: string, parent: string | null, subtype: string, more: Fields = {}) =>
  record("system", uuid, parent, { subtype, content: "", ...more })
const attachment = (uuid: string, parent: string) =>
  record("attachment", uuid, parent, { attachment: { type: "date" } })
/** As both versions write it: calls side by side, results in any order, a notice at the end. */
const exchange = (n: number, parent: string | null) => [
  user(`u${n}`, parent),
  attachment(`x${n}`, `u${n}`),
  assistant(`a${n}`, `x${n}`, { type: "text", text: `begins ${n}` }, `m${n}`),
  call(`b${n}`, `a${n}`, `m${n}`),
  call(`c${n}`, `b${n}`, `m${n}`),
  result(`rc${n}`, `c${n}`),
  result(`rb${n}`, `b${n}`),
  assistant(`e${n}`, `rc${n}`),
  system(`t${n}`, `e${n}`, "turn_duration"),
]

let kept: TestArchive
beforeEach(async () => {
  clock = 0
  kept = await makeTestArchive()
})
afterEach(() => kept.close())

const lines = (records: Fields[]) => records.map((one) => `${JSON.stringify(one)}\n`).join("")
const gone = async () => (await kept.rows()).filter(({ superseded }) => superseded).map(({ turn }) => turn)
const TURNS = ["a", "b", "c", "e", "rb", "rc", "u"]
const of = (...numbers: number[]) => numbers.flatMap((n) => TURNS.map((name) => `${name}${n}`)).sort()

/** Read at once, record by record with a restart in between, and once more after the file was written anew. */
async function takenBack(records: Fields[]): Promise<string[]> {
  kept.write(FILE, lines(records))
  await kept.read()
  const atOnce = await gone()
  await kept.close()
  kept = await makeTestArchive()
  for (const one of records) {
    kept.append(FILE, lines([one]))
    await kept.read()
    kept.restart()
  }
  expect(await gone()).toEqual(atOnce)
  kept.write(FILE, lines([{ type: "mode", mode: "default", sessionId: SID }, ...records]))
  await kept.read()
  expect(await gone()).toEqual(atOnce)
  return atOnce
}

describe("what was rewound in Claude Code is no longer live", () => {
  test("when the next prompt goes on from before a prompt", async () => {
    const records = [...exchange(1, null), ...exchange(2, "t1"), ...exchange(3, "t2"), ...exchange(4, "t1")]
    expect(await takenBack(records)).toEqual(of(2, 3))
    const [session] = await kept.store.sessions.list({})
    expect(session).toMatchObject({ promptCount: 2, turnCount: 14 })
  })

  test("when it goes on from the very beginning", async () => {
    expect(await takenBack([...exchange(1, null), ...exchange(2, "t1"), ...exchange(3, null)])).toEqual(of(1, 2))
  })

  test("when it goes on from a reply, although a notice stands behind that", async () => {
    expect(await takenBack([...exchange(1, null), ...exchange(2, "t1"), ...exchange(3, "e1")])).toEqual(of(2))
  })

  test("when it goes on from within an exchange", async () => {
    const records = [...exchange(1, null), ...exchange(2, "t1"), ...exchange(3, "a1")]
    expect(await takenBack(records)).toEqual([...["b1", "c1", "e1", "rb1", "rc1"], ...of(2)].sort())
  })

  test("when a prompt was called back before it was answered", async () => {
    const records = [...exchange(1, null), user("hasty", "t1"), attachment("y", "hasty"), ...exchange(2, "t1")]
    expect(await takenBack(records)).toEqual(["hasty"])
  })

  test("when it is rewound again and again, also to before a compaction", async () => {
    const compacted = () => [
      system("k", null, "compact_boundary", { logicalParentUuid: "t2", compactMetadata: { trigger: "manual" } }),
      user("s", "k", "Summary", { isCompactSummary: true }),
    ]
    const records = [
      ...exchange(1, null),
      ...exchange(2, "t1"),
      ...compacted(),
      ...exchange(3, "s"),
      ...exchange(4, "s"),
    ]
    expect(await takenBack(records)).toEqual(of(3))
    await kept.close()
    kept = await makeTestArchive()
    expect(await takenBack([...records, ...exchange(5, "t1")])).toEqual([...of(2, 3, 4), "k", "s"].sort())
  })
})

describe("nothing was rewound in Claude Code", () => {
  test("by results of tools side by side, sub-agents, notices, interruptions and what people hand over meanwhile", async () => {
    const records = [
      ...exchange(1, null),
      user("side", null, "task of a sub-agent", { isSidechain: true, agentId: "x" }),
      user("caveat", "t1", "<local-command-caveat>no</local-command-caveat>", { isMeta: true }),
      user("cmd", "caveat", "<command-name>/model</command-name><command-args></command-args>"),
      user("out", "cmd", "<local-command-stdout>ok</local-command-stdout>"),
      user("u2", "out"),
      call("b2", "u2", "m2"),
      call("c2", "b2", "m2"),
      result("rb2", "b2"),
      system("notice", "rb2", "informational"),
      result("rc2", "c2"),
      record("attachment", "q", "rc2", {
        attachment: { type: "queued_command", prompt: "meanwhile", source_uuid: "q0" },
      }),
      user("stop", "q", "[Request interrupted by user for tool use]"),
      ...exchange(3, "stop"),
      ...exchange(4, "t3"),
    ]
    expect(await takenBack(records)).toEqual([])
  })

  test("by a compaction that keeps the last messages and goes on from them", async () => {
    const kept = { trigger: "auto", preservedSegment: { headUuid: "e1", anchorUuid: "s", tailUuid: "t1" } }
    const records = [
      ...exchange(1, null),
      system("k", null, "compact_boundary", { logicalParentUuid: "t1", compactMetadata: kept }),
      user("s", "k", "Summary", { isCompactSummary: true }),
      ...exchange(2, "t1"),
    ]
    expect(await takenBack(records)).toEqual([])
  })

  test("where records name no parents, or parents that nobody has seen", async () => {
    const unlinked = [1, 2, 3].map((n) => user(`u${n}`, null))
    expect(await takenBack(unlinked)).toEqual([])
    await kept.close()
    kept = await makeTestArchive()
    expect(await takenBack([...exchange(1, null), ...exchange(2, "lost"), ...exchange(3, "lost too")])).toEqual([])
  })
})
