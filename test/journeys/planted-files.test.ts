import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  closeSync,
  createWriteStream,
  existsSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { pipeline } from "node:stream/promises"
import { pathToFileURL } from "node:url"
import { createZstdCompress } from "node:zlib"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { SourceCounts } from "../fixtures/captured.ts"
import { makeHome, type TestHome } from "../fixtures/daemon.ts"
import { connect, type McpClient } from "../fixtures/mcp.ts"

const SOON = { timeout: 60_000, interval: 100 }
const LONG_MS = 150_000

let home: TestHome
let user: string
let project: string
let agent: McpClient
let pid: number
beforeAll(async () => {
  home = makeHome()
  user = home.env.HOME!
  project = join(user, "shop")
  mkdirSync(join(project, ".git"), { recursive: true })
  // Watched from the beginning, so that what is planted later is seen at once.
  transcript("first", said("first", "here before"))
  await home.run("start")
  agent = await connect(home, { cwd: project })
  pid = home.registration().pid
})
afterAll(async () => {
  await agent.close()
  await home.dispose()
})

const said = (session: string, text: string) =>
  `${JSON.stringify({
    type: "user",
    uuid: `${session}-${text.length}-${text.slice(0, 20)}`,
    sessionId: idOf(session),
    cwd: project,
    timestamp: new Date().toISOString(),
    message: { role: "user", content: text },
  })}\n`
const CLAUDE = () => join(user, ".claude", "projects", "-shop")
/** Claude Code names its files after sessions, and those are UUIDs. */
const idOf = (name: string) =>
  `00000000-0000-4000-8000-${Buffer.from(name).toString("hex").padEnd(12, "0").slice(0, 12)}`
const pathOf = (name: string) => join(CLAUDE(), `${idOf(name)}.jsonl`)
function transcript(name: string, content: string | Buffer): string {
  mkdirSync(CLAUDE(), { recursive: true })
  writeFileSync(pathOf(name), content)
  return pathOf(name)
}
const fifo = (path: string) => {
  mkdirSync(dirname(path), { recursive: true })
  execFileSync("mkfifo", [path])
}
const sourceOf = async (platform: string) => {
  const { sources } = await home.json<{ sources: SourceCounts[] }>("sources")
  return sources.find((source) => source.platform === platform)!
}
const troubleOf = async (platform: string, path: string) =>
  (await sourceOf(platform)).troubles.find((trouble) => trouble.path === path)?.trouble
const isKept = async (text: string) => {
  const { hits } = await home.json<{ hits: unknown[] }>("search", `"${text}"`)
  return hits.length > 0
}
/** The same process, which still answers, and has not grown beyond measure. */
async function expectAlive(): Promise<void> {
  expect((await home.run("status")).code).toBe(0)
  expect(home.registration().pid).toBe(pid)
}

describe("log_conversation_exchange in a repository with planted links", () => {
  const LOG = { user_message: "$(touch pwned)", ai_response: "no", session_id: "abc" }

  test.each([
    [".throughline/conversations/session-abc.jsonl", "../../../.bashrc"],
    [".throughline/conversations/session-abc.jsonl", "../../../not-there-yet"],
    [".throughline/conversations", "../.."],
    [".throughline", ".."],
  ])("%s -> %s: nothing is written, and the path is named", async (name, to) => {
    const bashrc = join(user, ".bashrc")
    writeFileSync(bashrc, "# mine\n")
    const link = join(project, name)
    rmSync(join(project, ".throughline"), { recursive: true, force: true })
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(to, link)
    const before = execFileSync("find", [user, "-path", home.env.THROUGHLINE_HOME!, "-prune", "-o", "-print"])
    const refused = await agent.refused("log_conversation_exchange", LOG)
    expect(refused).toContain("file_refused")
    expect(refused).toContain(`${link} is a link`)
    expect(readFileSync(bashrc, "utf8")).toBe("# mine\n")
    expect(execFileSync("find", [user, "-path", home.env.THROUGHLINE_HOME!, "-prune", "-o", "-print"])).toEqual(before)
    rmSync(join(project, ".throughline"), { recursive: true, force: true })
  })

  test("a FIFO in place of the log is refused, and blocks nothing", async () => {
    fifo(join(project, ".throughline", "conversations", "session-abc.jsonl"))
    expect(await agent.refused("log_conversation_exchange", LOG)).toContain("is not a regular file")
    rmSync(join(project, ".throughline"), { recursive: true })
    expect(await agent.call("log_conversation_exchange", LOG)).toMatchObject({ status: "logged" })
    await expectAlive()
  })
})

describe("special files", () => {
  test.each(["FIFO", "link to /dev/zero", "5 GB"])(
    "a .git that is a %s leaves the folder without a repository",
    async (kind) => {
      const folder = join(user, `git-${kind.slice(0, 4).trim()}`)
      const dotGit = join(folder, ".git")
      mkdirSync(folder)
      if (kind === "FIFO") fifo(dotGit)
      else if (kind === "5 GB") {
        writeFileSync(dotGit, "gitdir: ")
        truncateSync(dotGit, 5e9)
      } else symlinkSync("/dev/zero", dotGit)
      const found = await agent.call<{ mcpRootUri?: string }>("init", {
        operation: "start_new",
        mcpRootUri: pathToFileURL(folder).href,
      })
      expect(JSON.stringify(found)).toContain(pathToFileURL(folder).href)
      await expectAlive()
    },
  )

  test("teams import of a device is refused at once", async () => {
    const answer = await home.run("teams", "import", "/dev/zero")
    expect(answer.stderr).toContain("/dev/zero is not a regular file")
    const pipe = join(user, "pipe")
    fifo(pipe)
    expect((await home.run("teams", "import", pipe)).stderr).toContain("is not a regular file")
    await expectAlive()
  })

  test(
    "transcripts that are FIFOs, devices or links are named among the sources, and the others are read",
    async () => {
      const secret = join(user, "secret.jsonl")
      writeFileSync(secret, said("secret", "a secret of another folder"))
      fifo(pathOf("fifo"))
      symlinkSync("/dev/zero", pathOf("zero"))
      symlinkSync(secret, pathOf("linked"))
      mkdirSync(join(user, "elsewhere"))
      writeFileSync(join(user, "elsewhere", `${idOf("inside")}.jsonl`), said("inside", "behind a linked folder"))
      symlinkSync(join(user, "elsewhere"), join(user, ".claude", "projects", "-linked"))
      transcript("plain", said("plain", "written beside them"))
      await expect.poll(() => isKept("written beside them"), SOON).toBe(true)
      await home.run("import")
      expect(await troubleOf("claude-code", pathOf("fifo"))).toContain("not a regular file")
      expect(await troubleOf("claude-code", pathOf("zero"))).toContain("is a link")
      expect(await troubleOf("claude-code", pathOf("linked"))).toContain("is a link")
      expect(await isKept("a secret of another folder")).toBe(false)
      expect(await isKept("behind a linked folder")).toBe(false)
      await expectAlive()
      rmSync(pathOf("fifo"))
      transcript("fifo", said("fifo", "now it is a file"))
      await expect.poll(() => isKept("now it is a file"), SOON).toBe(true)
      expect(await troubleOf("claude-code", pathOf("fifo"))).toBeUndefined()
    },
    LONG_MS,
  )

  test(
    "an agent's database that is a FIFO or a link is reported, and never read",
    async () => {
      const dir = join(user, ".local", "share", "opencode")
      fifo(join(dir, "opencode.db"))
      await home.run("import")
      expect(await troubleOf("opencode", join(dir, "opencode.db"))).toContain("not a regular file")
      await expectAlive()
    },
    LONG_MS,
  )
})

describe("too much", () => {
  test(
    "a line of 524 MB is skipped and reported, and its neighbours are stored",
    async () => {
      const path = transcript("long", said("long", "before the long line"))
      // A hole in the file costs no disk, and is read as any other bytes.
      truncateSync(path, statSync(path).size + 524_000_000)
      appendFileSync(path, `\n${said("long", "after the long line")}`)
      await expect.poll(() => isKept("after the long line"), SOON).toBe(true)
      expect(await isKept("before the long line")).toBe(true)
      expect((await sourceOf("claude-code")).skipped["line over 128 MB"]).toBe(1)
      expect((await home.run("sources")).stdout).toContain("1 × line over 128 MB")
      await expectAlive()
    },
    LONG_MS,
  )

  test(
    "a decompression bomb is read to a limit, in bounded memory",
    async () => {
      const id = "0199a213-81c0-7800-8aa1-bbab2a035a53"
      const codex = join(user, ".codex", "sessions", "2026", "01", "02", `rollout-2026-01-02T03-04-05-${id}.jsonl.zst`)
      mkdirSync(dirname(codex), { recursive: true })
      const lines = [
        {
          type: "session_meta",
          timestamp: "2026-01-02T03:04:05Z",
          payload: { id, cwd: project, timestamp: "2026-01-02T03:04:05Z" },
        },
        {
          type: "response_item",
          timestamp: "2026-01-02T03:04:06Z",
          payload: { type: "message", role: "user", content: [{ type: "input_text", text: "before the bomb" }] },
        },
        {
          type: "event_msg",
          timestamp: "2026-01-02T03:04:06Z",
          payload: { type: "user_message", message: "before the bomb" },
        },
      ]
      await pipeline(
        function* () {
          yield `${lines.map((line) => JSON.stringify(line)).join("\n")}\n`
          const zeros = Buffer.alloc(16 * 1024 * 1024)
          for (let megabytes = 0; megabytes < 1_300; megabytes += 16) yield zeros
        },
        createZstdCompress(),
        createWriteStream(`${codex}.tmp`),
      )
      // In one step: a daemon that saw it half written would read it twice.
      renameSync(`${codex}.tmp`, codex)
      expect(statSync(codex).size).toBeLessThan(1_000_000)
      await home.run("import")
      expect(await isKept("before the bomb")).toBe(true)
      expect((await sourceOf("codex")).skipped).toMatchObject({ "file cut at 1 GB decompressed": 1 })
      await expectAlive()
      if (process.platform === "linux") {
        const peakKb = Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])
        expect(peakKb).toBeLessThan(900_000)
      }
    },
    LONG_MS,
  )

  test(
    "a file that is read as a whole is refused when it is too long",
    async () => {
      const chats = join(user, ".gemini", "tmp", "x", "chats")
      mkdirSync(chats, { recursive: true })
      const path = join(chats, "session-2026-01-02.json")
      const fd = openSync(path, "w")
      ftruncateSync(fd, 600_000_000)
      closeSync(fd)
      await home.run("import")
      expect((await sourceOf("gemini-cli")).troubles[0]?.trouble).toMatch(/600\.0 MB; at most 134\.2 MB are read/)
      expect(existsSync(path)).toBe(true)
      await expectAlive()
    },
    LONG_MS,
  )
})
