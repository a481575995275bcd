import { metadataWords } from "../domain/metadata.ts"
import { fitted, lineRanges, visible } from "./columns.ts"
import type { Style } from "./operation.ts"
import type { HitView } from "./search.ts"
import { clip, mark, minute, projectName } from "./text.ts"

interface Answer {
  query: string
  hits: HitView[]
  notes: string[]
}

/** Two lines per hit, for pipes and files. */
export function searchText({ query, hits, notes }: Answer): string {
  const lines = hits.map(
    ({ sessionId, at, platform, project, title, tool, snippet, metadata, untrusted }) =>
      `${mark({ untrusted })}${sessionId.slice(0, 8)}  ${minute(at)}  ${platform}  ${projectName(project)}  ${clip(title, 60)}\n    ${tool === undefined ? "" : `${tool}: `}${snippet}${metadataLine(metadata)}`,
  )
  return [
    ...lines,
    ...(hits.length === 0 ? [`No results for ${JSON.stringify(clip(query, 80))}.`] : []),
    ...notes,
  ].join("\n")
}

const metadataLine = (metadata: Record<string, unknown> | undefined) =>
  metadata === undefined ? "" : `\n    ${fitted(metadataWords(metadata), 120)}`

/** For a terminal: numbered for --open, wrapped, with matches highlighted. */
export function searchStyled({ query, hits, notes }: Answer, style: Style): string {
  const { bold, dim, accent } = style
  const indent = " ".repeat(String(hits.length).length + 2)
  const columns = style.columns - indent.length - 1
  const numbered = hits.map((hit, index) => {
    const [before, id] = [`${minute(hit.at)} · ${hit.platform} · `, hit.sessionId.slice(0, 8)]
    const project = fitted(projectName(hit.project), Math.max(8, columns - before.length - id.length - 3))
    return [
      `${dim(`${index + 1}.`.padEnd(indent.length))}${bold(fitted(hit.title, columns))}`,
      `${indent}${dim(`${before}${project} · `)}${accent(id)}`,
      ...(hit.untrusted ? [`${indent}${bold(mark(hit).trim())}`] : []),
      ...markedLines(withTool(hit), columns, style.mark).map((line) => `${indent}${line}`),
      ...(hit.metadata ? [`${indent}${dim(fitted(metadataWords(hit.metadata), columns))}`] : []),
      "",
    ].join("\n")
  })
  const first = hits[0]?.sessionId.slice(0, 8)
  const goOn = hits[0]?.resumeCommand === undefined ? "" : `; resume its session with: throughline resume ${first}`
  return [
    ...numbered,
    ...(first === undefined
      ? [`No results for ${bold(fitted(query, 80))}.`]
      : [dim(`--open 1 shows it in context${goOn}`)]),
    ...notes.map((note) => (first === undefined ? note : dim(note))),
  ].join("\n")
}

/** Prefixes a tool call with the tool's name. */
function withTool(hit: HitView): HitView {
  if (hit.tool === undefined) return hit
  const name = `${hit.tool}: `
  const marks = hit.marks.map(([from, to]): [number, number] => [from + name.length, to + name.length])
  return { ...hit, snippet: name + hit.snippet, marks }
}

function markedLines({ snippet, marks }: HitView, columns: number, mark: Style["mark"]): string[] {
  const text = visible(snippet)
  return lineRanges(text, columns).map(([start, end]) => {
    const within = marks.filter(([from, to]) => from < end && to > start)
    let [line, at] = ["", start]
    for (const [from, to] of within) {
      const [left, right] = [Math.max(from, at), Math.min(to, end)]
      line += text.slice(at, left) + mark(text.slice(left, right))
      at = right
    }
    return line + text.slice(at, end)
  })
}
