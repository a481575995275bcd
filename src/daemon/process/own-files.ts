import { type CaptureSettings, redactorOf } from "../../capture/watch/rules.ts"
import type { OwnFiles } from "../../sessions/forget-files.ts"
import type { Home } from "./home.ts"
import type { FileLog } from "./log.ts"

/** How text is cleaned before it is stored, and which of our own files beside the databases could hold it. */
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
