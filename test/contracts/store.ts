import { afterEach, beforeEach, describe } from "vitest"
import type { Store } from "../../src/domain/store.ts"
import { analyticsContract } from "./store/analytics.ts"
import { bindingsContract } from "./store/bindings.ts"
import { capturedContract } from "./store/captured.ts"
import { channelsContract } from "./store/channels.ts"
import { deliveriesContract } from "./store/deliveries.ts"
import { foldersContract } from "./store/folders.ts"
import { journalContract } from "./store/journal.ts"
import { leasesContract } from "./store/leases.ts"
import { lifetimeContract } from "./store/lifetime.ts"
import { projectsContract } from "./store/projects.ts"
import { queueContract } from "./store/queue.ts"
import { runsContract } from "./store/runs.ts"
import { sessionsContract } from "./store/sessions.ts"
import { teamsContract } from "./store/teams.ts"
import { thoughtsContract } from "./store/thoughts.ts"
import { transactionsContract } from "./store/transactions.ts"
import { sourcesContract, turnsContract } from "./store/turns.ts"

export interface OpenedStore {
  store: Store
  /** Closes the store and opens what it kept. */
  reopen(): Promise<Store>
  dispose(): Promise<void>
}

/** What every Store must do, whatever it keeps its rows in. Each test has an empty store of its own. */
export function storeContract(name: string, open: () => Promise<OpenedStore>): void {
  describe(name, () => {
    let opened: OpenedStore | undefined
    beforeEach(async () => {
      opened = await open()
    })
    afterEach(async () => {
      await opened?.dispose()
      opened = undefined
    })
    const store = () => opened!.store

    describe("projects", () => projectsContract(store))
    describe("sessions", () => sessionsContract(store))
    describe("runs", () => runsContract(store))
    describe("thoughts", () => thoughtsContract(store))
    describe("turns", () => turnsContract(store))
    describe("sources", () => sourcesContract(store))
    describe("what is captured", () => capturedContract(store))
    describe("followed folders", () => foldersContract(store))
    describe("bindings", () => bindingsContract(store))
    describe("journal", () => journalContract(store))
    describe("deliveries", () => deliveriesContract(store))
    describe("leases", () => leasesContract(store))
    describe("messages and routes", () => queueContract(store))
    describe("teams", () => teamsContract(store))
    describe("channels", () => channelsContract(store))
    describe("analytics", () => analyticsContract(store))
    describe("transactions", () => transactionsContract(store))
    describe("lifetime", () => lifetimeContract(() => opened!))
  })
}
