import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Command } from "commander"
import { Failure } from "../domain/failure.ts"
import { ensureDaemon } from "./connect.ts"
import { type Home, ownerKeyOf } from "./home.ts"
import { openForPerson } from "./terminal.ts"

/** `throughline dashboard`: opens the page with the key in it. */
export function addDashboardCommand(
  program: Command,
  { home, write }: { home: Home; write(text: string): void },
): void {
  program
    .command("dashboard")
    .description("Open the dashboard in the browser")
    .option("--no-open", "only print its address")
    .option("--json", "print the address as JSON, and open nothing")
    .action(async ({ open, json }: { open: boolean; json?: boolean }) => {
      const { registration } = await ensureDaemon(home)
      if (registration.url === undefined)
        throw new Failure("daemon_unreachable", "the dashboard comes over HTTP, which is off: see `throughline doctor`")
      const address = `${registration.url}/#token=${ownerKeyOf(home)}`
      if (json) return write(`${JSON.stringify({ url: registration.url, address }, null, 2)}\n`)
      const isOpened = open && (await openForPerson(pageTo(home, address)))
      write(
        `${isOpened ? "Opened" : "Open"} ${address}\n\nThe address holds your key: whoever has it reads your conversations.\n`,
      )
    })
}

/** Others on this machine can read what a program is called with, so the browser is given a file that only we can read. */
function pageTo(home: Home, address: string): string {
  const path = join(home.dir, "dashboard.html")
  const page = `<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=${address}"><title>Throughline</title>`
  writeFileSync(path, page, { mode: 0o600 })
  return path
}
