import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, expect, test } from "vitest"
import { openIntake, type TestIntake } from "../../../test/fixtures/intake.ts"
import type { Person } from "../../../test/fixtures/telegram/person.ts"
import { startTelegram } from "../../../test/fixtures/telegram/start.ts"
import type { Telegram } from "../../../test/fixtures/telegram/telegram.ts"
import type { Room } from "../../../test/fixtures/telegram/world.ts"
import type { ButtonHandler } from "../../domain/outgoing.ts"

let telegram: Telegram
let owner: Person
let ann: Person
let bea: Person
let work: Room
let forum: Room
let plain: Room
let shared: Room
let thread: number
let intake: TestIntake
const presses: string[] = []
beforeEach(async () => {
  telegram = await startTelegram({ limits: false })
  ;[owner, ann, bea] = ["Owner", "Ann", "Bea"].map((name) => telegram.person(name)) as [Person, Person, Person]
  const people = [owner, ann, bea]
  work = telegram.group("Work", { people })
  forum = telegram.group("Homelab", { people })
  plain = telegram.group("Felt", { people, isForum: false })
  shared = telegram.group("Sentry", { people })
  thread = owner.createTopic(shared, "Sentry").id
  presses.length = 0
  const press: ButtonHandler["press"] = async (rest) => {
    presses.push(rest)
    return { text: "Allowed." }
  }
  const about: ButtonHandler["about"] = async (rest) => ({ sessionId: null, team: rest.split(":")[0]! })
  intake = await openIntake({
    telegram,
    group: work,
    users: [String(owner.id)],
    teams,
    deps: { buttons: [{ beginning: "p", about, press }] },
  })
  intake.start()
})
afterEach(async () => {
  await intake.dispose()
  await telegram.close()
})

function teams(dir: string) {
  const chats = {
    homelab: { id: String(forum.id), thread: null, users: [String(ann.id)] },
    felt: { id: String(plain.id), thread: null, users: [String(bea.id)] },
    sentry: { id: String(shared.id), thread, users: [] },
  }
  const team = ([name, chat]: [string, (typeof chats)["homelab"]]) => {
    const project = join(dir, name)
    mkdirSync(project, { recursive: true })
    const rest = { description: "", platform: "claude-code", skipPermissions: false, permissionMode: "default" }
    return [name, { project, chat, ...rest, whenAway: "keep" as const, taskStateFile: false }] as const
  }
  return Object.fromEntries(Object.entries(chats).map((entry) => team(entry as [string, (typeof chats)["homelab"]])))
}

const toTeams = async () => (await intake.messages()).map(({ team, text }) => `${team}: ${text}`).toSorted()
const refusals = async () => (await intake.audit()).filter((line) => line.includes("channel.refused"))

test("what is written in a team's group, or in its thread, goes to that team; in the common group to nobody", async () => {
  ann.write(forum, "fix the DNS record")
  bea.write(plain, "update the backend")
  owner.write(shared, "look at the alerts", { thread })
  owner.write(shared, "outside of the thread")
  owner.write(work, "for nobody")
  await intake.settled()
  expect(await toTeams()).toEqual([
    "felt: update the backend",
    "homelab: fix the DNS record",
    "sentry: look at the alerts",
  ])
  expect((await intake.answers()).filter((text) => text.startsWith("Here I only take commands"))).toHaveLength(2)
})

test("who is allowed in one group only can do nothing in another, nor write to another team's session", async () => {
  const { thread: own } = await intake.session("homelab", { group: forum })
  const { thread: common } = await intake.session("other")
  ann.write(forum, "mine", { thread: own })
  ann.write(plain, "not mine")
  ann.write(shared, "not mine either", { thread })
  ann.write(work, "nor this", { thread: common })
  ann.write(ann.chatWith(telegram.bot()), "/new homelab")
  bea.write(forum, "hello", { thread: own })
  await intake.settled()
  expect((await intake.messages()).map(({ text }) => text)).toEqual(["mine"])
  expect(await refusals()).toEqual([
    expect.stringContaining(`telegram:${ann.id}`),
    expect.stringContaining(`telegram:${bea.id}`),
  ])
})

test("a button press counts for a team only by those who may act in the group it is pressed in, whatever the button's data says", async () => {
  const button = async (room: Room, data: string) => {
    const answer = await fetch(`${telegram.apiRoot}/bot${telegram.token}/sendMessage`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        chat_id: room.id,
        text: "May it?",
        reply_markup: { inline_keyboard: [[{ text: "Allow", callback_data: data }]] },
      }),
    })
    return ((await answer.json()) as { result: { message_id: number } }).result.message_id
  }
  const told = async (by: Person, room: Room, data: string) => {
    const press = by.press(room, await button(room, data), "Allow")
    return (await telegram.waitFor(() => press.answer(), 20_000)).text
  }
  const no = "You are not on the list of people who may do this."
  expect(await told(ann, forum, "p:homelab:q")).toBe("Allowed.")
  // As a client that was tampered with would send it.
  expect(await told(ann, forum, "p:felt:q")).toBe(no)
  expect(await told(ann, plain, "p:felt:q")).toBe(no)
  expect(await told(bea, plain, "p:felt:q")).toBe("Allowed.")
  expect(await told(owner, plain, "p:felt:q")).toBe("Allowed.")
  expect(presses).toEqual(["homelab:q", "felt:q", "felt:q"])
})

test("a code of a team lets in for its chat only; removing somebody ends all of it", async () => {
  bea.write(shared, `/pair ${(await intake.pairing.issue("sentry")).code}`, { thread })
  await intake.settled()
  bea.write(shared, "now I may", { thread })
  bea.write(forum, "but not here")
  await intake.settled()
  expect(await toTeams()).toEqual(["sentry: now I may"])
  expect(await intake.pairing.remove(String(bea.id))).toBe(true)
  bea.write(shared, "no longer", { thread })
  await intake.settled()
  expect(await toTeams()).toEqual(["sentry: now I may"])
})

test("commands in a team's group show and start what is of that team", async () => {
  await intake.session("homelab", { group: forum })
  await intake.session("felt", { group: plain }).catch(() => {})
  owner.write(forum, "/sessions")
  ann.write(forum, "/new felt")
  ann.write(forum, "/new /")
  await intake.settled()
  const answers = await intake.answers()
  expect(answers[0]).toContain("homelab")
  expect(answers.join()).not.toContain("felt")
  expect(answers.slice(1)).toEqual([expect.stringMatching(/^\/new <team>; in this chat only/), answers[1]])
})

test("a group that became another one is still its team's", async () => {
  const next = telegram.migrate(plain)
  await intake.settled()
  bea.write(next, "still here")
  await intake.settled()
  expect(await toTeams()).toEqual(["felt: still here"])
})
