import type { HookEvent } from "../../domain/hook.ts"
import type { Project } from "../../domain/project.ts"
import type { Store } from "../../domain/store.ts"
import type { Briefs } from "./brief.ts"

export interface BriefContextSettings {
  /** What a new session gets: nothing, a pointer to the last session, or a brief of the project. */
  onStart: "off" | "pointer" | "brief"
  maxTokens: number
}

interface Begun {
  platform: string
  event: HookEvent
  project: Project | undefined
}

/** Starts without context; resumed sessions have theirs. */
const BLIND_STARTS = new Set(["startup", "clear", "compact"])

interface Deps {
  store: Store
  briefs: Briefs
  settings: BriefContextSettings
}

export function makeBriefContext({ store, briefs, settings: { onStart, maxTokens } }: Deps) {
  return async ({ platform, event, project }: Begun): Promise<string | undefined> => {
    if (onStart === "off" || event.start === undefined || !BLIND_STARTS.has(event.start)) return undefined
    const own = event.sessionId === undefined ? undefined : await store.sessions.byNative(platform, event.sessionId)
    // A compaction loses the session's own past, so the brief is about the session itself.
    const isOwn = event.start === "compact" && own !== undefined && own.promptCount > 0
    if (!isOwn && !project) return undefined
    const about = isOwn ? { session: own } : { projectId: project!.id, except: own && [own.id] }
    if (onStart === "pointer") return (await briefs.pointer({ ...about, maxTokens }))?.text
    return (await briefs.make({ ...about, maxTokens }))?.brief
  }
}
