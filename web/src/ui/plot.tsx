import { useEffect, useRef } from "preact/hooks"
import uPlot from "uplot"
import "uplot/dist/uPlot.min.css"

export interface Series {
  label: string
  values: readonly (number | null)[]
}

const HEIGHT_PX = 200
const COLOURS = ["--plot-1", "--plot-2", "--plot-3", "--plot-4", "--plot-5"]

/** Numbers over days. What it shows stands in a table beside it, for those who cannot see it and those who want the figures. */
export function Plot(props: {
  days: readonly string[]
  series: readonly Series[]
  label: string
  format?(value: number): string
}) {
  const { days, series, label, format = (value) => value.toLocaleString() } = props
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = ref.current!
    const styles = getComputedStyle(element)
    const colour = (name: string) => styles.getPropertyValue(name).trim()
    const axis = {
      stroke: colour("--plot-axis"),
      grid: { stroke: colour("--plot-grid"), width: 1 },
      ticks: { show: false },
    }
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT_PX,
        cursor: { y: false },
        scales: { x: { time: true }, y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] } },
        legend: { live: true },
        axes: [axis, { ...axis, size: 64, values: (_, ticks) => ticks.map(format) }],
        series: [
          { value: (_, at) => (at === null ? "" : new Date(at * 1000).toLocaleDateString()) },
          ...series.map((one, index) => ({
            label: one.label,
            stroke: colour(COLOURS[index % COLOURS.length]!),
            fill: series.length === 1 ? colour("--plot-fill") : "transparent",
            width: 2,
            points: { show: days.length < 3 },
            value: (_: uPlot, value: number | null) => (value === null ? "" : format(value)),
          })),
        ],
      },
      [days.map((day) => Date.parse(day) / 1000), ...series.map(({ values }) => [...values])],
      element,
    )
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }))
    resize.observe(element)
    return () => {
      resize.disconnect()
      plot.destroy()
    }
  }, [days, series, matchMedia("(prefers-color-scheme: dark)").matches])
  return <div ref={ref} class="plot" role="img" aria-label={label} />
}
