import { chmodSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeFiles } from "./files.ts"
import type { DemoPlace } from "./place.ts"
import { allStories } from "./stories.ts"
import { writeClaude } from "./write-claude.ts"
import { writeCodex } from "./write-codex.ts"
import { writeAider, writeGemini, writeOpencode } from "./write-others.ts"

const WRITERS = { "claude-code": writeClaude, codex: writeCodex, "gemini-cli": writeGemini, opencode: writeOpencode }
const AGENT = fileURLToPath(new URL("../demo/agent.js", import.meta.url))

/** Writes the sample history as the agents themselves would have left it. Nothing here knows the store. */
export function compose({ dir, homeDir, userDir }: DemoPlace, nowMs: number): void {
  const stories = allStories(nowMs)
  const files = makeFiles(userDir)
  const folderOf = (project: string) => join(userDir, project)
  for (const project of new Set(stories.map((story) => story.project)))
    mkdirSync(join(folderOf(project), ".git"), { recursive: true })
  for (const story of stories) {
    const write = WRITERS[story.agent as keyof typeof WRITERS]
    write?.(story, folderOf(story.project), files, stories)
  }
  const aiders = Map.groupBy(
    stories.filter(({ agent }) => agent === "aider").toSorted((a, b) => a.startMs - b.startMs),
    ({ project }) => project,
  )
  for (const [project, some] of aiders) writeAider(some, folderOf(project), files)

  const program = join(dir, "agent")
  files.text(program, `#!/bin/sh\nexec '${process.execPath}' '${AGENT}' "$@"\n`, nowMs)
  chmodSync(program, 0o700)
  files.json(join(homeDir, "config.json"), config(folderOf, program), nowMs)
}

/** The port is a free one: the user's own daemon may run beside it. */
function config(folderOf: (project: string) => string, program: string): object {
  const team = (project: string, color: string, description: string) => ({
    project: folderOf(project),
    description,
    color,
    program,
  })
  return {
    http: { port: 0 },
    permissions: { timeoutMinutes: 1440 },
    settings: { idleTimeout: 60_000 },
    teams: {
      storefront: team("storefront", "#e91e63", "The shop's pages, cart and checkout"),
      payments: team("payments", "#2196f3", "Charges, refunds and the ledger"),
      warehouse: team("warehouse", "#ff9800", "Stock, picking and parcels"),
      infra: team("infra", "#4caf50", "Deploys, databases and alarms"),
    },
  }
}
