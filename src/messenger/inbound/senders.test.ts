import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { openIntake, type TestIntake } from "../../../test/fixtures/intake.ts"
import type { Person } from "../../../test/fixtures/telegram/person.ts"
import { startTelegram } from "../../../test/fixtures/telegram/start.ts"
import type { Telegram } from "../../../test/fixtures/telegram/telegram.ts"
import type { Room } from "../../../test/fixtures/telegram/world.ts"
import { because } from "../../domain/reason.ts"
import { inChannel } from "./admit.ts"
import { COMMANDS } from "./commands.ts"

/** Every command, those that are not offered too; `rest` makes one act where it would only answer. */
const commands: { name: string; rest?: string }[] = [
  ...COMMANDS.map(({ name }) => ({ name })),
  { name: "stop", rest: "and delete everything" },
  { name: "new", rest: "/" },
  { name: "resume", rest: "0" },
  { name: "start" },
  { name: "pair" },
  { name: "clear" },
]

let telegram: Telegram
let group: Room
let intake: TestIntake
let thread: number
let interrupted = 0
const senders: Record<string, Person> = {}
beforeAll(async () => {
  telegram = await startTelegram({ limits: false })
  const [ada, bob, eve, mallory] = ["Ada", "Bob", "Eve", "Mallory"].map((name) => telegram.person(name)) as Person[]
  group = telegram.group("Work", { people: [ada!, bob!, eve!, mallory!] })
  Object.assign(senders, { configured: ada, paired: bob, stranger: eve, removed: mallory, anonymous: ada!.anonymous })
  intake = await openIntake({
    telegram,
    group,
    users: [String(ada!.id)],
    interrupt: async () => {
      interrupted++
      return { interrupted: false, reason: because("agent_idle").words }
    },
  })
  intake.start()
  thread = (await intake.session("shop")).thread
  for (const person of [bob!, mallory!]) {
    person.write(group, `/pair ${(await intake.pairing.issue()).code}`)
    await intake.settled()
  }
  expect(await intake.pairing.remove(String(mallory!.id))).toBe(true)
}, 120_000)
afterAll(async () => {
  await intake.dispose()
  await telegram.close()
})

const outcomes = async () =>
  (await intake.store.deliveries.ofChannel(inChannel("telegram"), ["done", "failed"])).map(({ outcome }) => outcome)

/** What became of one message, and whether anything was done because of it. */
async function outcomeOf(send: () => unknown) {
  const facts = async () => ({
    messages: (await intake.messages()).length,
    topic: await intake.store.topics.byThread("telegram", String(group.id), thread),
    interrupted,
  })
  const [before, then] = [await facts(), (await outcomes()).length]
  send()
  await intake.settled()
  const fresh = (await outcomes()).slice(then)
  expect(fresh).toHaveLength(1)
  const now = await facts()
  return { outcome: fresh[0], hasActed: JSON.stringify(now) !== JSON.stringify(before) }
}

const texts = commands.map(({ name, rest }) => (rest === undefined ? `/${name}` : `/${name} ${rest}`))

describe.each([
  ["stranger", "refused: not on the list"],
  ["removed", "refused: not on the list"],
  ["anonymous", "refused: anonymous"],
])("sent by one who is %s", (sender, outcome) => {
  test.each(texts)(
    "%s does nothing",
    async (text) => {
      expect(await outcomeOf(() => senders[sender]!.write(group, text, { thread }))).toEqual({
        outcome,
        hasActed: false,
      })
    },
    60_000,
  )
})

describe.each(["configured", "paired"])("sent by one who is %s", (sender) => {
  test.each(texts)(
    "%s is let through",
    async (text) => {
      const { outcome } = await outcomeOf(() => senders[sender]!.write(group, text, { thread }))
      expect(outcome).not.toMatch(/^refused/)
    },
    60_000,
  )

  test.each(texts)(
    "%s is no command when somebody else wrote it and it is only passed on",
    async (text) => {
      const before = interrupted
      const { outcome } = await outcomeOf(() => senders[sender]!.forward(group, text, "Eve", { thread }))
      expect(outcome).not.toMatch(/^(?:\/|refused)/)
      expect(interrupted).toBe(before)
    },
    60_000,
  )
})
