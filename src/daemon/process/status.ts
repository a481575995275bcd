import { Failure } from "../../domain/failure.ts"
import type { Store } from "../../domain/store.ts"
import { present } from "../../lib/defined.ts"
import { loopStates } from "../../lib/supervised-loop.ts"
import { isoTime } from "../../lib/time.ts"
import type { BotFacts, BotModule } from "../../messenger/module.ts"
import type { SystemStatus } from "../../operations/system.ts"
import type { IndexFacts } from "../../search/index/core.ts"
import type { SearchModule } from "../../search/module.ts"
import type { ReloadingRoster } from "../../teams/roster.ts"
import type { Registration } from "../wiring/registration.ts"
import type { Bugs } from "./bugs.ts"
import { damagedFiles, type Home } from "./home.ts"

/** The answer of `throughline status`. */
export async function statusOf(parts: {
  store: Store
  recall: SearchModule
  roster: ReloadingRoster
  bot: BotModule
  home: Home
  registration: () => Registration
  httpTrouble: () => string | undefined
  bugs: Bugs
}): Promise<SystemStatus> {
  const { store, recall, roster, bot, home, bugs } = parts
  const { id, version, pid, startedAt, socket, url } = parts.registration()
  const last = await store.journal.last().catch((error: unknown) => Failure.from(error))
  const trouble = parts.httpTrouble()
  const index = last instanceof Failure ? last : await recall.facts().catch((error: unknown) => Failure.from(error))
  const facts = await storeFacts(store)
  const telegram = await bot.facts().then(
    (found) => found.bot,
    () => undefined,
  )
  const bug = bugs.last()
  const damage = damagedFiles(home).map((path) => `A damaged database was moved to ${path}; a new one is in use.`)
  return {
    ...{ id, version, pid, startedAt, home: home.dir, socket },
    http: present({ url, trouble }),
    memoryMb: Math.round(process.memoryUsage.rss() / 1e6),
    store: facts,
    search: {
      place: home.index,
      ...(index instanceof Failure ? { trouble: index.message } : searchFacts(index, last as number)),
    },
    followers: index instanceof Failure ? [] : [{ name: "recall.index", lag: (last as number) - index.position }],
    ...(telegram && { telegram: botView(telegram) }),
    loops: loopStates().map(({ sinceMs, ...loop }) => ({ ...loop, ...present({ since: isoTime(sinceMs) }) })),
    bugs: { count: bugs.count(), ...(bug && { last: { at: isoTime(bug.atMs), message: bug.message } }) },
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

const botView = ({ id, state, why, sinceMs }: NonNullable<BotFacts["bot"]>): SystemStatus["telegram"] =>
  present({ id, state, why, since: isoTime(sinceMs) })

function searchFacts(
  { documents, position, rebuilding }: IndexFacts,
  last: number,
): Omit<SystemStatus["search"], "place"> {
  return present({ documents, behind: last - position, rebuilding })
}
