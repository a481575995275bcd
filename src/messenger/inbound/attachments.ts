import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import type { Channel, ChannelTrouble, IncomingFile, IncomingMessage } from "../../domain/channel.ts"
import { Failure } from "../../domain/failure.ts"
import type { Session } from "../../domain/session.ts"
import { kindOf } from "../../lib/untrusted-file.ts"
import { safeName, saveToInbox } from "./inbox.ts"

export interface AttachmentDeps {
  channel: Channel
  tempDir: string
  /** Transcribes a file with the configured command; undefined where none is set. */
  transcribe: ((path: string, signal: AbortSignal) => Promise<string>) | undefined
}

/** The result for files: text for the agent, the reason why there is none, or a retry. */
export type Brought =
  | { kind: "words"; text: string; told?: string }
  | { kind: "not"; why: string }
  | { kind: "later"; why: string; inMs: number }

const PASSING: ReadonlySet<ChannelTrouble["kind"]> = new Set(["away", "unclear", "wait"])
const TRY_AGAIN_MS = 5_000

export type Attachments = ReturnType<typeof makeAttachments>

export function makeAttachments({ channel, tempDir, transcribe }: AttachmentDeps) {
  const fetched = async ({ fileId, bytes, name }: IncomingFile) => {
    const most = channel.can.maxFetchBytes
    if (bytes !== null && bytes > most) return no(`${name ?? "The file"} is too big: at most ${megabytes(most)}.`)
    const told = await channel.fetchFile(fileId)
    if (told.ok) return { kind: "file" as const, file: told.value }
    const { trouble } = told
    if (!PASSING.has(trouble.kind))
      return no(`The file could not be fetched: ${"why" in trouble ? trouble.why : trouble.kind}.`)
    const inMs = trouble.kind === "wait" ? trouble.forMs : TRY_AGAIN_MS
    return { kind: "later" as const, why: "the messenger is away", inMs }
  }

  return {
    /** Stores the files of these messages in the project's folder, if there is one. */
    async keep(messages: readonly IncomingMessage[], dir: string | undefined): Promise<Brought> {
      if (dir === undefined || kindOf(dir) !== "folder")
        return no("The session's folder is no longer on this machine; the file was not stored.")
      const paths: string[] = []
      for (const { files, atMs } of messages)
        for (const file of files) {
          const found = await fetched(file)
          if (found.kind !== "file") return found
          const name = file.name ?? nameOf(file, found.file.name)
          try {
            paths.push(await saveToInbox(dir, { name, bytes: found.file.bytes, atMs }))
          } catch (error) {
            return no(`The file could not be stored: ${Failure.from(error).message}.`)
          }
        }
      return { kind: "words", text: withPaths(messages, paths) }
    },

    /** Transcribes a voice message. */
    async hear(message: IncomingMessage, signal: AbortSignal): Promise<Brought> {
      const file = message.files.find(({ kind }) => kind === "voice")!
      if (!transcribe) return no(NO_TRANSCRIBER)
      const found = await fetched(file)
      if (found.kind !== "file") return found
      const dir = await mkdtemp(join(tempDir, "tl-voice-"))
      try {
        const path = join(dir, safeName(found.file.name))
        await writeFile(path, found.file.bytes, { mode: 0o600 })
        const text = (await transcribe(path, signal)).trim()
        if (text === "") return no("No speech was recognised in the voice message.")
        return { kind: "words", text: [message.text, text].filter((part) => part !== "").join("\n"), told: text }
      } catch (error) {
        if (signal.aborted) throw error
        return no(`The voice message could not be transcribed: ${Failure.from(error).message}.`)
      } finally {
        await rm(dir, { recursive: true, force: true })
      }
    },
  }
}

/** Names the files in words that any agent understands, below their captions. */
function withPaths(messages: readonly IncomingMessage[], paths: readonly string[]): string {
  const caption = messages.map(({ text }) => text).filter((text) => text !== "")
  const files =
    paths.length === 1 ? `The file is ${paths[0]}` : `The files are:\n${paths.map((path) => `- ${path}`).join("\n")}`
  return [...caption, files].join("\n\n")
}

/** The part of such a text that names the files, with the blank lines before it. */
export const filesIn = (text: string) => /(?:^|\n\n)The files? (?:is \/|are:\n)[\s\S]*$/.exec(text)?.[0] ?? ""

/** The agent's working folder, which it may read, or its project. */
export function folderOf({ projectPath, rootUri }: Session): string | undefined {
  const roots = rootUri?.startsWith("file://") ? [fileURLToPath(rootUri)] : []
  for (const dir of [...(projectPath === null ? [] : [projectPath]), ...roots]) if (kindOf(dir) === "folder") return dir
  return undefined
}

function nameOf({ kind }: IncomingFile, stored: string): string {
  const end = /\.\w{1,8}$/.exec(stored)?.[0] ?? ""
  return `${kind}${end}`
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 1_000_000)} MB`
const no = (why: string): Brought & { kind: "not" } => ({ kind: "not", why })
const NO_TRANSCRIBER =
  "Voice messages need a program that transcribes them. Set telegram.transcriber to its command: it gets the file's path as its last argument, and prints the words."
