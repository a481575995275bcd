import type { ChannelCan } from "../../domain/channel.ts"
import { isUntrusted, UNTRUSTED_LABEL } from "../../domain/origin.ts"
import type { OutgoingButton } from "../../domain/outgoing.ts"
import type { Permission } from "../../domain/permission.ts"
import type { RichText } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { Turn } from "../../domain/turn.ts"
import type { RenderedPart, Rendering } from "../outbound/rendering.ts"
import { HEAD_UNITS } from "../outbound/words.ts"
import { approvalText, decidedText } from "./approval.ts"
import { clean } from "./clean.ts"
import { callLine, resultLine } from "./line.ts"
import { markdown } from "./markdown.ts"
import { concat, legal, marked } from "./marks.ts"
import { refusedNote } from "./notes.ts"
import { isBlank, split } from "./split.ts"
import { waitNotice } from "./waiting.ts"

export interface RenderDeps {
  store: Pick<Store, "turns" | "sessions" | "permissions" | "waitNotices" | "deliveries">
  can: Pick<ChannelCan, "maxTextUnits" | "maxFileBytes">
  /** Takes out secrets, for what was not kept without them: what is shown leaves this machine. */
  redact(text: string): string
  /** What can be answered to a permission that waits. */
  buttonsOf?(permission: Permission): OutgoingButton[][]
}

/** More messages than that become a file, with the beginning above it. */
const MOST_PARTS = 4
/** Space for the note about the file. */
const SPARE_UNITS = 100
/** The tool call of a result is among so many before it. */
const LAST_CALLS = 50

export function makeRender({ store, can, redact, buttonsOf }: RenderDeps): Rendering {
  const pieces = (body: RichText, name: string, whole: string, isSilent: boolean): RenderedPart[] => {
    const parts = split(body, can.maxTextUnits - HEAD_UNITS).filter((part) => !isBlank(part))
    if (parts.length <= MOST_PARTS) return parts.map((part) => ({ body: part, isSilent }))
    const [head] = split(body, can.maxTextUnits - HEAD_UNITS - SPARE_UNITS)
    const bytes = Buffer.from(whole.toWellFormed()).subarray(0, can.maxFileBytes)
    const note = `All of it: ${whole.length.toLocaleString("en")} characters`
    return [
      { body: concat(head!, marked("italic", "\n… continued in the file")), isSilent },
      { body: { text: note, marks: [] }, file: { name, bytes }, isSilent: true },
    ]
  }

  const live = async (seq: number): Promise<Turn | undefined> => {
    const [turn] = await store.turns.bySeqs([seq])
    return turn?.supersededAtMs === null ? turn : undefined
  }

  const line = async (seq: number): Promise<string | undefined> => {
    const turn = await live(seq)
    const session = turn && (await store.sessions.byId(turn.sessionId))
    if (!turn || !session) return undefined
    const text =
      turn.kind === "tool_call"
        ? callLine(turn, session.projectPath)
        : resultLine({ ...turn, toolName: turn.toolName ?? (await toolOf(store, turn)) })
    const mark = isUntrusted(session) ? `⚠️ ${UNTRUSTED_LABEL} · ` : ""
    return session.isSubagent ? `${mark}⤷ ${text}` : `${mark}${text}`
  }

  return {
    line,
    async parts(outgoing) {
      switch (outgoing.kind) {
        case "turn": {
          const turn = await live(outgoing.seq)
          if (!turn) return undefined
          const session = await store.sessions.byId(turn.sessionId)
          const said = session && isUntrusted(session) ? concat(WARNING, turnText(turn)) : turnText(turn)
          const parts = pieces(said, `${turn.kind}-${turn.seq}.md`, turn.text, !outgoing.isPing)
          return parts.length > 0 ? parts : undefined
        }
        case "line": {
          const text = await line(outgoing.seq)
          return text === undefined ? undefined : [{ body: { text, marks: [] }, isSilent: true }]
        }
        case "note": {
          const { body, buttons, isPing } = outgoing
          return withButtons(pieces(body, "note.txt", body.text, !isPing), buttons)
        }
        case "approval": {
          const permission = await store.permissions.byId(outgoing.permissionId)
          if (permission?.state !== "waiting") return undefined
          return [
            { body: approvalText(permission, { redact }), buttons: buttonsOf?.(permission) ?? [], isSilent: false },
          ]
        }
        case "decided": {
          const permission = await store.permissions.byId(outgoing.permissionId)
          if (permission?.state !== "waiting")
            return permission && [{ body: decidedText(permission, { redact }), isSilent: true }]
          // It has several questions: show the next one.
          return [
            { body: approvalText(permission, { redact }), buttons: buttonsOf?.(permission) ?? [], isSilent: true },
          ]
        }
        case "answer": {
          const { body, buttons, file, isPing } = outgoing
          const parts = withButtons(pieces(body, "answer.txt", body.text, !isPing), buttons)
          if (!file) return parts
          const bytes = Buffer.from(file.text.toWellFormed()).subarray(0, can.maxFileBytes)
          return [...parts.slice(0, -1), { ...parts.at(-1)!, file: { name: file.name, bytes } }]
        }
        case "waiting":
        case "waited": {
          const shown = await waitNotice(store, outgoing.noticeId, redact)
          if (!shown || (outgoing.kind === "waiting" && !shown.isWaiting)) return undefined
          return [{ body: shown.body, isSilent: true, ...(shown.buttons ? { buttons: shown.buttons } : {}) }]
        }
        case "receipt":
          return outgoing.why === null ? undefined : [{ body: refusedNote(outgoing.why), isSilent: true }]
        default:
          return undefined
      }
    },
  }
}

const WARNING = marked("bold", `⚠️ ${UNTRUSTED_LABEL}\n`)

/** Below the last message. */
function withButtons(parts: RenderedPart[], buttons: OutgoingButton[][] | undefined): RenderedPart[] {
  return buttons ? parts.map((part, index) => (index === parts.length - 1 ? { ...part, buttons } : part)) : parts
}

/** A prompt is shown as typed; a reply is Markdown. */
function turnText({ kind, text }: Turn): RichText {
  if (kind === "reply") return markdown(text)
  const words = clean(text).trim()
  const sign = kind === "prompt" ? "🧑‍💻 " : kind === "reasoning" ? "💭 " : ""
  return words === "" ? { text: "", marks: [] } : legal(marked("quote", sign + words))
}

async function toolOf(store: RenderDeps["store"], { sessionId, toolCallId, atMs }: Turn): Promise<string | null> {
  if (toolCallId === null) return null
  const query = { kinds: ["tool_call"], untilMs: atMs, limit: LAST_CALLS, maxChars: 1 } as const
  const calls = await store.turns.ofSession(sessionId, query)
  return calls.findLast((call) => call.toolCallId === toolCallId)?.toolName ?? null
}
