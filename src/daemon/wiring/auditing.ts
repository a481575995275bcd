import { redactInside } from "../../domain/redact.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import type { Services } from "../../operations/services.ts"
import type { Home } from "../process/home.ts"
import { takeInCommands } from "./command-audit.ts"

type Permits = Services["permits"]

export interface AuditingDeps {
  home: Home
  store: Store
  clock: Clock
  permits: Permits
  redact(text: string, projectPath: string | null): string
  log: { warn(data: object, message: string): void }
}

/** What operations write into the audit, and its reading, which first takes in what commands recorded. */
export async function openAuditing({ home, store, clock, permits, redact, log }: AuditingDeps): Promise<{
  audit: Services["audit"]
  permits: Permits
}> {
  const takeIn = () =>
    takeInCommands(home, store.audit.addOnce, (path, err) =>
      log.warn({ path, err }, "a command's record is unreadable"),
    )
  // A full disk must not keep the daemon from starting: the next reading of the audit tries again.
  await takeIn().catch((err: unknown) => log.warn({ err }, "what commands recorded is not in the audit yet"))
  return {
    // A parameter may hold a secret, also where nobody expects one.
    audit: ({ data, ...entry }) =>
      store.audit.add({ atMs: clock.nowMs(), ...entry, data: redactInside(data, (text) => redact(text, null)) }),
    permits: {
      ...permits,
      async audit(filter) {
        await takeIn()
        return permits.audit(filter)
      },
    },
  }
}
