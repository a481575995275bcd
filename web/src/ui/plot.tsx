import { signal } from "@preact/signals"
import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"
import { type Series, stacked, total } from "./series.ts"

const HEIGHT_PX = 190
const COLOURS = 8
const DAY_S = 24 * 60 * 60

const dark = matchMedia("(prefers-color-scheme: dark)")
const isDark = signal(dark.matches)
dark.addEventListener("change", () => {
  isDark.value = dark.matches
})

/** Numbers over days as bars, each thing on top of the one before. The figures stand in a table below it. */
export function Plot(props: {
  days: readonly string[]
  series: readonly Series[]
  label: string
  format(value: number): string
}) {
  const { days, series, label, format } = props
  const ref = useRef<HTMLDivElement>(null)
  const scheme = isDark.value
  useEffect(() => {
    const element = ref.current!
    const styles = getComputedStyle(element)
    const colour = (name: string) => styles.getPropertyValue(name).trim()
    const axis = {
      stroke: colour("--plot-axis"),
      grid: { show: false },
      ticks: { show: false },
      font: `12px ${styles.fontFamily}`,
    }
    const bars = uPlot.paths.bars!({ size: [0.72, 34], radius: 0.12 })
    // The highest is drawn first, and the others over it.
    const order = series.map((_, index) => series.length - 1 - index)
    const sums = stacked(series)
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_PX,
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
        scales: {
          x: { time: true, range: (_, least, most) => [least - DAY_S / 2, most + DAY_S / 2] },
          y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
        },
        axes: [
          {
            ...axis,
            size: 30,
            space: 48,
            incrs: [1, 2, 7, 14, 30, 60, 120].map((count) => count * DAY_S),
            values: (_, ticks) => ticks.map(dayName),
          },
          {
            ...axis,
            grid: { stroke: colour("--plot-grid"), width: 1 },
            size: 52,
            values: (_, ticks) => ticks.map(format),
          },
        ],
        series: [
          { label: "Day", value: (_, at) => (at === null ? "all" : dayName(at)) },
          ...order.map((index) => ({
            label: series[index]!.label,
            fill: colour(nameOf(series[index]!)),
            width: 0,
            paths: bars,
            points: { show: false },
            value: (_: uPlot, __: number | null, ___: number, at: number | null) =>
              format(at === null ? total(series[index]!.values) : series[index]!.values[at]!),
          })),
        ],
      },
      [days.map((day) => new Date(`${day}T00:00`).getTime() / 1000), ...order.map((index) => sums[index]!)],
      element,
    )
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      plot.destroy()
    }
  }, [days, series, scheme])
  const parts = series.map((one) => `${one.label} ${format(total(one.values))}`).join(", ")
  return <div ref={ref} class="plot" role="img" aria-label={`${label}: ${parts}`} />
}

const nameOf = ({ colour }: Series) => (colour === undefined ? "--plot-others" : `--plot-${(colour % COLOURS) + 1}`)
const dayName = (at: number) => new Date(at * 1000).toLocaleDateString(undefined, { day: "numeric", month: "short" })
