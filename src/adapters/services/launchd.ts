import { join } from "node:path"
import type { Machine } from "../../domain/platform.ts"
import { SERVICE_MARK, type ServiceManager } from "../../domain/service.ts"
import { run } from "./run.ts"

/** An agent of the user's launchd, on macOS. */
export function launchd(machine: Machine, name: string, uid: number): ServiceManager {
  const label = `dev.${name}`
  const path = join(machine.homeDir, "Library", "LaunchAgents", `${label}.plist`)
  const domain = `gui/${uid}`
  const ran = (command: readonly string[]) => run(command, machine.env)
  const log = join(machine.homeDir, "Library", "Logs", `${name}.log`)
  return {
    id: "launchd",
    path,
    text: ({ argv, env }) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${SERVICE_MARK} -->
<plist version="1.0">
<dict>
  <key>Label</key>
  ${string(label)}
  <key>ProgramArguments</key>
  <array>
${argv.map((word) => `    ${string(word)}`).join("\n")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
${Object.entries(env)
  .map(([key, value]) => `    <key>${escaped(key)}</key>\n    ${string(value)}`)
  .join("\n")}
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>5</integer>
  <!-- Agents that were started from here go on when the daemon ends. -->
  <key>AbandonProcessGroup</key>
  <true/>
  <key>StandardErrorPath</key>
  ${string(log)}
</dict>
</plist>
`,
    isReachable: async () => (await ran(["launchctl", "print", domain])).code === 0,
    isActive: async () => /state = running/.test((await ran(["launchctl", "print", `${domain}/${label}`])).stdout),
    begin: [
      // A loaded service keeps the old file's settings.
      ["launchctl", "bootout", `${domain}/${label}`],
      ["launchctl", "enable", `${domain}/${label}`],
      ["launchctl", "bootstrap", domain, path],
      ["launchctl", "kickstart", "-k", `${domain}/${label}`],
    ],
    end: [["launchctl", "bootout", `${domain}/${label}`]],
    forget: [],
    run: ran,
    hint: async () => undefined,
    logs: `tail ${log}`,
  }
}

const escaped = (text: string) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
const string = (text: string) => `<string>${escaped(text)}</string>`
