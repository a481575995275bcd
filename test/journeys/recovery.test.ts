import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect, type Era, type Transport } from "../fixtures/mcp.ts"
import { proves } from "../promises.ts"

interface Loaded {
  success: boolean
  message: string
  session?: { id: string; title: string; mcpRootUri?: string; thoughtCount: number }
  thoughts?: { thoughtNumber: number; thought: string }[]
  branches?: Record<string, { thoughtNumber: number; thought: string }[]>
  candidates?: { id: string }[]
  sessions?: { id: string; title: string }[]
}

const git = (cwd: string, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@localhost", ...args], { cwd, stdio: "pipe" })

let home: TestHome
let folders: string
beforeAll(async () => {
  home = makeHome()
  folders = join(home.env.HOME!, "work")
  mkdirSync(folders)
  await home.run("start")
})
afterAll(() => home.dispose())

function repository(name: string): string {
  const root = join(folders, name)
  mkdirSync(join(root, "src/deep"), { recursive: true })
  git(root, "init", "-q")
  git(root, "commit", "-q", "--allow-empty", "-m", "first")
  return root
}

describe(`${proves("recovery.by-root")} ${proves("recovery.survives-kill")}`, () => {
  test("three roots, five sessions each, 67 thoughts and 3 branches in the newest; the daemon is killed; every way to the root leads there", async () => {
    const roots = { x: repository("x"), y: repository("y"), z: repository("z") }
    let newestOfX = ""
    for (const [name, root] of Object.entries(roots)) {
      const agent = await connect(home, { cwd: root })
      for (let number = 1; number <= 5; number++) {
        const { session } = await agent.call<Loaded>("init", { operation: "start_new", title: `${name}${number}` })
        await agent.call("thought", { thought: `${name}${number} begins`, nextThoughtNeeded: true })
        if (name === "x" && number === 5) newestOfX = session!.id
      }
      await agent.close()
    }
    const agent = await connect(home, { cwd: roots.x })
    await agent.call("init", { operation: "load_context", sessionId: newestOfX })
    for (let number = 2; number <= 58; number++)
      await agent.call("thought", { thought: `step ${number}`, nextThoughtNeeded: true })
    for (const branchId of ["a", "b", "c"]) {
      for (let step = 1; step <= 3; step++) {
        await agent.call("thought", {
          thought: `${branchId}${step}`,
          nextThoughtNeeded: true,
          branchId,
          branchFromThought: 10,
        })
      }
    }
    await agent.close()
    git(roots.x, "worktree", "add", "-q", join(folders, "x-tree"))
    mkdirSync(join(folders, "x-tree/src/deep"), { recursive: true })
    symlinkSync(roots.x, join(folders, "x-link"))
    await home.kill()

    const ways: [
      name: string,
      era: Era,
      transport: Transport,
      at: { cwd?: string; roots?: string[]; env?: Record<string, string> },
    ][] = [
      ["its folder", "legacy", "stdio", { cwd: roots.x }],
      ["its folder, 2026", "modern", "stdio", { cwd: roots.x }],
      ["a symlink", "legacy", "stdio", { cwd: join(folders, "x-link") }],
      ["a subfolder of a worktree", "modern", "stdio", { cwd: join(folders, "x-tree/src/deep") }],
      ["a trailing slash", "legacy", "stdio", { env: { CLAUDE_PROJECT_DIR: `${roots.x}/` } }],
      ["dots in the path", "legacy", "stdio", { env: { CLAUDE_PROJECT_DIR: `${join(folders, "y")}/../x` } }],
      ["roots/list over stdio", "legacy", "stdio", { roots: [pathToFileURL(join(folders, "x-link")).href] }],
      ["roots by a second round, 2026", "modern", "stdio", { roots: [`${pathToFileURL(roots.x).href}/`] }],
      ["roots/list over HTTP", "legacy", "http", { roots: [pathToFileURL(join(folders, "x-tree")).href] }],
      [
        "roots by a second round over HTTP, 2026",
        "modern",
        "http",
        { roots: [pathToFileURL(roots.x).href.replace("/x", "/%78")] },
      ],
    ]
    for (const [name, era, transport, at] of ways) {
      if (transport === "http") await home.run("start")
      const fresh = await connect(home, { era, transport, ...at })
      const found = await fresh.call<Loaded>("init", { operation: "load_context" })
      expect(found.session?.id, name).toBe(newestOfX)
      expect(found.thoughts, name).toHaveLength(58)
      expect(
        Object.values(found.branches ?? {}).map((branch) => branch.length),
        name,
      ).toEqual([3, 3, 3])
      expect(found.session?.thoughtCount, name).toBe(67)
      await fresh.close()
    }

    const other = await connect(home, { cwd: roots.y })
    const ofY = await other.call<Loaded>("init", { operation: "load_context" })
    expect(ofY.session?.title).toBe("y5")
    const listed = await other.call<Loaded>("init", { operation: "list_sessions" })
    expect(listed.sessions?.map((session) => session.title)).toEqual(["y5", "y4", "y3", "y2", "y1"])
    expect(ofY.candidates?.length).toBe(4)
    await other.close()
  })
})
