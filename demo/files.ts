import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"

/** Writes agents' files as the agents would: with the modification time of the last message. */
export interface Files {
  userDir: string
  lines(path: string, records: readonly object[], atMs: number): void
  json(path: string, value: object, atMs: number): void
  text(path: string, text: string, atMs: number): void
}

export function makeFiles(userDir: string): Files {
  const text = (path: string, content: string, atMs: number) => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(path, content, { mode: 0o600 })
    utimesSync(path, atMs / 1000, atMs / 1000)
  }
  return {
    userDir,
    text,
    json: (path, value, atMs) => text(path, JSON.stringify(value, null, 2), atMs),
    lines: (path, records, atMs) => text(path, records.map((record) => `${JSON.stringify(record)}\n`).join(""), atMs),
  }
}

export const iso = (atMs: number) => new Date(atMs).toISOString()

/** About: the figures of a sample need no tokenizer. */
export const textTokens = (text: string) => Math.ceil(text.length / 4)
