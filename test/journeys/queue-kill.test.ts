import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import { processStart } from "../../src/daemon/process-identity.ts"
import type { FakeAgent } from "../fixtures/fake-agents.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import { writeProgram } from "../fixtures/terminal.ts"

const SOON = { timeout: 30_000, interval: 50 }

/** Runs the real tmux, and kills the daemon with it where a file of that name says so. */
const DEADLY_TMUX = (folder: string, home: string) => `
real() { PATH=\${PATH#*:} command tmux "$@"; }
end() { kill -KILL "$(sed -n 's/.*"pid": *\\([0-9]*\\).*/\\1/p' '${home}/daemon.json')"; }
case "$*" in
*paste-buffer*) act=paste ;;
*'send-keys'*Enter*) act=enter ;;
*) real "$@"; exit ;;
esac
if [ -e '${folder}/before-'$act ]; then rm '${folder}/before-'$act; end; exit 1; fi
echo $act >>'${folder}/done'
real "$@"
code=$?
if [ -e '${folder}/after-'$act ]; then rm '${folder}/after-'$act; end; fi
exit $code`

let q: QueueHome
let agent: FakeAgent
let folder: string
beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "tl-deadly-")))
  const programs = join(folder, "bin")
  mkdirSync(programs)
  q = await makeQueueHome(["api"], { PATH: `${programs}:${process.env.PATH}` })
  writeProgram(programs, "tmux", DEADLY_TMUX(folder, q.home.dir))
  agent = await q.start("api")
}, 60_000)
afterAll(async () => {
  await q.dispose()
  rmSync(folder, { recursive: true, force: true })
})

test.each([
  // It is written by then that the message goes.
  ["right before it pastes", "before-paste"],
  ["between paste and Enter", "after-paste"],
  ["when it is about to press Enter", "before-enter"],
  ["right after Enter", "after-enter"],
])(
  "a message is pasted once and submitted once by a daemon that is killed %s",
  async (_, moment) => {
    const done = () => (existsSync(join(folder, "done")) ? readFileSync(join(folder, "done"), "utf8").split("\n") : [])
    const pastes = () => done().filter((act) => act === "paste").length
    const before = { pastes: pastes(), prompts: agent.prompts().length }
    const { pid } = q.home.registration()
    writeFileSync(join(folder, moment), "")
    const text = `mind the gap, ${moment}`
    const { id } = await q.send("api", text)
    await expect.poll(() => processStart(pid), SOON).toBeUndefined()
    expect(existsSync(join(folder, moment))).toBe(false)
    await q.home.run("start")
    // What comes after it is not overtaken, and shows that nothing is left in the input line.
    const { id: next } = await q.send("api", `and then, ${moment}`)
    for (const one of [id!, next!]) await expect.poll(async () => (await q.show(one)).state, SOON).toBe("done")
    expect(agent.prompts().slice(before.prompts)).toEqual([text, `and then, ${moment}`])
    expect(pastes() - before.pastes).toBe(2)
    expect(q.states(id!)).toEqual(["queued", "delivered", "seen", "running", "done"])
  },
  90_000,
)
