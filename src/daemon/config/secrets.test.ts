import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test } from "vitest"
import { homeAt } from "../process/home.ts"
import { loadConfig } from "./config.ts"
import { putSecretsAside } from "./secrets.ts"

test("secrets of the environment are not handed on to agents, and what these start finds them again", () => {
  const dir = mkdtempSync(join(tmpdir(), "secrets-"))
  try {
    const home = homeAt(dir, tmpdir())
    const secrets = {
      THROUGHLINE_TELEGRAM_TOKEN: `123456:${"aB1_".repeat(9)}`,
      THROUGHLINE_DATABASE_URL: "postgres://me:hunter2@db/mine",
      THROUGHLINE_EMBEDDER:
        '{"kind":"openai-compatible","baseUrl":"http://127.0.0.1:1/v1","model":"m","apiKey":"sk-hidden"}',
    }
    const env: Record<string, string | undefined> = { ...secrets, PATH: "/bin", THROUGHLINE_LOG_LEVEL: "debug" }
    const { config } = loadConfig({ path: home.config, environment: secrets, flags: [] })
    putSecretsAside(home, env)
    expect(JSON.stringify(env)).not.toMatch(/aB1_|hunter2|sk-hidden/)
    expect(env).toMatchObject({ PATH: "/bin", THROUGHLINE_LOG_LEVEL: "debug" })

    const { PATH: _, ...environment } = env as Record<string, string>
    const again = loadConfig({ path: home.config, environment, flags: [] }).config
    expect(again).toEqual({ ...config, log: { level: "debug" } })
    for (const [name, value] of Object.entries(secrets)) {
      expect(readFileSync(join(home.secrets, name), "utf8")).toBe(value)
      expect(statSync(join(home.secrets, name)).mode & 0o777).toBe(0o600)
    }
    expect(statSync(home.secrets).mode & 0o777).toBe(0o700)

    const before = { ...env }
    putSecretsAside(home, env)
    expect(env, "what names a file is left as it is").toEqual(before)
    // The environment looks the same if the files were written over with their own paths.
    for (const [name, value] of Object.entries(secrets)) {
      expect(readFileSync(join(home.secrets, name), "utf8"), "and so is the file").toBe(value)
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
})
