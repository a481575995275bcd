import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterAll, beforeAll, expect, test } from "vitest"
import type { FakeAgent } from "../fixtures/fake-agents.ts"
import { makeQueueHome, type QueueHome } from "../fixtures/queue.ts"
import type { Person } from "../fixtures/telegram/person.ts"
import { startTelegram } from "../fixtures/telegram/start.ts"
import type { Telegram } from "../fixtures/telegram/telegram.ts"
import type { Room } from "../fixtures/telegram/world.ts"

/** A group takes 20 messages a minute: what is to be shown may wait for its turn. */
const SOON = { timeout: 120_000, interval: 100 }
const LONG = { timeout: 420_000, interval: 250 }
const TEAMS = ["homelab", "felt", "sentry"] as const
type TeamName = (typeof TEAMS)[number]
const BY_WRITTEN = 20
const BY_SENT = { homelab: 14, felt: 13, sentry: 13 }

let telegram: Telegram
let q: QueueHome
let owner: Person
let work: Room
const members = {} as Record<TeamName, Person>
const groups = {} as Record<TeamName, Room>
const agents = {} as Record<TeamName, FakeAgent>
beforeAll(async () => {
  telegram = await startTelegram({ limits: false })
  owner = telegram.person("Owner")
  for (const [at, name] of TEAMS.entries()) members[name] = telegram.person(["Ann", "Bea", "Cid"][at]!)
  work = telegram.group("Work", { people: [owner] })
  groups.homelab = telegram.group("Homelab", { people: [owner, members.homelab] })
  groups.felt = telegram.group("Felt", { people: [owner, members.felt], isForum: false })
  groups.sentry = telegram.group("Sentry", { people: [owner, members.sentry], type: "group" })
  q = await makeQueueHome([], {
    THROUGHLINE_TELEGRAM_TOKEN: telegram.token,
    THROUGHLINE_TELEGRAM_API_ROOT: telegram.apiRoot,
    THROUGHLINE_TELEGRAM_CHAT: String(work.id),
    THROUGHLINE_TELEGRAM_USERS: String(owner.id),
  })
  for (const name of TEAMS) mkdirSync(q.dirOf(name), { recursive: true })
}, 240_000)
afterAll(async () => {
  await q?.dispose()
  await telegram?.close()
})

const roomsOf = () => [work, ...Object.values(groups)]
/** All that the bot said in a chat, its files too. */
const saidIn = (room: Room) =>
  telegram
    .read(room)
    .filter(({ isBot, service }) => isBot && !service)
    // A label is the session's title, which is its first prompt.
    .map(({ text, file }) => `${text.replace(/^▸ .*\n?/gm, "")}\n${file ? file.bytes.toString() : ""}`)
const times = (texts: readonly string[], words: string) =>
  texts.reduce((sum, text) => sum + text.split(words).length - 1, 0)
const token = (team: TeamName, kind: string, n: number) => `${kind}-${String(n).padStart(2, "0")}-${team}.`

test("a Nexus chat map is imported unchanged, and each group gets its own people by a code", async () => {
  const map = Object.fromEntries(
    TEAMS.map((name) => [name, { chat_id: String(groups[name].id), workdir: q.dirOf(name), claude_md: "" }]),
  )
  const file = join(q.home.env.HOME!, "map.json")
  writeFileSync(file, JSON.stringify(map))
  expect((await q.home.run("teams", "import", file)).stdout).toContain("Nexus chat map: 3 added")
  for (const name of TEAMS) {
    const { code } = await q.home.json<{ code: string }>("telegram", "pair", "--team", name)
    members[name].write(groups[name], `/pair ${code}`)
    const known = async () => (await q.home.json<{ users: { team?: string }[] }>("telegram", "users")).users
    await expect.poll(async () => (await known()).map(({ team }) => team), SOON).toContain(name)
  }
  const { teamChats } = await q.home.json<{ teamChats: { teams: string[]; hasTopics: boolean }[] }>(
    "telegram",
    "status",
  )
  expect(teamChats.map(({ teams, hasTopics }) => [teams, hasTopics])).toEqual([
    [["homelab"], true],
    [["felt"], false],
    [["sentry"], false],
  ])
}, 240_000)

test("100 messages in three groups, with the daemon killed in the middle: none in the wrong place, lost or doubled", async () => {
  for (const name of TEAMS) agents[name] = await q.start(name)
  for (const name of TEAMS) await q.sessionOf(agents[name])
  const expected = Object.fromEntries(TEAMS.map((name) => [name, [] as string[]])) as Record<TeamName, string[]>
  const write = (name: TeamName, n: number) => {
    const words = token(name, "written", n)
    expected[name].push(words)
    members[name].write(groups[name], words)
  }
  const send = async (name: TeamName, n: number) => {
    const words = token(name, "sent", n)
    expected[name].push(words)
    expect(await q.send(name, words)).toMatchObject({ queued: true })
  }
  const prompts = () => TEAMS.flatMap((name) => agents[name].prompts())

  for (let n = 0; n < BY_WRITTEN / 2; n++) for (const name of TEAMS) write(name, n)
  for (const name of TEAMS) for (let n = 0; n < 7; n++) await send(name, n)
  // Somebody of one group writes in another, as a member who was added there by hand.
  telegram.join(groups.felt, members.homelab)
  members.homelab.write(groups.felt, "written-by-an-intruder")
  // One reply in each group is unconfirmed, like those that the daemon dies over: it is repeated, marked.
  const isReply = ({ params }: { params: Readonly<Record<string, unknown>> }) => String(params.text).includes("Done: ")
  for (const name of TEAMS)
    telegram.fault({ chatId: groups[name].id, times: 1, trouble: { kind: "drop-after" }, when: isReply })
  await expect.poll(() => prompts().length, SOON).toBeGreaterThan(12)
  expect(await q.home.kill()).toBe(true)
  for (let n = BY_WRITTEN / 2; n < BY_WRITTEN; n++) for (const name of TEAMS) write(name, n)
  await q.home.run("start")
  for (const name of TEAMS) for (let n = 7; n < BY_SENT[name]; n++) await send(name, n)
  expect(Object.values(expected).flat()).toHaveLength(100)

  await expect.poll(() => prompts().length, LONG).toBeGreaterThanOrEqual(100)
  for (const name of TEAMS) expect(agents[name].prompts().toSorted(), name).toEqual(expected[name].toSorted())

  // Messages from the terminal and their replies are shown in the team's group.
  const wanted = TEAMS.flatMap((name) =>
    expected[name].filter((words) => words.startsWith("sent")).map((words) => ({ name, words })),
  )
  const missing = () => wanted.filter(({ name, words }) => times(saidIn(groups[name]), words) === 0)
  await expect.poll(missing, LONG).toEqual([])
  const counts = async () => (await q.home.json<{ waiting: number }>("telegram", "status")).waiting
  await expect.poll(counts, LONG).toBe(0)
  for (const name of TEAMS) expect(times(saidIn(groups[name]), "↻ may be a repeat"), name).toBeGreaterThan(0)
  for (const room of roomsOf()) {
    const said = saidIn(room)
    const fresh = said.filter((text) => !text.startsWith("↻"))
    for (const name of TEAMS)
      for (const words of expected[name]) {
        const [all, replies] = [times(fresh, words), times(fresh, `Done: ${words}`)]
        const what = `${words} in ${room.title}`
        if (room !== groups[name]) expect(times(said, words), what).toBe(0)
        else {
          expect(times(said, `Done: ${words}`), `the reply to ${what}`).toBeGreaterThan(0)
          const shown = JSON.stringify(said.filter((text) => text.includes(words)))
          expect(replies, `the reply to ${what}: ${shown}`).toBeLessThanOrEqual(1)
          // Beside its reply: where nobody wrote it, once. Messages of a flat group are not echoed there.
          const most = words.startsWith("sent") || name === "homelab" ? 1 : 0
          expect(all - replies, what).toBeLessThanOrEqual(most)
        }
      }
  }
  expect(saidIn(work)).toEqual([])
}, 900_000)

test("an approval is shown in its team's group, and answered only by those who may act there", async () => {
  await expect.poll(() => agents.felt.registry()?.status, SOON).toBe("idle")
  await q.send("felt", "Please\nDIALOG rm -rf build")
  const approval = () =>
    telegram.read(groups.felt).find(({ buttons }) => buttons.flat().some(({ label }) => /Allow/.test(label)))
  await expect.poll(approval, SOON).toBeDefined()
  const { id, buttons } = approval()!
  const { data } = buttons.flat().find(({ label }) => /Allow$/.test(label))!
  for (const room of roomsOf()) if (room !== groups.felt) expect(times(saidIn(room), "rm -rf build")).toBe(0)
  const told = async (by: Person, room: Room, messageId: number) => {
    const press = by.pressOld(room, messageId, data!)
    await expect.poll(() => press.answer(), SOON).toBeDefined()
    return press.answer()!.text
  }
  const no = "You are not on the list of people who may do this."
  expect(await told(members.homelab, groups.felt, id)).toBe(no)
  const [other] = telegram.read(groups.homelab).filter(({ isBot }) => isBot)
  expect(await told(members.homelab, groups.homelab, other!.id)).toBe(no)
  expect(await told(members.felt, groups.felt, id)).toBe("Allowed.")
  await agents.felt.until((log) => log.some(({ kind }) => kind === "hook-decided"))
}, 240_000)

test("a group that becomes a supergroup, and a team whose chat is changed, continue in the new place", async () => {
  const next = telegram.migrate(groups.sentry)
  groups.sentry = next
  members.sentry.write(next, "written after the move.")
  await expect.poll(() => agents.sentry.prompts(), SOON).toContain("written after the move.")
  const moved = telegram.group("Felt, new", { people: [owner, members.felt] })
  const config = join(q.home.dir, "config.json")
  const before = JSON.parse(readFileSync(config, "utf8"))
  before.teams.felt.chat = { id: String(moved.id) }
  writeFileSync(config, JSON.stringify(before))
  const chats = async () => (await q.home.json<{ teamChats: { id: string }[] }>("telegram", "status")).teamChats
  await expect.poll(async () => (await chats()).map(({ id }) => id), SOON).toContain(String(moved.id))
  await expect.poll(() => agents.felt.registry()?.status, SOON).toBe("idle")
  await q.send("felt", "sent after the change.")
  await expect.poll(() => times(saidIn(moved), "Done: sent after the change."), SOON).toBe(1)
  expect(times(saidIn(groups.felt), "sent after the change.")).toBe(0)
  members.felt.write(moved, "written after the change.")
  await expect.poll(() => agents.felt.prompts(), SOON).toContain("written after the change.")
}, 300_000)

test("a team that is removed takes its people along: the next of that name has none of them", async () => {
  const teamsOf = async () =>
    (await q.home.json<{ users: { team?: string }[] }>("telegram", "users")).users.map(({ team }) => team)
  expect(await teamsOf()).toContain("sentry")
  await q.home.json("teams", "remove", "sentry", "--yes")
  await q.home.json("teams", "add", "sentry", q.dirOf("sentry"), "--chat-id", String(groups.sentry.id))
  expect(await teamsOf()).toEqual(expect.not.arrayContaining(["sentry"]))
  const before = agents.sentry.prompts().length
  members.sentry.write(groups.sentry, "written by who may no longer.")
  members.homelab.write(groups.homelab, "written by who may.")
  await expect.poll(() => agents.homelab.prompts(), SOON).toContain("written by who may.")
  expect(agents.sentry.prompts()).toHaveLength(before)
}, 240_000)
