import { HOUR_MS, MINUTE_MS } from "../../lib/time.ts"

export interface TimeRange {
  fromMs: number
  /** Exclusive. */
  toMs: number
  word: string
}

/** The times that an English text mentions, relative to now, in this machine's time zone. */
export function timesIn(text: string, nowMs: number): TimeRange[] {
  let rest = text.slice(0, LONGEST_TEXT).toLowerCase()
  if (!HINT.test(rest)) return []
  const found: (TimeRange & { at: number })[] = []
  // Each match is blanked out for the next rules: "7 May 2023" must not match "May 2023" too.
  for (const [pattern, rangeOf] of RULES)
    rest = rest.replace(pattern, (...args) => {
      const groups = args.at(-1) as Groups
      const word = args[0] as string
      const range = found.length < MOST_TIMES ? rangeOf(groups, new Date(nowMs)) : null
      if (range === null || !(range[0].getTime() < range[1].getTime())) return word
      found.push({ fromMs: range[0].getTime(), toMs: range[1].getTime(), word: word.trim(), at: args.at(-3) as number })
      return "\u0000".repeat(word.length)
    })
  return found.sort((a, b) => a.at - b.at).map(({ fromMs, toMs, word }) => ({ fromMs, toMs, word }))
}

const LONGEST_TEXT = 2_000
const MOST_TIMES = 8

type Groups = Record<string, string | undefined>
type Range = [from: Date, to: Date]

const MONTHS = "january february march april may june july august september october november december".split(" ")
const DAYS = "sunday monday tuesday wednesday thursday friday saturday".split(" ")
const NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ")

const MONTH =
  "(?<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\\.?"
const DAY = "(?<day>[0-3]?\\d)(?:st|nd|rd|th)?"
const YEAR = "(?<year>(?:19|20)\\d\\d)"
const COUNT = `(?<count>\\d{1,3}|an?|a couple of|${NUMBERS.join("|")})`
const UNIT = "(?<unit>minute|hour|day|week|month|year)"

/** Fast path: each rule needs one of these, and most queries have none. */
const HINT = /(?:19|20)\d\d|day|night|this|ago|last|past|previous|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec/

/** More specific rules first. */
const RULES: [RegExp, (groups: Groups, now: Date) => Range | null][] = [
  [rule(`${YEAR}[-/](?<number>[01]\\d)[-/]${DAY}(?:t[\\d:.]+z?)?`), (g) => dayOf(+g.year!, +g.number! - 1, +g.day!)],
  [rule(`${DAY} (?:of )?${MONTH},? ${YEAR}`), (g) => dayOf(+g.year!, monthOf(g), +g.day!)],
  [rule(`${MONTH} ${DAY},? ${YEAR}`), (g) => dayOf(+g.year!, monthOf(g), +g.day!)],
  [rule(`${MONTH},? (?:of )?${YEAR}`), (g) => months(+g.year!, monthOf(g))],
  [rule(`${DAY} (?:of )?${MONTH}`), (g, now) => latest(now, (year) => dayOf(year, monthOf(g), +g.day!))],
  [rule(`${MONTH} ${DAY}`), (g, now) => latest(now, (year) => dayOf(year, monthOf(g), +g.day!))],
  [
    rule(`${YEAR}-(?<number>[01]\\d)`),
    (g) => (+g.number! >= 1 && +g.number! <= 12 ? months(+g.year!, +g.number! - 1) : null),
  ],
  [rule(`${COUNT} ${UNIT}s? ago`), (g, now) => ago(countOf(g), g.unit!, now)],
  [rule(`(?:last|past|previous) ${COUNT} ${UNIT}s?`), (g, now) => [back(countOf(g), g.unit!, now), now]],
  [rule("(?:the )?day before yesterday"), (_, now) => days(now, -2, -1)],
  [rule("yesterday|last night"), (_, now) => days(now, -1, 0)],
  [rule("today|this (?:morning|afternoon|evening)|tonight"), (_, now) => days(now, 0, 1)],
  [rule("past (?<unit>week|month|year)"), (g, now) => [back(1, g.unit!, now), now]],
  [rule("(?:last|previous) (?<unit>week|month|year)"), (g, now) => calendar(g.unit!, now, -1)],
  [rule("this (?<unit>week|month|year)"), (g, now) => calendar(g.unit!, now, 0)],
  [rule(`(?:on|last|this|since) (?<weekday>${DAYS.join("|")})`), (g, now) => weekday(DAYS.indexOf(g.weekday!), now)],
  // "may" and "march" alone are verbs; abbreviations alone are anything.
  [
    rule(`(?:in|since|during|last|of|until|early|late|mid)[ -]${MONTH}`),
    (g, now) => latest(now, (year) => months(year, monthOf(g))),
  ],
  [
    rule(`(?<month>${MONTHS.filter((month) => month !== "may" && month !== "march").join("|")})`),
    (g, now) => latest(now, (year) => months(year, monthOf(g))),
  ],
  [
    rule(`(?:in|since|during|of|year|early|late)[ -]${YEAR}`),
    (g) => [new Date(+g.year!, 0), new Date(+g.year! + 1, 0)],
  ],
]

/** Allows several spaces, and requires word boundaries. */
function rule(source: string): RegExp {
  return new RegExp(`(?<![\\w-])(?<whole>${source.replaceAll(" ", "\\s{1,5}")})(?![\\w-])`, "g")
}

function monthOf(groups: Groups): number {
  return MONTHS.findIndex((month) => month.startsWith(groups.month!.slice(0, 3)))
}

function countOf(groups: Groups): number {
  const written = groups.count!.replace(/\s+/g, " ")
  if (/^\d/.test(written)) return Number(written)
  if (written === "a" || written === "an") return 1
  return written === "a couple of" ? 2 : NUMBERS.indexOf(written)
}

/** Null for dates such as 31 February. */
function dayOf(year: number, month: number, day: number): Range | null {
  const from = new Date(year, month, day)
  return from.getMonth() === month && from.getDate() === day && month >= 0
    ? [from, new Date(year, month, day + 1)]
    : null
}

function months(year: number, month: number): Range {
  return [new Date(year, month), new Date(year, month + 1)]
}

/** Whole days, counted from today. */
function days(now: Date, from: number, to: number): Range {
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()]
  return [new Date(year, month, day + from), new Date(year, month, day + to)]
}

/** Without a year: the most recent occurrence. */
function latest(now: Date, rangeOf: (year: number) => Range | null): Range | null {
  const year = now.getFullYear()
  for (let back = 0; back <= 4; back++) {
    const range = rangeOf(year - back)
    if (range && range[0] <= now) return range
  }
  return null
}

function weekday(day: number, now: Date): Range {
  const back = (now.getDay() - day + 7) % 7 || 7
  return days(now, -back, 1 - back)
}

/** The calendar week (from Monday), month or year, relative to the current one. */
function calendar(unit: string, now: Date, offset: number): Range {
  if (unit === "month") return months(now.getFullYear(), now.getMonth() + offset)
  if (unit === "year") return [new Date(now.getFullYear() + offset, 0), new Date(now.getFullYear() + offset + 1, 0)]
  const monday = -((now.getDay() + 6) % 7)
  return days(now, monday + 7 * offset, monday + 7 * (offset + 1))
}

function back(count: number, unit: string, now: Date): Date {
  if (unit === "minute" || unit === "hour")
    return new Date(now.getTime() - count * (unit === "hour" ? HOUR_MS : MINUTE_MS))
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()]
  if (unit === "year") return new Date(year - count, month, day)
  return unit === "month"
    ? new Date(year, month - count, day)
    : new Date(year, month, day - count * (unit === "week" ? 7 : 1))
}

/** As precise as people mean it: the day, about a week, the month, the year. */
function ago(count: number, unit: string, now: Date): Range {
  if (unit === "day") return days(now, -count, 1 - count)
  if (unit === "week") return days(now, -7 * count - 3, 4 - 7 * count)
  if (unit === "month" || unit === "year") return calendar(unit, now, -count)
  const around = back(count, unit, now).getTime()
  const slackMs = unit === "hour" ? HOUR_MS : 600_000
  return [new Date(around - slackMs), new Date(around + slackMs)]
}
