import { join } from "node:path"
import { lookAtFile, readText } from "../../lib/untrusted-file.ts"
import { asString, jsonIn } from "../shared/records/jsonl.ts"

/** The folder of a conversation: from the list of all prompts, or the list of each folder's latest conversation. */
export function workspaceOf(home: string, conversationId: string): string | undefined {
  return (
    workspacesIn(join(home, "history.jsonl"), ofPrompts).get(conversationId) ??
    workspacesIn(join(home, "cache", "last_conversations.json"), ofLatest).get(conversationId)
  )
}

/** One file covers all conversations, so cache it parsed. */
const known = new Map<string, { stamp: string; folders: Map<string, string> }>()

function workspacesIn(path: string, read: (content: string) => Map<string, string>): Map<string, string> {
  try {
    const look = lookAtFile(path, { links: "own" })
    const stamp = `${look?.mtimeMs} ${look?.size}`
    const before = known.get(path)
    if (before?.stamp === stamp) return before.folders
    const folders = read(readText(path, { links: "own" }))
    known.set(path, { stamp, folders })
    return folders
  } catch {
    return new Map()
  }
}

function ofPrompts(content: string): Map<string, string> {
  const folders = new Map<string, string>()
  for (const line of content.split("\n")) {
    const record = jsonIn(line) ?? {}
    const [id, folder] = [
      asString(record.conversationId) ?? asString(record.conversation_id),
      asString(record.workspace),
    ]
    if (id && folder) folders.set(id, folder)
  }
  return folders
}

function ofLatest(content: string): Map<string, string> {
  const entries = Object.entries(jsonIn(content) ?? {}).map(([folder, id]) => [asString(id) ?? "", folder] as const)
  return new Map(entries.filter(([id]) => id !== ""))
}
