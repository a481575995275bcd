import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Command } from "commander"
import { client } from "../../surfaces/http/client.ts"
import type { Home } from "../process/home.ts"
import type { CommandContext } from "./context.ts"
import { openForPerson } from "./terminal.ts"

/** `throughline dashboard`: opens the page with the key in it. */
export function addDashboardCommand(
  program: Command,
  { home, calls, caller, write }: Pick<CommandContext, "home" | "calls" | "caller" | "write">,
): void {
  program
    .command("dashboard")
    .description("Open the dashboard in the browser")
    .option("--no-open", "only print the URL")
    .option("--json", "print the URL as JSON and do not open it")
    .action(async ({ open, json }: { open: boolean; json?: boolean }) => {
      const { url, address } = await client(calls.call, caller)("dashboard.key", {})
      if (json) return write(`${JSON.stringify({ url, address }, null, 2)}\n`)
      const isOpened = open && (await openForPerson(pageTo(home, address)))
      write(
        `${isOpened ? "Opened" : "Open"} ${address}\n\nThis URL contains a key. Until the daemon stops, anyone who has it can do what you can do there.\n`,
      )
    })
}

/** Command lines are visible to every user of the machine, so the browser opens a file that only its owner can read. */
function pageTo(home: Home, address: string): string {
  const path = join(home.dir, "dashboard.html")
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${address}"><title>Throughline</title>`
  writeFileSync(path, page, { mode: 0o600 })
  return path
}
