import { styleText } from "node:util"
import search from "@inquirer/search"
import type { Caller } from "../domain/caller.ts"
import type { Call } from "../operations/invoke.ts"
import { clip, projectName } from "../operations/text.ts"

interface Choice {
  name: string
  value: string
  short: string
  description: string
}

/** Type, see, Enter: the id of the session that was picked; undefined when the person left. */
export async function pickSession(call: Call, caller: Caller): Promise<string | undefined> {
  try {
    return await search<string>({
      message: "Session:",
      pageSize: Math.max(5, Math.min(15, (process.stdout.rows ?? 24) - 6)),
      source: (term) => (term?.trim() ? found(call, caller, term) : newest(call, caller)),
    })
  } catch (error) {
    if (error instanceof Error && error.name === "ExitPromptError") return undefined
    throw error
  }
}

async function newest(call: Call, caller: Caller): Promise<Choice[]> {
  const { sessions } = (await call("sessions.list", { limit: 30 }, caller)) as { sessions: SessionRow[] }
  return sessions
    .filter(({ resumeCommand }) => resumeCommand !== undefined)
    .map((session) => choice({ ...session, at: session.updatedAt, about: session.resumeCommand! }))
}

async function found(call: Call, caller: Caller, query: string): Promise<Choice[]> {
  const { hits } = (await call("search", { query: `${query}*`, limit: 30 }, caller)) as { hits: HitRow[] }
  const seen = new Set<string>()
  return hits.flatMap((hit) => {
    if (hit.resumeCommand === undefined || seen.has(hit.sessionId)) return []
    seen.add(hit.sessionId)
    return choice({ ...hit, id: hit.sessionId, mcpRootUri: hit.project, about: hit.snippet })
  })
}

interface SessionRow {
  id: string
  title: string
  platform: string
  mcpRootUri?: string | undefined
  updatedAt: string
  resumeCommand?: string
}

interface HitRow {
  sessionId: string
  title: string
  platform: string
  project?: string
  at: string
  snippet: string
  resumeCommand?: string
}

interface Described {
  id: string
  title: string
  platform: string
  mcpRootUri?: string | undefined
  at: string
  about: string
}

function choice({ id, title, platform, mcpRootUri, at, about }: Described): Choice {
  const width = Math.max(20, (process.stdout.columns ?? 80) - 48)
  const when = at.slice(0, 16).replace("T", " ")
  const where = styleText("dim", `${when}  ${platform}  ${projectName(mcpRootUri)}`)
  return {
    name: `${clip(title, width)}  ${where}`,
    value: id,
    short: clip(title, width),
    description: clip(about, 300),
  }
}
