import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { afterAll, expect, test } from "vitest"
import { transformers } from "../../../src/adapters/embedders/transformers.ts"
import { embedderContract } from "../embedder.ts"

const project = fileURLToPath(new URL("../../..", import.meta.url))

/** The package's own weights come from a hub; what it is called with and what it answers do not. */
const FAKE_PACKAGE = `
import { createHash } from "node:crypto"
export const env = {}
export const calls = []
export async function pipeline(task, model, options) {
  calls.push({ task, model, options, env: { ...env } })
  if (model === "none") throw new Error("Could not locate file: https://hub.example/none/config.json")
  const dimension = 24
  return async (texts, options) => {
    calls.push({ texts, options })
    const data = new Float32Array(texts.length * dimension)
    texts.forEach((text, row) => data.set([...createHash("sha256").update(text).digest()].slice(0, dimension).map((byte) => byte - 127.5), row * dimension))
    return { dims: [texts.length, dimension], data }
  }
}
`

/** A copy of the adapter beside a node_modules that has the package. */
const copy = mkdtempSync(join(tmpdir(), "throughline-transformers-"))
const fake = join(copy, "node_modules/@huggingface/transformers")
for (const folder of ["domain", "adapters/embedders"])
  cpSync(join(project, "src", folder), join(copy, "src", folder), { recursive: true })
mkdirSync(fake, { recursive: true })
symlinkSync(join(project, "node_modules/zod"), join(copy, "node_modules/zod"))
writeFileSync(join(copy, "package.json"), '{"type":"module"}')
writeFileSync(join(fake, "package.json"), '{"name":"@huggingface/transformers","type":"module","exports":"./index.js"}')
writeFileSync(join(fake, "index.js"), FAKE_PACKAGE)
afterAll(() => rmSync(copy, { recursive: true, force: true }))

const load = <T>(path: string) => import(/* @vite-ignore */ pathToFileURL(path).href) as Promise<T>

async function open(more: Record<string, unknown> = {}) {
  const path = join(copy, "src/adapters/embedders/transformers.ts")
  const { transformers } = await load<typeof import("../../../src/adapters/embedders/transformers.ts")>(path)
  return transformers.open(
    transformers.settings.parse({ kind: "transformers", model: "Xenova/all-MiniLM-L6-v2", ...more }),
  )
}
const calls = async () => (await load<{ calls: unknown[] }>(join(fake, "index.js"))).calls

embedderContract("transformers", open)

test("without the package it is a Failure that names it and the command", async () => {
  const missing = transformers.open(transformers.settings.parse({ kind: "transformers" }))
  await expect(missing).rejects.toMatchObject({
    name: "Failure",
    code: "dependency_missing",
    message: expect.stringContaining("npm install @huggingface/transformers"),
    data: { package: "@huggingface/transformers" },
  })
})

test("model, precision, pooling and place of the weights are those of the settings", async () => {
  const embedder = await open({
    model: "Xenova/bge-small-en-v1.5",
    pooling: "cls",
    offline: true,
    cacheDir: "/weights",
  })
  expect(embedder.id).toBe("transformers:Xenova/bge-small-en-v1.5:24:q8-cls")
  await embedder.embed(["a"], "query")
  await embedder.embed(["a"], "document")
  expect((await calls()).slice(-4)).toEqual([
    {
      task: "feature-extraction",
      model: "Xenova/bge-small-en-v1.5",
      options: { dtype: "q8" },
      env: { allowRemoteModels: false, cacheDir: "/weights" },
    },
    expect.objectContaining({ texts: ["dimension"] }),
    {
      texts: ["Represent this sentence for searching relevant passages: a"],
      options: { pooling: "cls", normalize: true },
    },
    { texts: ["a"], options: { pooling: "cls", normalize: true } },
  ])
})

test("a model that cannot be loaded is a Failure that names it", async () => {
  await expect(open({ model: "none" })).rejects.toMatchObject({
    code: "embedder_refused",
    message: expect.stringMatching(/^the model none cannot be loaded .*on the hub: Could not locate/),
  })
})
