/** A long conversation of two people across sessions weeks apart, with questions and the turns that answer them. */
export interface Conversation {
  id: string
  sessions: { atMs: number; turns: { id: string; speaker: string; text: string }[] }[]
  questions: { text: string; wanted: string[]; category: string }[]
  /** Skipped questions: without evidence, or with evidence that names no turn. */
  dropped: number
}

const CATEGORIES: Record<number, string> = { 1: "multi", 2: "temporal", 3: "open", 4: "single", 5: "adversarial" }

/** LoCoMo's file format: an array of conversations, each with its sessions under `session_<n>`. */
export function parseLocomo(json: string): Conversation[] {
  return (JSON.parse(json) as RawConversation[]).map((raw) => {
    const parts = raw.conversation
    const numbers = Object.keys(parts).flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? [])
    const sessions = numbers
      .map(Number)
      .toSorted((a, b) => a - b)
      .map((number) => ({
        atMs: timeOf(String(parts[`session_${number}_date_time`])),
        turns: (parts[`session_${number}`] as RawTurn[]).map(toTurn),
      }))
    const ids = new Set(sessions.flatMap(({ turns }) => turns.map(({ id }) => id)))
    const usable = raw.qa.filter(({ evidence }) => evidence?.length && evidence.every((id) => ids.has(id)))
    return {
      id: raw.sample_id,
      sessions,
      questions: usable.map(({ question, evidence, category }) => ({
        text: question,
        wanted: [...new Set(evidence)],
        category: CATEGORIES[category] ?? String(category),
      })),
      dropped: raw.qa.length - usable.length,
    }
  })
}

interface RawConversation {
  sample_id: string
  conversation: Record<string, unknown>
  qa: { question: string; evidence?: string[]; category: number }[]
}

interface RawTurn {
  speaker: string
  dia_id: string
  text: string
  blip_caption?: string
}

function toTurn({ speaker, dia_id, text, blip_caption }: RawTurn) {
  return { id: dia_id, speaker, text: `${speaker}: ${text}${blip_caption ? `\n[${blip_caption}]` : ""}` }
}

/** "1:56 pm on 8 May, 2023" */
function timeOf(text: string): number {
  const found = /^(\d+):(\d+) (am|pm) on (\d+) (\w+), (\d+)$/.exec(text)
  if (!found) throw new Error(`no time: ${text}`)
  const [, hour, minute, half, day, month, year] = found
  const hours = (Number(hour) % 12) + (half === "pm" ? 12 : 0)
  return Date.parse(`${day} ${month} ${year} ${String(hours).padStart(2, "0")}:${minute}:00 UTC`)
}
