import { type CaptureSettings, redactorOf } from "../../capture/watch/rules.ts"
import type { OwnFiles } from "../../sessions/forget-files.ts"
import type { Home } from "./home.ts"
import type { FileLog } from "./log.ts"

/** The redactor, and our files outside the databases that may contain captured text. */
export function privacy(
  home: Home,
  capture: CaptureSettings,
  log: Pick<FileLog, "reopen">,
): { redact(text: string): string; ownFiles: OwnFiles } {
  const ownFiles = {
    ...{ lineFolders: [home.logs, home.spool, home.audit], copies: [home.backups] },
    onReplaced: (path: string) => path === home.log && log.reopen(),
  }
  return { redact: redactorOf(capture), ownFiles }
}
