import { OVER_LIMIT } from "../../../domain/source.ts"
import { asArray, asNumber, asObject, asString, type Json } from "../records/jsonl.ts"
import { textOf } from "../records/text.ts"
import type { Message } from "./session.ts"

/** A message of opencode 2, whose parts are one value, in the form of version 1. */
export function messageOfVersion2(id: string, type: string, data: Json, createdAt: number | undefined): Message {
  const part = (name: string, value: Json) => ({ id: name, data: value, createdAt })
  const message = (role: "user" | "assistant", more: Json, parts: Message["parts"]) => ({
    id,
    data: { role, ...more },
    createdAt,
    parts,
  })
  if (data.type === OVER_LIMIT.cell) return message("user", {}, [part(id, { type: OVER_LIMIT.cell })])
  switch (type) {
    case "user":
      return message("user", {}, [part(id, { type: "text", text: data.text })])
    case "assistant": {
      const { tokens, cost, time } = data
      const content = asArray(data.content).map((item, at) => {
        const value = asObject(item) ?? {}
        return part(`${id}:${asString(value.id) ?? at}`, contentPart(value))
      })
      return message("assistant", { modelID: asObject(data.model)?.id, tokens, cost, time }, content)
    }
    case "shell":
      return message("user", {}, [part(id, shellPart(data))])
    case "compaction": {
      // A running or failed compaction leaves the conversation unchanged.
      if (data.status !== "completed") return message("assistant", {}, [part(id, { type: "unfinished compaction" })])
      const [reset, summary] = [
        { type: "compaction", auto: data.reason === "auto" },
        { type: "text", text: data.summary },
      ]
      return message("assistant", { summary: true }, [part(id, reset), part(`${id}:summary`, summary)])
    }
    default:
      return message("user", {}, [part(id, { type })])
  }
}

function contentPart(item: Json): Json {
  if (item.type === "reasoning") return { ...item, time: { start: asObject(item.time)?.created } }
  if (item.type !== "tool") return item
  const [state, time] = [asObject(item.state) ?? {}, asObject(item.time)]
  const times = { start: time?.ran ?? time?.created, end: time?.completed }
  return {
    type: "tool",
    tool: item.name,
    callID: item.id,
    state: {
      status: state.status === "streaming" ? "pending" : state.status,
      input: state.input,
      output: textOf(state.content),
      error: errorText(state),
      time: times,
    },
  }
}

/** The error, after the tool's output so far. */
function errorText({ error, content }: Json): string {
  const why = asString(asObject(error)?.message) ?? asString(error)
  return [textOf(content), why].filter(Boolean).join("\n")
}

/** A shell command run by the person. */
function shellPart({ command, status, output, exit, time, shellID }: Json): Json {
  const said = asString(asObject(output)?.output) ?? asString(output) ?? ""
  const [start, end] = [asObject(time)?.created, asObject(time)?.completed]
  const failed = (asNumber(exit) ?? 0) !== 0
  const isOver = end !== undefined || (status !== "running" && status !== undefined)
  return {
    type: "tool",
    tool: "shell",
    callID: asString(shellID) ?? "",
    state: {
      status: isOver ? (failed ? "error" : "completed") : "running",
      input: { command },
      output: said,
      error: said,
      time: { start, end },
    },
  }
}
