import type { DriverEvent } from "../domain/driver.ts"
import type { News } from "./news.ts"

/** What agents say while they are at it, for who watches; what is kept in the end is the answer. */
export interface Words {
  begin(id: string): void
  hear(id: string, event: DriverEvent): void
  end(id: string): void
  /** What was said after so many characters, and what the agent does besides. */
  since(id: string, from: number): { text: string; at: number; doing: string | null }
}

/** Those who watch fetch the last of it a moment after the end. */
const KEPT_MS = 10_000

export function makeWords(news: News): Words {
  const said = new Map<string, { text: string; doing: string | null }>()
  return {
    begin: (id) => void said.set(id, { text: "", doing: null }),
    hear(id, event) {
      const words = said.get(id)
      if (!words) return
      if (event.kind === "text") words.text += event.text
      else if (event.kind === "compacting") words.doing = "compacting"
      else words.doing = event.state === "started" ? `${event.name} ${event.summary}`.trim() : null
      news.tell(id)
    },
    end(id) {
      const words = said.get(id)
      if (words) words.doing = null
      setTimeout(() => said.delete(id), KEPT_MS).unref()
    },
    since(id, from) {
      const { text, doing } = said.get(id) ?? { text: "", doing: null }
      return { text: text.slice(from), at: Math.max(from, text.length), doing }
    },
  }
}
