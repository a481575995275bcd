import { makeAnalyticsTable } from "./analytics.ts"
import { makeBindings } from "./bindings.ts"
import { makeBots, makeBudgets, makeCards, makeHolds, makePeople, makeRoles, makeTeamPeople } from "./channels.ts"
import { makeDeliveries } from "./deliveries.ts"
import type { Db, StoreDialect } from "./dialect.ts"
import { makeFollowedFolders } from "./folders.ts"
import { makeForgetting } from "./forgetting.ts"
import { makeJournal } from "./journal.ts"
import { makeOrigins } from "./origins.ts"
import { makePairs } from "./pairs.ts"
import { makeAudit, makePermissions } from "./permissions.ts"
import { makePosts } from "./posts.ts"
import { makeProjects } from "./projects.ts"
import { makeRoutes } from "./routes.ts"
import { makeRuns } from "./runs.ts"
import { makeSessionTable } from "./sessions.ts"
import { makeSources } from "./sources.ts"
import { makeTaskStates } from "./task-states.ts"
import { makeThoughts } from "./thoughts.ts"
import { makeTopics } from "./topics.ts"
import { makeTurns } from "./turns.ts"
import { makeUpdates } from "./updates.ts"
import { makeWaitNotices } from "./wait-notices.ts"

const MAKERS = {
  projects: makeProjects,
  sessions: makeSessionTable,
  runs: makeRuns,
  thoughts: makeThoughts,
  turns: makeTurns,
  sources: makeSources,
  origins: makeOrigins,
  folders: makeFollowedFolders,
  forgetting: makeForgetting,
  bindings: makeBindings,
  journal: makeJournal,
  deliveries: makeDeliveries,
  routes: makeRoutes,
  posts: makePosts,
  updates: makeUpdates,
  taskStates: makeTaskStates,
  pairs: makePairs,
  permissions: makePermissions,
  audit: makeAudit,
  analytics: makeAnalyticsTable,
  topics: makeTopics,
  bots: makeBots,
  people: makePeople,
  teamPeople: makeTeamPeople,
  budgets: makeBudgets,
  cards: makeCards,
  waitNotices: makeWaitNotices,
  holds: makeHolds,
  roles: makeRoles,
}

export type AllTables = { readonly [Name in keyof typeof MAKERS]: ReturnType<(typeof MAKERS)[Name]> }

export function allTables(...on: On): AllTables {
  return Object.fromEntries(Object.entries(MAKERS).map(([name, make]) => [name, make(...on)])) as unknown as AllTables
}

/** Each is made when it is first asked for: every write opens a transaction, and uses three or four of them. */
export function tablesWhenAsked(...on: On): AllTables {
  return new WhenAsked(on) as unknown as AllTables
}

type On = [db: Db, dialect: StoreDialect, onMoved: () => Promise<void>]

class WhenAsked {
  readonly on: On
  constructor(on: On) {
    this.on = on
  }
}

for (const [name, make] of Object.entries(MAKERS)) {
  Object.defineProperty(WhenAsked.prototype, name, {
    get(this: WhenAsked) {
      const value = make(...this.on)
      Object.defineProperty(this, name, { value })
      return value
    },
  })
}
