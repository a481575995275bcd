import { execFile } from "node:child_process"
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from "node:fs"
import { readdir, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, test } from "vitest"

const PROJECT = fileURLToPath(new URL("../..", import.meta.url))
const SYSTEM_CA = "/etc/ssl/certs/ca-certificates.crt"
const SLOW_MS = 240_000
/** What it takes now, with some room: a package that grows beyond this has to be looked at. */
const MOST_MB = 45

/** A machine with a Node and npm, a home and an empty folder, and nothing of this project. */
const dir = realpathSync(mkdtempSync(join(tmpdir(), "tl-package-")))
const [home, tmp, empty, bin, prefix] = ["home", "tmp", "empty", "bin", "prefix"].map((name) => join(dir, name))
const path = (process.env.PATH ?? "").split(":").filter((folder) => !/node_modules\/\.bin$/.test(folder))
const env = {
  PATH: [join(prefix!, "bin"), bin, ...path].join(":"),
  HOME: home!,
  TMPDIR: tmp!,
  npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? home!, ".npm"),
  npm_config_userconfig: process.env.npm_config_userconfig ?? join(process.env.HOME ?? home!, ".npmrc"),
  ...(existsSync(SYSTEM_CA) ? { NODE_EXTRA_CA_CERTS: SYSTEM_CA } : {}),
}
const OFFLINE_FIRST = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"]
let tarball = ""

function run(command: string, args: string[], cwd = empty!): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, args, { cwd, env, maxBuffer: 16 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${command} ${args.join(" ")}: ${stdout}${stderr}`, { cause: error }))
      else resolve(stdout)
    })
  })
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const files = entries.filter((entry) => entry.isFile())
  const sizes = await Promise.all(files.map(async ({ parentPath, name }) => (await stat(join(parentPath, name))).size))
  return sizes.reduce((sum, size) => sum + size, 0)
}

beforeAll(async () => {
  for (const folder of [home, tmp, empty, bin]) mkdirSync(folder!)
  symlinkSync(process.execPath, join(bin!, "node"))
  await run("npm", ["pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", dir], PROJECT)
  tarball = join(dir, readdirSync(dir).find((name) => name.endsWith(".tgz"))!)
  await run("npm", ["install", "--global", "--prefix", prefix!, ...OFFLINE_FIRST, tarball])
}, SLOW_MS)
afterAll(async () => {
  await run("throughline", ["stop", "--demo", "--force"]).catch(() => {})
  rmSync(dir, { recursive: true, force: true })
})

test("the install is small: bundled packages are not installed again", async () => {
  const installed = join(prefix!, "lib", "node_modules", "throughline")
  const [whole, packed] = await Promise.all([bytesIn(prefix!), stat(tarball)])
  const packages = await readdir(join(installed, "node_modules"))
  process.stdout.write(
    `\nInstalled size: ${(whole / 1e6).toFixed(1)} MB in ${packages.length} folders of packages; tarball ${(packed.size / 1e6).toFixed(1)} MB\n`,
  )
  expect(whole / 1e6).toBeLessThan(MOST_MB)
  expect(packages).not.toContain("zod")
  expect(readdirSync(installed).sort()).toEqual(
    [
      ...["CHANGELOG.md", "LICENSE", "README.md", "THIRD_PARTY_NOTICES", "sbom.cdx.json"],
      ...["bin", "dist", "docs", "node_modules", "package.json"],
    ].sort(),
  )
})

test("the package names every other's work inside of it, with its licence, and no source map holds their sources", async () => {
  const installed = join(prefix!, "lib", "node_modules", "throughline")
  const notices = readFileSync(join(installed, "THIRD_PARTY_NOTICES"), "utf8")
  const bom = JSON.parse(readFileSync(join(installed, "sbom.cdx.json"), "utf8")) as {
    bomFormat: string
    specVersion: string
    components: { group?: string; name: string; version: string; purl: string; licenses: unknown[] }[]
  }
  const maps = (await readdir(join(installed, "dist"), { withFileTypes: true, recursive: true }))
    .filter(({ name }) => name.endsWith(".map"))
    .map(({ parentPath, name }) => JSON.parse(readFileSync(join(parentPath, name), "utf8")))
  expect(maps.length).toBeGreaterThan(3)
  expect(maps.filter((map) => map.sourcesContent?.some((text: unknown) => text !== null))).toEqual([])
  const inside = new Set<string>(
    maps
      .flatMap((map) => map.sources as string[])
      .flatMap((source) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? []),
  )
  // Part of the package that it is bundled into, by the same authors.
  inside.delete("@modelcontextprotocol/core-internal")
  // Not in a source map: what the pages are made of, and the vocabulary.
  for (const name of ["preact", "@preact/signals", "uplot", "marked", "gpt-tokenizer"]) inside.add(name)
  expect(inside).toContain("zod")
  expect(bom).toMatchObject({ bomFormat: "CycloneDX", specVersion: "1.6" })
  const listed = bom.components.map(({ group, name }) => (group === undefined ? name : `${group}/${name}`))
  expect([...inside].filter((name) => !listed.includes(name))).toEqual([])
  for (const { group, name, version, licenses } of bom.components) {
    expect(licenses).toHaveLength(1)
    expect(notices).toContain(`\n${group === undefined ? name : `${group}/${name}`} ${version} (`)
  }
  // Of patterns that were translated, too.
  expect(notices).toContain("Copyright (c) 2019 Zachary Rice")
})

test(
  "installed from its tarball it runs demo, search and dashboard in an empty folder",
  async () => {
    expect(await run("tl", ["--version"])).toMatch(/^\d+\.\d+\.\d+/)
    const proposed = await run("throughline", ["start", "--demo"])
    expect(proposed).toContain('\n  throughline search "why did we drop redis" --limit 3 --demo\n')
    expect(await run("throughline", ["search", "why did we drop redis", "--demo"])).toContain("Drop Redis: carts go to")
    const { url, address } = JSON.parse(await run("throughline", ["dashboard", "--json", "--demo"])) as {
      url: string
      address: string
    }
    const page = await (await fetch(url)).text()
    const script = /src="(\/[^"]+\.js)"/.exec(page)?.[1]
    expect((await fetch(url + script)).status).toBe(200)
    const answer = await fetch(`${url}/api/search`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${address.split("#token=")[1]}` },
      body: JSON.stringify({ query: "refund rounding" }),
    })
    expect(((await answer.json()) as { hits: unknown[] }).hits.length).toBeGreaterThan(0)
    expect(await run("throughline", ["stop", "--demo"])).toContain("Demo removed")
    expect(readdirSync(empty!)).toEqual([])
  },
  SLOW_MS,
)

test(
  "npx runs it without an install",
  async () => {
    expect(await run("npx", ["--yes", ...OFFLINE_FIRST, "--package", tarball, "throughline", "--version"])).toMatch(
      /^\d+\./,
    )
  },
  SLOW_MS,
)
