import { readBytes, writeWhole } from "./files.ts"

/** What setup did, so that it can be undone. */
export interface SetupRecord {
  version: 1
  agents: Record<string, AgentRecord>
}

export interface AgentRecord {
  at: string
  files: FileRecord[]
}

export interface FileRecord {
  path: string
  /** The original bytes; null when there was no file. */
  backup: string | null
  /** What we left behind: as long as the file is that, the backup is what it was before. */
  afterHash: string
  /** False once somebody else changed the file between two of our edits: the backup would undo that too. */
  restorable: boolean
}

export function readRecord(path: string): SetupRecord {
  try {
    const record = JSON.parse(readBytes(path)?.toString("utf8") ?? "") as SetupRecord
    if (record.version === 1 && typeof record.agents === "object") return record
  } catch {
    // Without a record, our entries are taken out one by one: that needs none.
  }
  return { version: 1, agents: {} }
}

export function writeRecord(path: string, record: SetupRecord): void {
  writeWhole(path, `${JSON.stringify(record, null, 2)}\n`)
}
