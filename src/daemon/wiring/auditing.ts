import { redactInside } from "../../domain/redact.ts"
import type { Services } from "../../operations/services.ts"
import { takeInCommands } from "./command-audit.ts"
import type { CommonParts } from "./parts.ts"

type Permits = Services["permits"]

export interface AuditingDeps extends Pick<CommonParts, "home" | "store" | "clock"> {
  permits: Permits
  redact(text: string, projectPath: string | null): string
  log: { warn(data: object, message: string): void }
}

/** Writing and reading the audit; a read first imports what commands recorded. */
export async function openAuditing({ home, store, clock, permits, redact, log }: AuditingDeps): Promise<{
  audit: Services["audit"]
  permits: Permits
}> {
  const takeIn = () =>
    takeInCommands(home, store.audit.addOnce, (path, err) =>
      log.warn({ path, err }, "a command's record is unreadable"),
    )
  // A full disk must not block the start: the next read retries.
  await takeIn().catch((err: unknown) => log.warn({ err }, "what commands recorded is not in the audit yet"))
  return {
    // Any parameter may contain a secret.
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
