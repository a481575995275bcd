import * as z from "zod"
import type { Caller } from "../domain/caller.ts"
import { Failure } from "../domain/failure.ts"
import { isUntrusted } from "../domain/origin.ts"
import type { Session } from "../domain/session.ts"
import { present } from "../lib/defined.ts"
import { ANYONE_READS, operation } from "./operation.ts"
import type { Services } from "./services.ts"
import { loggedAs } from "./session-of.ts"
import { conversationLine } from "./text.ts"
import { ConversationView, viewConversation } from "./views.ts"

export const resume = operation({
  name: "resume",
  summary: "Find a session and print the command that resumes it",
  ...ANYONE_READS,
  positional: ["which"],
  takesWords: true,
  input: z.strictObject({
    which: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe("A session id, or words to find it by (default: this project's newest session)"),
  }),
  output: z.object({
    session: ConversationView,
    argv: z.array(z.string()),
    cwd: z.string().optional(),
    command: z.string(),
  }),
  text: ({ session, command }) => `${conversationLine(session)}\n${command}`,
  async run({ sessions, capture, recall }, { which }, caller) {
    const session = await (which === undefined
      ? recall.caughtUp().then(() => newest({ sessions, capture }, caller))
      : named({ sessions, capture, recall }, which, caller))
    const way = capture.resuming(session)
    const command = capture.resumeCommand(session)
    if (!way || command === undefined)
      throw new Failure("cannot_resume", `${session.platform} cannot resume session ${session.id.slice(0, 8)}`, {
        platform: session.platform,
        sessionId: session.id,
      })
    return { session: viewConversation(session, command), argv: way.argv, cwd: way.cwd ?? undefined, command }
  },
})

const RESUMABLE = { archived: false, subagents: false, empty: false, trusted: true } as const

async function newest({ sessions, capture }: Pick<Services, "sessions" | "capture">, caller: Caller): Promise<Session> {
  const own = await sessions.projects.ofCaller(caller)
  const found = own?.project ? await sessions.list({ projectId: own.project.id, ...RESUMABLE, limit: 20 }) : []
  const session = found.find((each) => capture.resuming(each) !== undefined)
  if (session) return session
  throw new Failure("session_not_found", `no sessions for ${own?.uri ?? "this folder"}`)
}

/** A session id, the agent's or ours, or words to search for. */
async function named(
  { sessions, capture, recall }: Pick<Services, "sessions" | "capture" | "recall">,
  which: string,
  caller: Caller,
): Promise<Session> {
  const root = await sessions.projects.ofCaller(caller).catch(() => undefined)
  const native = await capture.byNativeId(which, root?.uri)
  if (native) return native
  if (/^[0-9a-f-]{4,}$/i.test(which)) {
    const session = await sessions.recovery.get(which).catch(async (error: unknown) => {
      await loggedAs(capture, which)
      return onlyNotFound(error)
    })
    if (session) return session
  }
  const own = await sessions.projects.ofCaller(caller)
  const { hits } = await recall.search({ query: which, limit: 20, ...present({ firstProjectId: own?.project?.id }) })
  const hit = hits.find(({ session }) => !isUntrusted(session) && capture.resuming(session) !== undefined)
  if (hit) return hit.session
  const logged = await loggedAs(capture, which)
  if (logged) return logged
  throw new Failure("session_not_found", `no session matches ${JSON.stringify(which)}`, { which })
}

function onlyNotFound(error: unknown): undefined {
  if (error instanceof Failure && error.code === "session_not_found") return undefined
  throw error
}
