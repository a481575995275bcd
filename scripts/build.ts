// Bundles the program: one folder of a few files starts three times as fast, and rests in a third less memory, than
// the hundreds of modules it is made of. Native and optional packages stay outside.
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { build } from "esbuild"
import { build as buildPages } from "vite"
import { bundledPackages, nestedPackages, noticesText, sbom, translated } from "./notices.ts"
import { packedVocabulary, VOCABULARY } from "./vocabulary.ts"

rmSync("dist", { recursive: true, force: true })
const { metafile } = await build({
  entryPoints: {
    "daemon/main": "src/daemon/process/main.ts",
    "daemon/reader": "src/daemon/process/reader.ts",
    "daemon/indexer": "src/daemon/process/indexer.ts",
    "demo/agent": "demo/agent.ts",
  },
  outdir: "dist",
  chunkNames: "chunks/[name]-[hash]",
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node22",
  minifySyntax: true,
  sourcemap: true,
  sourcesContent: false,
  legalComments: "linked",
  external: ["better-sqlite3", "pg", "pino", "@parcel/watcher", "@huggingface/transformers"],
  banner: {
    js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);',
  },
  mainFields: ["module", "main"],
  logLevel: "warning",
  metafile: true,
})
writeFileSync("dist/o200k.tokens", packedVocabulary())
cpSync("demo/stories", "dist/demo/stories", { recursive: true })
const pages = await buildPages({ configFile: "web/vite.config.ts", logLevel: "warn" })

const inProgram = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.keys(inputs))
const inPages = [pages]
  .flat()
  .flatMap((built) => ("output" in built ? built.output : []))
  .flatMap((file) => (file.type === "chunk" ? Object.keys(file.modules) : file.originalFileNames))
const sources = Object.keys(metafile.outputs)
  .filter((path) => path.endsWith(".map"))
  .flatMap((path) => (JSON.parse(readFileSync(path, "utf8")) as { sources: string[] }).sources)
const packages = [...bundledPackages([...inProgram, ...inPages, VOCABULARY]), ...nestedPackages(sources), ...translated]
writeFileSync("THIRD_PARTY_NOTICES", noticesText(packages))
writeFileSync("sbom.cdx.json", sbom(JSON.parse(readFileSync("package.json", "utf8")), packages))
