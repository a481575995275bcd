// Draws what a terminal shows, with the colours it shows, as a picture that follows the reader's light or dark.
const [SIZE, HEIGHT, LEFT, TOP] = [13, 18, 18, 50]
const WIDTH = SIZE * 0.602

/** `lines` as `tmux capture-pane -e -p` prints them. */
export function screenSvg(lines: readonly string[], { label, columns }: { label: string; columns: number }): string {
  const [width, height] = [Math.ceil(LEFT * 2 + columns * WIDTH), TOP + lines.length * HEIGHT + 6]
  const texts = lines.map((line, row) => {
    const spans = spansOf(line).map(
      ({ text, style }) => `<tspan${style ? ` class="${style}"` : ""}>${escaped(text)}</tspan>`,
    )
    return `<text x="${LEFT}" y="${TOP + row * HEIGHT}" xml:space="preserve">${spans.join("")}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">
<style>
  .frame { fill: #fbfbfa; stroke: #d8d8d4 } .bar { fill: #eeeeea } .dot { fill: #cfcfc9 }
  text { font: ${SIZE}px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #2b2b2a }
  .bold { font-weight: 600 } .dim { fill: #77776f } .c1 { fill: #b3261e } .c2 { fill: #2d7a3f } .c3 { fill: #8a6d1f }
  .c4 { fill: #2a5db0 } .c5 { fill: #8a3ea8 } .c6 { fill: #0b5f4f }
  @media (prefers-color-scheme: dark) {
    .frame { fill: #161817; stroke: #343836 } .bar { fill: #222524 } .dot { fill: #454a48 } text { fill: #dcdedb }
    .dim { fill: #8c918e } .c1 { fill: #f2867e } .c2 { fill: #7fd18f } .c3 { fill: #d9b65c } .c4 { fill: #8ab4f8 }
    .c5 { fill: #d5a3e8 } .c6 { fill: #6fd6bd }
  }
</style>
<rect class="frame" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9"/>
<path class="bar" d="M1 30V9.5A8.5 8.5 0 0 1 9.5 1h${width - 19}a8.5 8.5 0 0 1 8.5 8.5V30z"/>
${[18, 36, 54].map((x) => `<circle class="dot" cx="${x}" cy="15" r="5"/>`).join("")}
${texts.join("\n")}
</svg>
`
}

interface Span {
  text: string
  style: string
}

function spansOf(line: string): Span[] {
  const spans: Span[] = []
  let [bold, dim, colour] = [false, false, ""]
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is what colours are made of
  for (const [, codes, text = ""] of `\u001b[m${line}`.matchAll(/\u001b\[([\d;]*)m([^\u001b]*)/g)) {
    for (const code of (codes || "0").split(";").map(Number)) {
      if (code === 0) [bold, dim, colour] = [false, false, ""]
      else if (code === 1) bold = true
      else if (code === 2) dim = true
      else if (code === 22) [bold, dim] = [false, false]
      else if (code >= 30 && code <= 36) colour = code === 30 ? "dim" : `c${code - 30}`
      else if (code === 39) colour = ""
    }
    if (text !== "") spans.push({ text, style: [bold && "bold", dim && "dim", colour].filter(Boolean).join(" ") })
  }
  return spans
}

const escaped = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")
