// Follows the quick starts of the programs that people come from (docs/compatibility.md), through the built command
// line and a real MCP client, and prints what was typed and answered: now, on this machine. Nothing of yours is touched.
import { spawnSync } from "node:child_process"
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, delimiter, dirname, join } from "node:path"
import { fileURLToPath } from "node:url"

const PROJECT = fileURLToPath(new URL("..", import.meta.url))
const journeys = globSync("test/journeys/coming-from-*.test.ts", { cwd: PROJECT }).sort()
const known = journeys.map((file) => basename(file, ".test.ts").replace("coming-from-", ""))

const requested = process.argv.slice(2)
const unknown = requested.filter((name) => !known.includes(name))
if (unknown.length > 0) {
  console.error(`There is nothing to come from called ${unknown.join(", ")}; known: ${known.join(", ")}.`)
  process.exit(2)
}
if (!existsSync(join(PROJECT, "dist"))) {
  console.error("Build it first: npm ci && npm run build")
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), "tl-coming-from-"))
try {
  // The programs that a journey starts find this Node, too.
  const PATH = [dirname(process.execPath), process.env.PATH].join(delimiter)
  for (const name of requested.length === 0 ? known : requested) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [
        join(PROJECT, "node_modules/vitest/vitest.mjs"),
        "run",
        `test/journeys/coming-from-${name}.test.ts`,
        "--reporter=dot",
      ],
      { cwd: PROJECT, encoding: "utf8", env: { ...process.env, PATH, COMING_FROM_FOLDER: folder } },
    )
    console.log(`==== Coming from ${name} ====\n`)
    const transcript = join(folder, `${name}.txt`)
    if (existsSync(transcript)) console.log(readFileSync(transcript, "utf8"))
    if (status === 0) continue
    console.error(stdout + stderr)
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
