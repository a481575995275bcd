import { Failure } from "../../domain/failure.ts"
import type { Store } from "../../domain/store.ts"
import { loopStates } from "../../lib/supervised-loop.ts"
import type { BotFacts, BotModule } from "../../messenger/module.ts"
import type { SystemStatus } from "../../operations/system.ts"
import type { IndexFacts } from "../../search/index/core.ts"
import type { SearchModule } from "../../search/module.ts"
import type { ReloadingRoster } from "../../teams/roster.ts"
import type { Registration } from "../wiring/registration.ts"
import type { Bugs } from "./bugs.ts"
import { damagedFiles, type Home } from "./home.ts"

/** The answer of `throughline status`. */
export async function statusOf({
  store,
  recall,
  roster,
  bot,
  home,
  registration,
  httpTrouble,
  bugs,
}: {
  store: Store
  recall: SearchModule
  roster: ReloadingRoster
  bot: BotModule
  home: Home
  registration: () => Registration
  httpTrouble: () => string | undefined
  bugs: Bugs
}): Promise<SystemStatus> {
  const { id, version, pid, startedAt, socket, url } = registration()
  const last = await store.journal.last().catch((error: unknown) => Failure.from(error))
  const trouble = httpTrouble()
  const index = last instanceof Failure ? last : await recall.facts().catch((error: unknown) => Failure.from(error))
  const facts = await storeFacts(store)
  const telegram = await bot.facts().then(
    (found) => found.bot,
    () => undefined,
  )
  const bug = bugs.last()
  const damage = damagedFiles(home).map((path) => `A damaged database was moved to ${path}; a new one is in use.`)
  return {
    id,
    version,
    pid,
    startedAt,
    home: home.dir,
    socket,
    http: { ...(url === undefined ? {} : { url }), ...(trouble === undefined ? {} : { trouble }) },
    memoryMb: Math.round(process.memoryUsage.rss() / 1e6),
    store: facts,
    search: {
      place: home.index,
      ...(index instanceof Failure ? { trouble: index.message } : searchFacts(index, last as number)),
    },
    followers: index instanceof Failure ? [] : [{ name: "recall.index", lag: (last as number) - index.position }],
    ...(telegram && { telegram: botView(telegram) }),
    loops: loopStates().map(({ sinceMs, ...loop }) => ({
      ...loop,
      ...(sinceMs === undefined ? {} : { since: new Date(sinceMs).toISOString() }),
    })),
    bugs: { count: bugs.count(), ...(bug && { last: { at: new Date(bug.atMs).toISOString(), message: bug.message } }) },
    notices: [...damage, ...roster.troubles()],
  }
}

/** Without the database, only its place and the error. */
async function storeFacts(store: Store): Promise<SystemStatus["store"]> {
  try {
    return await store.facts()
  } catch (error) {
    const none = { version: "", sizeBytes: 0, sessions: 0, thoughts: 0, journal: 0 }
    return { ...none, ...store.about, trouble: Failure.from(error).message }
  }
}

function botView({ id, state, why, sinceMs }: NonNullable<BotFacts["bot"]>): SystemStatus["telegram"] {
  return {
    id,
    state,
    ...(why !== null && { why }),
    ...(sinceMs !== null && { since: new Date(sinceMs).toISOString() }),
  }
}

function searchFacts(
  { documents, position, rebuilding }: IndexFacts,
  last: number,
): Omit<SystemStatus["search"], "place"> {
  return { documents, behind: last - position, ...(rebuilding === undefined ? {} : { rebuilding }) }
}
