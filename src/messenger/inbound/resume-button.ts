import type { SessionId } from "../../domain/ids.ts"
import { BUTTON, type ButtonHandler } from "../../domain/outgoing.ts"
import type { Resuming, Started } from "../../domain/resuming.ts"

/** The Resume button of an ended session: it continues and gets its pending messages. */
export function makeResumeButton({ resume }: Pick<Resuming, "resume">): ButtonHandler {
  return {
    beginning: BUTTON.resume,
    about: async (sessionId) => ({ sessionId: sessionId as SessionId, team: null }),
    async press(sessionId) {
      const started = await resume(sessionId as SessionId)
      return { text: startedWords(started), isAlert: !started.isUp || started.asks !== undefined }
    },
  }
}

export function startedWords(started: Started): string {
  if (!started.isUp) return `Not started: ${started.why}.`
  if (started.how === "running") return "It runs already."
  const begun =
    started.how === "resumed" ? "The session continues." : "A new session has started, with a topic of its own."
  return started.asks === undefined ? begun : `${begun} It asks at its terminal: ${started.asks}`
}
