import { makeBindings } from "./dialects/bindings.ts"
import type { Db, StoreDialect } from "./dialects/dialect.ts"
import { makeAnalyticsTable } from "./tables/analytics.ts"
import {
  makeApprovalRequests,
  makeBots,
  makeBudgets,
  makeHolds,
  makePeople,
  makeRoles,
  makeTeamPeople,
} from "./tables/channels.ts"
import { makeDeliveries } from "./tables/deliveries.ts"
import { makeFollowedFolders } from "./tables/folders.ts"
import { makeForgetting } from "./tables/forgetting.ts"
import { makeJournal } from "./tables/journal.ts"
import { makeOrigins } from "./tables/origins.ts"
import { makePairs } from "./tables/pairs.ts"
import { makeAudit, makePermissions } from "./tables/permissions.ts"
import { makePresence } from "./tables/presence.ts"
import { makeProjects } from "./tables/projects.ts"
import { makeRoutes, makeRuns } from "./tables/runs.ts"
import { makeSessionTable } from "./tables/sessions.ts"
import { makeSources } from "./tables/sources.ts"
import { makeTaskStates } from "./tables/task-states.ts"
import { makeThoughts } from "./tables/thoughts.ts"
import { makeTopics } from "./tables/topics.ts"
import { makeTurns } from "./tables/turns.ts"
import { makeUpdates } from "./tables/updates.ts"
import { makeWaitNotices } from "./tables/wait-notices.ts"

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
  presence: makePresence,
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
  approvalRequests: makeApprovalRequests,
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
