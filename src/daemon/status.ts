import { Failure } from "../domain/failure.ts"
import type { Store } from "../domain/store.ts"
import type { SystemStatus } from "../operations/services.ts"
import type { BotFacts, BotRoom } from "../reach/bot-room.ts"
import type { IndexFacts } from "../recall/core.ts"
import type { RecallRoom } from "../recall/room.ts"
import type { ReloadingRoster } from "../teams/roster.ts"
import { damagedFiles, type Home } from "./home.ts"
import type { Registration } from "./registration.ts"

/** What the daemon does and keeps, in figures. */
export async function statusOf({
  store,
  recall,
  roster,
  bot,
  home,
  registration,
  httpTrouble,
}: {
  store: Store
  recall: RecallRoom
  roster: ReloadingRoster
  bot: BotRoom
  home: Home
  registration: () => Registration
  httpTrouble: () => string | undefined
}): Promise<SystemStatus> {
  const { id, version, pid, startedAt, socket, url } = registration()
  const last = await store.journal.last()
  const trouble = httpTrouble()
  const index = await recall.facts().catch((error: unknown) => Failure.from(error))
  const facts = await store.facts()
  const place = facts.kind === "sqlite" ? home.index : facts.place
  const telegram = (await bot.facts()).bot
  const damage = damagedFiles(home).map((path) => `A damaged database was kept aside at ${path}; a new one is in use.`)
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
    search: { place, ...(index instanceof Failure ? { trouble: index.message } : searchFacts(index, last)) },
    followers: index instanceof Failure ? [] : [{ name: "recall.index", lag: last - index.position }],
    ...(telegram && { telegram: botView(telegram) }),
    notices: [...damage, ...roster.troubles()],
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
