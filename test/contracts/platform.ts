import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, isAbsolute, join, relative, sep } from "node:path"
import { zstdDecompressSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Capture, SessionCapture, TurnCapture } from "../../src/domain/capture.ts"
import type { Claim, FoundFile, LinesReader, Machine, Platform } from "../../src/domain/platform.ts"

export interface PlatformScenario {
  name: string
  /** Files below a home folder, by relative path; or a function that makes them (databases). */
  files: Record<string, string | Buffer> | ((homeDir: string) => void)
  env?: Record<string, string>
  /** Relative paths of files that must not be claimed. */
  unclaimed?: string[]
  /** In the order in which they are captured, per session; `text` must be equal. */
  expected: Record<
    string,
    { session?: Partial<Omit<SessionCapture, "type" | "sessionId">>; turns: Partial<TurnCapture>[]; rewinds?: number }
  >
  /** Kinds that must be counted as skipped. */
  skipped?: string[]
}

/** What it means to be a platform. Each adapter's own test file is a call of this with its scenarios. */
export function platformContract(platform: Platform, scenarios: PlatformScenario[]): void {
  describe(`${platform.id} is a platform`, () => {
    test("it has an id, a label and places on every system", () => {
      expect(platform.id).toMatch(/^[a-z][a-z0-9-]*$/)
      expect(platform.label).not.toBe("")
      for (const os of ["linux", "darwin", "win32"] as const) {
        const places = platform.places({
          os,
          homeDir: os === "win32" ? "C:\\Users\\a" : "/home/a",
          env: os === "win32" ? { APPDATA: "C:\\Users\\a\\AppData\\Roaming", USERPROFILE: "C:\\Users\\a" } : {},
        })
        expect(places.length, os).toBeGreaterThan(0)
        for (const place of places)
          expect(isAbsolute(place.dir) || /^[A-Z]:[\\/]/.test(place.dir), `${os}: ${place.dir}`).toBe(true)
      }
    })
    test("resuming is possible exactly where it says so", () => {
      expect(platform.resume !== undefined).toBe(platform.can.resume)
    })
    for (const scenario of scenarios) describe(scenario.name, () => scenarioTests(platform, scenario))
  })
}

function scenarioTests(platform: Platform, scenario: PlatformScenario): void {
  let homeDir: string
  beforeAll(() => {
    homeDir = realpathSync(mkdtempSync(join(tmpdir(), "platform-")))
    if (typeof scenario.files === "function") scenario.files(homeDir)
    else for (const [path, content] of Object.entries(scenario.files)) put(join(homeDir, path), content)
  })
  afterAll(() => rmSync(homeDir, { recursive: true, force: true }))
  const machine = (): Machine => ({
    os: "linux",
    homeDir,
    env: scenario.env === undefined ? {} : withHome(scenario.env, homeDir),
  })

  test("reads every conversation complete and in order", async () => {
    const captures = await readAll(platform, machine())
    const seen = bySession(captures)
    expect([...seen.keys()].sort()).toEqual(Object.keys(scenario.expected).sort())
    for (const [sessionId, { session, turns, rewinds }] of Object.entries(scenario.expected)) {
      const found = seen.get(sessionId)!
      expect(
        found.turns.length,
        `${sessionId}: ${JSON.stringify(found.turns.map(({ kind, text }) => [kind, text.slice(0, 40)]))}`,
      ).toBe(turns.length)
      for (const [index, turn] of turns.entries())
        expect(found.turns[index], `${sessionId} turn ${index}`).toMatchObject(turn)
      if (session) expect(found.session, sessionId).toMatchObject(session)
      if (rewinds !== undefined) expect(found.rewinds, sessionId).toBe(rewinds)
    }
    const skipped = captures.filter((capture) => capture.type === "skipped").map((capture) => capture.kind)
    for (const kind of scenario.skipped ?? []) expect(skipped).toContain(kind)
  })
  test("reading again gives the same ids, unique within each session", async () => {
    const [first, second] = [await readAll(platform, machine()), await readAll(platform, machine())]
    expect(second).toEqual(first)
    for (const [sessionId, { turns }] of bySession(first)) {
      const latest = new Map(turns.map((turn) => [turn.nativeId, turn]))
      for (const turn of turns)
        if (latest.get(turn.nativeId) !== turn)
          expect(latest.get(turn.nativeId)!.kind, `${sessionId} ${turn.nativeId}`).toBe(turn.kind)
    }
  })
  test("what a reader remembers survives being written down between any two lines", async () => {
    expect(await readAll(platform, machine(), (state) => JSON.parse(JSON.stringify(state)))).toEqual(
      await readAll(platform, machine()),
    )
  })
  test("one session that is read by itself is as among the others, and one that is not there is nothing", async () => {
    for (const { claim, file } of claims(platform, machine())) {
      const { reader } = claim
      if (reader.mode !== "database" || !reader.only) continue
      const all = [...(await reader.read(file.path, null)).captures].filter((capture) => capture.type !== "skipped")
      for (const id of new Set(all.map(({ sessionId }) => sessionId))) {
        const mine = [...reader.only(file.path, id)].filter((capture) => capture.type !== "skipped")
        expect(mine).toEqual(all.filter(({ sessionId }) => sessionId === id))
      }
      expect([...reader.only(file.path, "none")]).toEqual([])
    }
  })
  test("files that hold no conversation are left alone", () => {
    const claimed = claims(platform, machine()).map(({ file }) => relative(homeDir, file.path))
    for (const path of scenario.unclaimed ?? []) expect(claimed).not.toContain(path)
  })
  test("a line of an unknown kind, a torn one and one of garbage stop nothing", async () => {
    for (const { claim, file } of claims(platform, machine())) {
      if (claim.reader.mode !== "lines" || claim.reader.compression) continue
      const reader = claim.reader
      const state = reader.begin(file.path)
      for (const hostile of [
        '{"type":"never-heard-of","x":1}\n',
        "[]\n",
        "null\n",
        "7\n",
        '"text"\n',
        "{\n",
        "\u0000\u0000\n",
        "\n",
        '{"type":"user"}\n',
        '{"type":"assistant","message":null}\n',
        '{"type":"response_item","payload":null}\n',
      ]) {
        try {
          expect(Array.isArray(reader.line(Buffer.from(hostile), state, { offset: 0 }))).toBe(true)
        } catch (error) {
          // Refusing a line is allowed; what is thrown must be an error that can be counted.
          expect(error).toBeInstanceOf(Error)
        }
      }
      JSON.stringify(state)
    }
  })
}

/** Everything that the platform finds below the machine's home, read once, newest rules aside. */
export async function readAll(
  platform: Platform,
  machine: Machine,
  between: (state: Record<string, unknown>) => Record<string, unknown> = (state) => state,
): Promise<Capture[]> {
  const captures: Capture[] = []
  const done = new Set<string>()
  for (const { claim, file } of claims(platform, machine)) {
    if (done.has(claim.key)) continue
    done.add(claim.key)
    const { reader } = claim
    if (reader.mode === "whole") captures.push(...(await reader.read(file.path)))
    else if (reader.mode === "database") captures.push(...(await reader.read(file.path, null)).captures)
    else captures.push(...readLines(reader, file.path, between))
  }
  return captures
}

function readLines(
  reader: LinesReader,
  path: string,
  between: (state: Record<string, unknown>) => Record<string, unknown>,
): Capture[] {
  const raw = readFileSync(path)
  const bytes = reader.compression === "zstd" ? zstdDecompressSync(raw) : raw
  const captures: Capture[] = []
  let state = reader.begin(path)
  let offset = 0
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, offset)) {
    try {
      captures.push(...reader.line(bytes.subarray(offset, end + 1), state, { offset }))
    } catch {
      captures.push({ type: "skipped", kind: "unreadable" })
    }
    state = between(state)
    offset = end + 1
  }
  return captures
}

export function claims(platform: Platform, machine: Machine): { claim: Claim; file: FoundFile }[] {
  const found: { claim: Claim; file: FoundFile }[] = []
  for (const place of platform.places(machine)) {
    for (const path of walk(place.dir, place.depth)) {
      const file = { path, place, relative: relative(place.dir, path).split(sep).join("/") }
      const claim = platform.claim(file)
      if (claim) found.push({ claim, file })
    }
  }
  return found
}

function walk(dir: string, depth: number): string[] {
  let entries: import("node:fs").Dirent[]
  try {
    entries = readdirSync(dir, { withFileTypes: true })
  } catch {
    return []
  }
  return entries
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(dir, entry.name)
      if (entry.isDirectory()) return depth > 0 ? walk(path, depth - 1) : []
      return entry.isFile() ? [path] : []
    })
}

function bySession(
  captures: Capture[],
): Map<string, { session: SessionCapture; turns: TurnCapture[]; rewinds: number }> {
  const sessions = new Map<string, { session: SessionCapture; turns: TurnCapture[]; rewinds: number }>()
  for (const capture of captures) {
    if (capture.type === "skipped") continue
    const at = sessions.get(capture.sessionId) ?? {
      session: { type: "session", sessionId: capture.sessionId },
      turns: [],
      rewinds: 0,
    }
    sessions.set(capture.sessionId, at)
    if (capture.type === "session") at.session = { ...at.session, ...capture }
    else if (capture.type === "rewind") at.rewinds++
    else at.turns.push(capture)
  }
  return sessions
}

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
}

/** `~` in a scenario's environment is its home. */
function withHome(env: Record<string, string>, homeDir: string): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace(/^~/, homeDir)]))
}
