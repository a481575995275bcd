// What is said in a messenger under bad conditions: killed over it, told to wait, killed while topics are made.
//   node bench/outbox.ts [kills|floods|births]
import { birthStorm, floodStorm } from "../test/fixtures/outbox-floods.ts"
import { killStorm } from "../test/fixtures/outbox-storms.ts"
import { type Row, report, round } from "./lib.ts"

const only = process.argv[2]
const rows: Row[] = []
const details: Record<string, unknown> = {}
const none = (what: string, value: number) => rows.push({ what, value, bar: "0", holds: value === 0 })
const all = (what: string, value: number, wanted: number) =>
  rows.push({ what, value, bar: String(wanted), holds: value === wanted })
const atMost = (what: string, value: number, most: number) =>
  rows.push({ what, value: round(value, 2), bar: `at most ${most}`, holds: value <= most })

/** As Telegram says: 20 a minute in a group; and one a second, without any burst. */
const STRICT = {
  group: [{ count: 20, windowMs: 60_000 }],
  chat: [{ count: 1, windowMs: 1_000 }],
  edits: [{ count: 30, windowMs: 60_000 }],
}

if (only === undefined || only === "kills") {
  const result = await killStorm({ sessions: 5, events: 1_000, seconds: 60, kills: 20, limits: STRICT, maxMs: 200_000 })
  details.kills = result
  all("kills: events found in the end", result.seen, result.events)
  none("kills: out of order in their topic", result.outOfOrder)
  none("kills: there twice without a mark", result.unmarkedRepeats)
  atMost("kills: marked as a possible repeat", result.marked, result.kills)
  none("kills: waiting or failed in the end", result.waiting + result.failed)
  rows.push({ what: "kills: uncertain, hit by two kills", value: result.uncertain })
  atMost("kills: topics too many", result.topics - 5, result.orphansListed)
  atMost("kills: sends in a minute", result.sendsPerMinute, 20)
  none("kills: calls although told to wait", result.callsInWaits)
  rows.push({ what: "kills: told to wait", value: result.waits })
  rows.push({ what: "kills: seconds until all was there", value: round(result.seconds, 1) })
}

if (only === undefined || only === "floods") {
  const limits = { ...STRICT, leastRetryS: 3, climb: 1.5, mostRetryS: 42 }
  const retryS = [3, 12, 42, 7]
  const result = await floodStorm({ sessions: 6, lines: 600, seconds: 60, retryS, limits, maxMs: 200_000 })
  details.floods = result
  all("floods: events found in the end", result.seen, result.wanted)
  none("floods: out of order, or there twice", result.outOfOrder + result.unmarkedRepeats)
  none("floods: not done", result.notDone)
  none("floods: calls although told to wait", result.callsInsideWindows)
  atMost("floods: slowest approval request after the wait, s", result.slowestApprovalS, 5)
  atMost("floods: sends in a minute", result.sendsPerMinute, 20)
  atMost("floods: sends in a second", result.sendsPerSecond, 1)
  atMost("floods: edits in a minute", result.editsPerMinute, 30)
  atMost("floods: slowest in another chat, s", result.slowestElsewhereS, 2)
  rows.push({ what: "floods: told to wait, s", value: result.waits.join(" ") })
  rows.push({ what: "floods: seconds until all was there", value: round(result.seconds, 1) })
}

if (only === undefined || only === "births") {
  const result = await birthStorm({ kills: 20, maxMs: 200_000 })
  details.births = result
  all("births: sessions with a topic that has all", result.told, result.sessions)
  atMost("births: orphans for one kill", result.mostForOne, 1)
  all("births: orphans that are listed", result.listed, result.orphans)
}

report("outbox", rows, details)
