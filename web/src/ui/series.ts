/** What one thing had on each of the days that are shown. */
export interface Series {
  label: string
  values: readonly number[]
  /** The same thing has the same colour in every plot; without one it is what is left over. */
  colour?: number
}

/** All days from the first to the last, those too on which nothing was said. */
export function everyDay(days: readonly string[]): string[] {
  const [first, last] = [days[0], days.at(-1)]
  const all: string[] = []
  if (first === undefined || last === undefined) return all
  // At noon: a day that is an hour shorter or longer is still that day.
  for (const at = new Date(`${first}T12:00Z`); all.at(-1) !== last; at.setUTCDate(at.getUTCDate() + 1))
    all.push(at.toISOString().slice(0, 10))
  return all
}

/** One series for each of those that had most, and one for the others together; without those that had nothing. */
export function seriesOf<Day extends { day: string }>(
  all: readonly { label: string; days: readonly Day[] }[],
  dates: readonly string[],
  { of, most, rest }: { of(day: Day): number | undefined; most: number; rest?: readonly Day[] },
): Series[] {
  const place = new Map(dates.map((day, index) => [day, index]))
  const spread = (days: readonly Day[]) => {
    const values = dates.map(() => 0)
    for (const day of days) values[place.get(day.day)!]! += of(day) ?? 0
    return values
  }
  const each = all
    .map(({ label, days }, colour) => ({ label, values: spread(days), colour }))
    .filter(({ values }) => total(values) > 0)
    .sort((a, b) => total(b.values) - total(a.values))
  const shown = each.slice(0, most)
  const whole = rest ? spread(rest) : dates.map((_, index) => total(each.map(({ values }) => values[index]!)))
  const others = whole.map((value, index) => value - total(shown.map(({ values }) => values[index]!)))
  // Sums of cents differ in a digit that means nothing.
  return total(others) > total(whole) * 1e-6 ? [...shown, { label: "others", values: others }] : shown
}

/** Each on top of those before it. */
export function stacked(series: readonly Series[]): number[][] {
  const sums: number[][] = []
  for (const { values } of series) sums.push(values.map((value, index) => value + (sums.at(-1)?.[index] ?? 0)))
  return sums
}

export const total = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0)
