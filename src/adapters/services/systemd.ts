import { join } from "node:path"
import type { Machine } from "../../domain/platform.ts"
import { SERVICE_MARK, type ServiceManager } from "../../domain/service.ts"
import { run } from "./run.ts"

/** A unit of the user's own systemd, on Linux. */
export function systemd(machine: Machine, name: string): ServiceManager {
  const unit = `${name}.service`
  const config = machine.env.XDG_CONFIG_HOME || join(machine.homeDir, ".config")
  const systemctl = (...words: string[]) => ["systemctl", "--user", ...words]
  const ran = (command: readonly string[]) => run(command, machine.env)
  return {
    id: "systemd",
    path: join(config, "systemd", "user", unit),
    text: ({ argv, env }) => `# ${SERVICE_MARK}
[Unit]
Description=Throughline keeps the sessions of coding agents
After=network.target
# Another daemon of this data directory may still run: wait for it, however long.
StartLimitIntervalSec=0

[Service]
ExecStart=${argv.map(argument).join(" ")}
${Object.entries(env)
  .map(([key, value]) => `Environment=${quoted(`${key}=${value}`)}`)
  .join("\n")}
Restart=on-failure
RestartSec=5
# Agents that were started from here go on when the daemon ends.
KillMode=process
TimeoutStopSec=20

[Install]
WantedBy=default.target
`,
    isReachable: async () => (await ran(systemctl("show-environment"))).code === 0,
    isActive: async () => (await ran(systemctl("is-active", "--quiet", unit))).code === 0,
    begin: [systemctl("daemon-reload"), systemctl("enable", unit), systemctl("restart", unit)],
    end: [systemctl("disable", "--now", unit)],
    forget: [systemctl("daemon-reload")],
    run: ran,
    async hint() {
      const { code, stdout } = await ran(["loginctl", "show-user", "--property=Linger", machine.env.USER ?? ""])
      if (code !== 0 || stdout.trim() !== "Linger=no") return undefined
      return "It stops when you log out and starts when you log in. To run it from boot: loginctl enable-linger"
    },
    logs: `journalctl --user -u ${unit}`,
  }
}

/** systemd's quoting; % begins a specifier. */
const quoted = (text: string) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%")}"`
/** In a command, $ begins a variable. */
const argument = (text: string) => (/^[\w./:@=+-]+$/.test(text) ? text : quoted(text).replaceAll("$", "$$$$"))
