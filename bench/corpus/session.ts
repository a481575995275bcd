import { closeSync, mkdirSync, openSync, utimesSync, writeFileSync, writeSync } from "node:fs"
import { dirname } from "node:path"
import type { Random } from "./random.ts"
import type { Texts } from "./text.ts"

/** What a platform's writer is given for one session. */
export interface SessionSpec {
  homeDir: string
  random: Random
  texts: Texts
  /** The folder that the agent worked in. It need not exist. */
  project: string
  /** How much to write, about. */
  bytes: number
  startMs: number
  /** A tool answers with this much, once. */
  hugeResult?: number
}

export interface WrittenSession {
  nativeId: string
  bytes: number
  files: number
  endMs: number
}

/** One kind of agent's way of writing its sessions down. */
export interface CorpusPlatform {
  id: string
  /** Of all bytes, relative to the others. */
  share: number
  /** How big its sessions are, relative to the others. */
  weight: number
  /** Bytes of its records for each byte of conversation: escapes, and what is said twice. */
  growth: number
  write(spec: SessionSpec): WrittenSession
  /** For what all sessions share. */
  finish?(homeDir: string): void
}

/** One thing after the other happens in a session. */
export interface Step {
  kind: "prompt" | "thinking" | "reply" | "call" | "result" | "compaction"
  text: string
  atMs: number
  /** Of the call that belongs to it. */
  callId: string
  tool: string
  /** Steps of the same answer share it. */
  answerId: string
}

const TOOLS = ["Bash", "Read", "Edit", "Grep", "Write", "WebFetch"]

/** A conversation of about as many bytes, platform aside. */
export function* conversation(spec: SessionSpec, overhead: number): Generator<Step> {
  const { random, texts } = spec
  let { startMs: atMs, hugeResult } = spec
  let left = spec.bytes
  const step = (kind: Step["kind"], text: string, of: Partial<Step> = {}): Step => {
    left -= text.length + overhead
    atMs += 500 + random.below(20_000)
    return { kind, text, atMs, callId: "", tool: "", answerId: "", ...of }
  }
  while (left > 0) {
    yield step("prompt", texts.prose(Math.min(random.size(180), 20_000)))
    for (let calls = random.size(4); calls > 0 && left > 0; calls--) {
      const answerId = `msg_${random.hex(24)}`
      if (random.chance(0.4)) yield step("thinking", texts.prose(random.size(500)), { answerId })
      if (random.chance(0.5)) yield step("reply", texts.prose(random.size(300)), { answerId })
      const of = { answerId, callId: `toolu_${random.hex(24)}`, tool: random.pick(TOOLS) }
      const isEdit = of.tool === "Edit" || of.tool === "Write"
      yield step("call", isEdit ? texts.code(random.size(900)) : texts.path(), of)
      const length = hugeResult ?? Math.min(random.size(2_000, 1.4), 2_000_000)
      hugeResult = undefined
      yield step("result", texts.output(length), of)
    }
    yield step("reply", texts.prose(random.size(900)), { answerId: `msg_${random.hex(24)}` })
    if (random.chance(0.02)) yield step("compaction", texts.prose(4_000))
  }
}

/** Writes lines in big pieces, and gives the file the time of its last record, as it would have. */
export class LineFile {
  readonly path: string
  bytes = 0
  readonly #file: number
  #pending: string[] = []
  #pendingChars = 0

  constructor(path: string) {
    this.path = path
    mkdirSync(dirname(path), { recursive: true })
    this.#file = openSync(path, "w")
  }

  add(record: object): void {
    const line = `${JSON.stringify(record)}\n`
    this.#pending.push(line)
    this.#pendingChars += line.length
    if (this.#pendingChars > 1_000_000) this.#flush()
  }

  close(atMs: number): void {
    this.#flush()
    closeSync(this.#file)
    touch(this.path, atMs)
  }

  #flush(): void {
    this.bytes += writeSync(this.#file, this.#pending.join(""))
    this.#pending = []
    this.#pendingChars = 0
  }
}

export function put(path: string, content: string | Buffer, atMs: number): number {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  touch(path, atMs)
  return Buffer.byteLength(content)
}

export function touch(path: string, atMs: number): void {
  utimesSync(path, atMs / 1000, atMs / 1000)
}

export const iso = (atMs: number) => new Date(atMs).toISOString()
