import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Caller } from "../domain/caller.ts"
import type { ProjectFinder } from "../domain/project.ts"
import type { Store } from "../domain/store.ts"
import { rootUri } from "../lib/roots.ts"
import { sqlite } from "../store/dialects/sqlite.ts"
import { openStore } from "../store/open.ts"
import { makeProjectFinder } from "./projects.ts"

let top: string
let store: Store
let finder: ProjectFinder
/** Seconds lie between two questions, unless a test says otherwise. */
let nowMs: number
let stepMs: number
beforeEach(async () => {
  ;[nowMs, stepMs] = [1, 5_000]
  top = realpathSync(mkdtempSync(join(tmpdir(), "throughline-projects-")))
  store = await openStore(sqlite({ path: join(top, "throughline.db") }))
  const clock = { nowMs: () => (nowMs += stepMs) }
  finder = makeProjectFinder({ store, clock, homeDir: folder("home"), tempDir: folder("temp") })
})
afterEach(async () => {
  await store.close()
  rmSync(top, { recursive: true, force: true })
})

function folder(name: string): string {
  mkdirSync(join(top, name), { recursive: true })
  return join(top, name)
}
const uri = (name: string) => rootUri(join(top, name))
const mcp = (caller: Partial<Caller>): Caller => ({ surface: "mcp", ...caller })

describe("a caller's root is the first one available", () => {
  const everything = async (): Promise<Caller> => {
    const bound = await finder.ensure(folder("bound"))
    await store.bindings.set("agent", { rootUri: bound.rootUri }, 1)
    return mcp({
      key: "agent",
      projectDir: folder("environment"),
      roots: [{ uri: uri("client") }],
      cwd: folder("folder"),
      canAskRoots: true,
    })
  }
  beforeEach(() => void folder("client"))

  test("the argument, before all others", async () => {
    expect(await finder.ofCaller(await everything(), folder("argument"))).toMatchObject({
      source: "argument",
      uri: uri("argument"),
    })
  })

  test("the bound root, before what the environment says", async () => {
    expect(await finder.ofCaller(await everything())).toMatchObject({ source: "bound", uri: uri("bound") })
  })

  test("the environment, before the client's roots", async () => {
    const { key: _, ...unbound } = await everything()
    expect(await finder.ofCaller(unbound)).toMatchObject({ source: "environment", uri: uri("environment") })
  })

  test("the client's roots, before the process's folder", async () => {
    const { key: _, projectDir: __, ...caller } = await everything()
    expect(await finder.ofCaller(caller)).toMatchObject({ source: "client", uri: uri("client") })
  })

  test("the process's folder, when the client named none", async () => {
    expect(await finder.ofCaller(mcp({ roots: [], cwd: folder("folder") }))).toMatchObject({
      source: "folder",
      uri: uri("folder"),
    })
  })

  test("nothing, when nothing is known", async () => {
    expect(await finder.ofCaller(mcp({}))).toBeUndefined()
  })
})

describe("the home folder and those above it", () => {
  const places = () => [join(top, "home"), top, "/", `${top}/home/../home/`]

  test("are not the project of a client that named none", async () => {
    symlinkSync(join(top, "home"), join(top, "link"))
    for (const cwd of [...places(), join(top, "link")]) {
      expect(await finder.ofCaller(mcp({ cwd })), cwd).toBeUndefined()
      expect(finder.uncounted(mcp({ cwd }))).toBe(cwd)
    }
    expect(finder.uncounted(mcp({ cwd: folder("home/work") }))).toBeUndefined()
    expect(await finder.ofCaller(mcp({ cwd: folder("home/work") }))).toMatchObject({ uri: uri("home/work") })
  })

  test("are where a client names them, and where a person types", async () => {
    const home = { source: "client", uri: uri("home") }
    expect(await finder.ofCaller(mcp({ cwd: "/", roots: [{ uri: uri("home") }] }))).toMatchObject(home)
    for (const cwd of places())
      expect(await finder.ofCaller({ surface: "cli", cwd })).toMatchObject({ source: "folder" })
  })
})

describe("the client is asked for its roots", () => {
  test("when it can be asked and nothing better answers", async () => {
    await expect(finder.ofCaller(mcp({ canAskRoots: true, cwd: folder("folder") }))).rejects.toMatchObject({
      code: "root_needed",
    })
  })

  test("not when it cannot be asked", async () => {
    expect(await finder.ofCaller(mcp({ canAskRoots: false, cwd: folder("folder") }))).toMatchObject({
      source: "folder",
    })
  })

  test("not again when it answered that it has none", async () => {
    expect(await finder.ofCaller(mcp({ canAskRoots: true, roots: [], cwd: folder("folder") }))).toMatchObject({
      source: "folder",
    })
  })

  test("not when the environment names the folder", async () => {
    expect(await finder.ofCaller(mcp({ canAskRoots: true, projectDir: folder("environment") }))).toMatchObject({
      source: "environment",
    })
  })
})

describe("a root that is wrong", () => {
  test("is skipped when the client or the environment implied it", async () => {
    const caller = mcp({
      projectDir: join(top, "gone"),
      roots: [{ uri: "https://example.org/x" }, { uri: uri("gone too") }],
      cwd: folder("folder"),
    })
    expect(await finder.ofCaller(caller)).toMatchObject({ source: "folder", uri: uri("folder") })
  })

  test("leaves the turn to the client's next one", async () => {
    const caller = mcp({
      roots: [{ uri: "untitled:Untitled-1" }, { uri: rootUri(folder("second")) }],
      cwd: folder("folder"),
    })
    expect(await finder.ofCaller(caller)).toMatchObject({ source: "client", uri: uri("second") })
  })

  test.each([
    ["that does not exist", () => join(top, "nowhere"), "root_not_found"],
    ["that is no path", () => "https://example.org", "root_invalid"],
  ])("%s is an error when it was given on purpose", async (_, root, code) => {
    await expect(finder.ofCaller(mcp({ cwd: folder("folder") }), root())).rejects.toMatchObject({ code })
  })
})

describe("a folder leads to its project", () => {
  test("nothing is kept by looking for it", async () => {
    expect(await finder.find(folder("new"))).toEqual({ uri: uri("new"), project: undefined })
    expect(await store.projects.list()).toEqual([])
  })

  test("a subfolder outside of any repository, once the folder above is known", async () => {
    expect((await finder.find(folder("notes/2024"))).uri).toBe(uri("notes/2024"))
    const notes = await finder.ensure(folder("notes"))
    expect(await finder.find(join(top, "notes/2024"))).toEqual({ uri: uri("notes"), project: notes })
    expect(await finder.ensure(join(top, "notes/2024"))).toEqual(notes)
  })

  test("a repository below a known folder is a project of its own", async () => {
    await finder.ensure(folder("notes"))
    execFileSync("git", ["init", "-q", folder("notes/code")], { stdio: "pipe" })
    expect((await finder.find(join(top, "notes/code"))).uri).toBe(uri("notes/code"))
  })

  test("the home folder, once known, does not swallow the folders in it", async () => {
    await finder.ensure(join(top, "home"))
    expect((await finder.find(folder("home/code"))).uri).toBe(uri("home/code"))
  })

  test("nor does the temporary folder", async () => {
    await finder.ensure(join(top, "temp"))
    expect((await finder.find(folder("temp/scratch"))).uri).toBe(uri("temp/scratch"))
  })

  test("also when it is gone", async () => {
    const project = await finder.ensure(folder("shortlived"))
    rmSync(join(top, "shortlived"), { recursive: true })
    expect(await finder.find(join(top, "shortlived"))).toEqual({ uri: uri("shortlived"), project })
  })

  test("also when it was a subfolder that was seen and is gone", async () => {
    execFileSync("git", ["init", "-q", folder("repo")], { stdio: "pipe" })
    const project = await finder.ensure(folder("repo/packages/a"))
    rmSync(join(top, "repo"), { recursive: true })
    expect(project.rootUri).toBe(uri("repo"))
    expect(await finder.find(join(top, "repo/packages/a"))).toEqual({ uri: uri("repo"), project })
    await expect(finder.find(join(top, "repo/packages/b"))).rejects.toMatchObject({ code: "root_not_found" })
  })

  test("also when a symlink to it leads nowhere any more", async () => {
    symlinkSync(folder("real"), join(top, "link"))
    const project = await finder.ensure(join(top, "link"))
    rmSync(join(top, "real"), { recursive: true })
    expect(project.rootUri).toBe(uri("real"))
    expect(await finder.find(join(top, "link"))).toEqual({ uri: uri("real"), project })
  })

  test("a path that leads to another project now is remembered for that one", async () => {
    symlinkSync(folder("one"), join(top, "current"))
    await finder.ensure(join(top, "current"))
    rmSync(join(top, "current"))
    symlinkSync(folder("two"), join(top, "current"))
    await finder.ensure(join(top, "current"))
    rmSync(join(top, "two"), { recursive: true })
    expect((await finder.find(join(top, "current"))).uri).toBe(uri("two"))
  })

  test("a folder that leads elsewhere now is found there a moment later, and at once where something is kept", async () => {
    const current = join(top, "current")
    const lead = (name: string) => {
      rmSync(current, { force: true })
      symlinkSync(folder(name), current)
    }
    lead("one")
    stepMs = 0
    expect((await finder.find(current)).uri).toBe(uri("one"))
    lead("two")
    expect((await finder.ensure(current)).rootUri).toBe(uri("two"))
    lead("three")
    nowMs += 100
    expect((await finder.find(current)).uri).toBe(uri("three"))
    lead("four")
    // Set back, as clocks are.
    nowMs -= 60_000
    expect((await finder.find(current)).uri).toBe(uri("four"))
  })
})
