import { isUntrusted } from "../../domain/origin.ts"
import type { Session } from "../../domain/session.ts"
import type { Topic } from "../../domain/topic.ts"
import { clean, shorten } from "../render/clean.ts"

/** Where sessions are mirrored. */
export interface MirrorPlace {
  channel: string
  chatId: string
  /** The thread that all sessions of a team share; null where each has its own topic. */
  sharedThreadId: number | null
  /** Host and data directory: only the daemon that created a topic acts on it. */
  home: string
  host: string
  maxNameUnits: number
}

/** `host • project • title`, without the unknown parts. */
export function topicName(
  session: Session,
  { host, maxNameUnits }: Pick<MirrorPlace, "host" | "maxNameUnits">,
): string {
  const title = UNTITLED.test(session.title) ? "" : session.title
  const mark = isUntrusted(session) ? "⚠️ untrusted" : ""
  const words = [hostWord(host), projectOf(session), mark, title].map(oneLine).filter((word) => word !== "")
  return shorten(words.join(" • "), maxNameUnits)
}

export const hostWord = (host: string) => oneLine(host.split(".")[0]!)

/** The last part of the path. */
function projectOf({ rootUri, projectPath }: Session): string {
  const path = rootUri === null ? (projectPath ?? "") : rootUri.replace(/^file:\/\//, "")
  const name = path.split(/[/\\]/).findLast((part) => part !== "") ?? ""
  try {
    return rootUri === null ? name : decodeURIComponent(name)
  } catch {
    return name
  }
}

const oneLine = (text: string) => clean(text).replace(/\s+/g, " ").trim()
const UNTITLED = /^(?:Untitled)?$/

/** The topic's link; private chats have none. */
export function topicUrl({
  chatId,
  threadId,
  sharedThreadId,
}: Pick<Topic, "chatId" | "threadId" | "sharedThreadId">): string | undefined {
  const group = /^-100(\d+)$/.exec(chatId)?.[1]
  const thread = threadId ?? sharedThreadId
  return group === undefined || thread === null ? undefined : `https://t.me/c/${group}/${thread}`
}
