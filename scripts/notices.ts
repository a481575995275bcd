// Writes what others' licences ask for: their texts, and a list of what is inside. Both are made from what the bundlers
// say they bundled, so that they cannot be stale; a package without a known licence fails the build.
import { createHash } from "node:crypto"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { GITLEAKS_VERSION } from "../src/capture/redact/gitleaks.ts"
import { BSD_3, MIT } from "./licence-texts.ts"

/** One that may be bundled into a program under the MIT licence, as long as its text goes with it. */
const KNOWN = new Set([
  "MIT",
  "ISC",
  "0BSD",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "Apache-2.0",
  "BlueOak-1.0.0",
  "Unlicense",
])
const LICENCE_FILE = /^(?:licen[cs]e|copying)(?:[-.].*)?$/i
const NOTICE_FILE = /^notice(?:\..*)?$/i

export interface Bundled {
  name: string
  version: string
  licence: string
  /** The licence, and whatever has to be passed on with it. */
  text: string
  homepage: string | undefined
  purl: string
}

/** The packages that these files come from, each version once, in order of their names. */
export function bundledPackages(files: Iterable<string>): Bundled[] {
  const folders = new Set<string>()
  for (const file of files) {
    const folder = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(
      `/${file.replace(/^\0/, "").replace(/^\//, "")}`,
    )?.[1]
    if (folder !== undefined) folders.add(existsSync(folder) ? folder : folder.slice(1))
  }
  const found = [...folders].map(packageIn)
  const byId = new Map(found.map((one) => [`${one.name}@${one.version}`, one]))
  return [...byId].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one)
}

function packageIn(folder: string): Bundled {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
    name: string
    version: string
    license?: unknown
    homepage?: string
  }
  const { name, version, license, homepage } = manifest
  if (typeof license !== "string" || !KNOWN.has(license))
    throw new Error(
      `${name}@${version} is bundled, and its licence is ${JSON.stringify(license)}: see scripts/notices.ts`,
    )
  const names = readdirSync(folder).toSorted()
  const licences = names.filter((file) => LICENCE_FILE.test(file))
  if (licences.length === 0) throw new Error(`${name}@${version} is bundled and comes without the text of its licence`)
  const text = [...licences, ...names.filter((file) => NOTICE_FILE.test(file))]
    .map((file) => readFileSync(join(folder, file), "utf8").replaceAll("\r\n", "\n").trim())
    .join("\n\n")
  return { name, version, licence: license, text, homepage, purl: purl(name, version) }
}

/** Packages that others have bundled into theirs, so that they come without files of their own. */
const NESTED: Record<string, { licence: string; copyright: string; terms: string }> = {
  ajv: { licence: "MIT", copyright: "Copyright (c) 2015-2021 Evgeny Poberezkin", terms: MIT },
  "ajv-formats": { licence: "MIT", copyright: "Copyright (c) 2020 Another JSON Schema Validator", terms: MIT },
  "content-type": { licence: "MIT", copyright: "Copyright (c) 2015 Douglas Christopher Wilson", terms: MIT },
  "fast-deep-equal": { licence: "MIT", copyright: "Copyright (c) 2017 Evgeny Poberezkin", terms: MIT },
  "fast-uri": {
    licence: "BSD-3-Clause",
    copyright: "Copyright (c) 2011-2021, Gary Court\nCopyright (c) 2021-present The Fastify team\nAll rights reserved.",
    terms: BSD_3,
  },
  "json-schema-traverse": { licence: "MIT", copyright: "Copyright (c) 2017 Evgeny Poberezkin", terms: MIT },
}

/** Named by the source maps of the bundle, where the author's package manager has put them. */
export function nestedPackages(sources: Iterable<string>): Bundled[] {
  const found = new Map<string, Bundled>()
  for (const source of sources) {
    const [, name, version] = /\/\.pnpm\/((?:@[^/+]+\+)?[^/@]+)@([^/_(]+)/.exec(source) ?? []
    if (name === undefined || version === undefined) continue
    const own = NESTED[name.replace("+", "/")]
    if (!own) throw new Error(`${name}@${version} is bundled inside of another package: add it to scripts/notices.ts`)
    const { licence, copyright, terms } = own
    const text = `${copyright}\n\n${terms}`
    found.set(name, { name, version, licence, text, homepage: undefined, purl: purl(name, version) })
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/** What was translated into source files of ours: no bundler knows where that came from. */
export const translated: Bundled[] = [
  {
    name: "gitleaks",
    version: GITLEAKS_VERSION,
    licence: "MIT",
    text: `MIT License\n\nCopyright (c) 2019 Zachary Rice\n\n${MIT}`,
    homepage: "https://github.com/gitleaks/gitleaks",
    purl: `pkg:github/gitleaks/gitleaks@v${GITLEAKS_VERSION}`,
  },
  {
    name: "@scure/bip39",
    version: "2.4.0",
    licence: "MIT",
    text: `The MIT License (MIT)\n\nCopyright (c) 2022 Patricio Palladino, Paul Miller (paulmillr.com)\n\n${MIT}`,
    homepage: "https://github.com/paulmillr/scure-bip39",
    purl: "pkg:npm/%40scure/bip39@2.4.0",
  },
]

const RULE = "=".repeat(100)

export function noticesText(packages: readonly Bundled[]): string {
  const head = [
    "Throughline contains the following software by others, under the licences below.",
    "sbom.cdx.json lists the same for programs.",
    "",
    ...packages.map(({ name, version, licence }) => `  ${name} ${version} (${licence})`),
  ]
  const texts = packages.map(({ name, version, licence, text, homepage }) =>
    [RULE, `${name} ${version} (${licence})${homepage === undefined ? "" : `  ${homepage}`}`, RULE, "", text].join(
      "\n",
    ),
  )
  return `${[head.join("\n"), ...texts].join("\n\n")}\n`
}

/** CycloneDX 1.6. Without a time, and with a serial number made from its content: the same input makes the same file. */
export function sbom(self: { name: string; version: string; license: string }, packages: readonly Bundled[]): string {
  const root = purl(self.name, self.version)
  const components = packages.map(({ name, version, licence, homepage, purl: ref }) => {
    const [, group, bare = name] = /^(@[^/]+)\/(.+)$/.exec(name) ?? []
    return {
      type: "library",
      "bom-ref": ref,
      ...(group === undefined ? {} : { group }),
      name: bare,
      version,
      licenses: [{ license: { id: licence } }],
      purl: ref,
      ...(homepage === undefined ? {} : { externalReferences: [{ type: "website", url: homepage }] }),
    }
  })
  const bom = {
    $schema: "http://cyclonedx.org/schema/bom-1.6.schema.json",
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify([root, components]))}`,
    version: 1,
    metadata: {
      component: {
        type: "application",
        "bom-ref": root,
        name: self.name,
        version: self.version,
        licenses: [{ license: { id: self.license } }],
        purl: root,
      },
    },
    components,
    dependencies: [
      { ref: root, dependsOn: components.map((component) => component["bom-ref"]) },
      ...components.map((component) => ({ ref: component["bom-ref"] })),
    ],
  }
  return `${JSON.stringify(bom, null, 2)}\n`
}

const purl = (name: string, version: string) => `pkg:npm/${name.replace(/^@/, "%40")}@${version}`

function uuidOf(text: string): string {
  const hex = createHash("sha256").update(text).digest("hex")
  const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16)
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `5${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join("-")
}
