import type { HookEvent } from "../../domain/hook.ts"
import type { Project } from "../../domain/project.ts"
import type { Store } from "../../domain/store.ts"
import type { Briefs } from "./brief.ts"

export interface BriefContextSettings {
  /** What a session that begins is told: nothing, that there is something to resume, or where the project stood. */
  onStart: "off" | "pointer" | "brief"
  maxTokens: number
}

interface Begun {
  platform: string
  event: HookEvent
  project: Project | undefined
}

/** Sessions that go on by themselves know where they stood; these do not. */
const BLIND_STARTS = new Set(["startup", "clear", "compact"])

export function makeBriefContext({
  store,
  briefs,
  settings: { onStart, maxTokens },
}: {
  store: Store
  briefs: Briefs
  settings: BriefContextSettings
}): (begun: Begun) => Promise<string | undefined> {
  return async ({ platform, event, project }) => {
    if (onStart === "off" || event.start === undefined || !BLIND_STARTS.has(event.start)) return undefined
    const own = event.sessionId === undefined ? undefined : await store.sessions.byNative(platform, event.sessionId)
    // After a compaction it is the session's own past that the model has lost.
    const isOwn = event.start === "compact" && own !== undefined && own.promptCount > 0
    if (!isOwn && !project) return undefined
    const about = isOwn ? { session: own } : { projectId: project!.id, ...(own ? { except: [own.id] } : {}) }
    if (onStart === "pointer") return (await briefs.pointer({ ...about, maxTokens }))?.text
    return (await briefs.make({ ...about, maxTokens }))?.brief
  }
}
