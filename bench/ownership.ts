// Messages for the sessions of eight panes in two servers, while sessions, agents and a server end and begin beneath them.
import { tortureOwnership } from "../test/fixtures/ownership-torture.ts"
import { type Row, report, round } from "./lib.ts"

const [messages, seed] = [400, 3].map((usual, at) => Number(process.argv[at + 2] ?? usual)) as [number, number]

const result = await tortureOwnership({
  messages,
  seed,
  maxMs: 30 * 60_000,
  onProgress: (sent, seconds) => console.log(`${sent} of ${messages} after ${round(seconds, 0)} s`),
})

const none = (what: string, value: number): Row => ({ what, value, bar: "0", holds: value === 0 })
const { forEnded, endedSaid, slowestNoticeMs } = result
report(
  "ownership",
  [
    none("in a session that it was not for", result.misdelivered),
    none("submitted twice", result.duplicates),
    none("missing", result.missing),
    { what: "said to be in doubt", value: result.uncertain },
    none("out of order", result.outOfOrder),
    { what: "said that the session has ended", value: endedSaid, bar: String(forEnded), holds: endedSaid === forEnded },
    {
      what: "until that was said, at the most (ms)",
      value: slowestNoticeMs,
      bar: "2000",
      holds: slowestNoticeMs <= 2_000,
    },
    { what: "sessions", value: result.sessions },
    { what: "submitted", value: result.submitted },
    { what: "seconds", value: round(result.seconds, 0) },
  ],
  { ...result, messages, seed },
)
