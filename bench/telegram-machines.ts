// Three daemons with a bot each in one group, then two daemons with one bot, at the pace of the day.
import { oneToken, threeMachines } from "../test/fixtures/machines.ts"
import { type Row, report, round } from "./lib.ts"

const messages = Number(process.argv[2] ?? 300)
const watchMs = Number(process.argv[3] ?? 130) * 1_000
const three = await threeMachines(messages)
const one = await oneToken(watchMs)

const SAYS_SO = /another program uses its token/
const isOne = (counts: number[]) => counts.every((count) => count === 1)
const rows: Row[] = [
  { what: "three bots: handled once", value: three.once, bar: String(messages), holds: three.once === messages },
  { what: "by another's agent", value: three.elsewhere, bar: "0", holds: three.elsewhere === 0 },
  {
    what: "answers to a command in General",
    value: three.answers.join(" "),
    bar: "1 each",
    holds: isOne(three.answers),
  },
  { what: "answers by the bot that is named", value: three.named.join(" "), bar: "1 each", holds: isOne(three.named) },
  {
    what: "one bot: gives way after, s",
    value: round(one.gaveWayMs / 1000, 1),
    bar: "60",
    holds: one.gaveWayMs < 60_000,
  },
  {
    what: "meetings in a minute",
    value: round(one.meetingsPerMinute, 2),
    bar: "1",
    holds: one.meetingsPerMinute <= 1,
  },
  { what: "handled by the first", value: one.handled, bar: String(one.written), holds: one.handled === one.written },
  {
    what: "status says so",
    value: String(SAYS_SO.test(one.saysSo)),
    bar: "true",
    holds: SAYS_SO.test(one.saysSo),
  },
  { what: "takes over after, s", value: round(one.tookOverMs / 1000, 1), bar: "90", holds: one.tookOverMs <= 90_000 },
]
report("telegram-machines", rows, { three, one })
