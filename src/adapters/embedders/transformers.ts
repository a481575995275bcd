import * as z from "zod"
import type { EmbedderAdapter } from "../../domain/embedder.ts"
import { errorText, Failure } from "../../domain/failure.ts"
import { embedderOf } from "./shared/model.ts"

const PACKAGE = "@huggingface/transformers"

const settings = z.strictObject({
  kind: z.literal("transformers"),
  model: z
    .string()
    .min(1)
    .default("Xenova/bge-small-en-v1.5")
    .describe("A model with ONNX weights, by its id on the hub"),
  precision: z.enum(["fp32", "fp16", "q8", "q4"]).default("q8").describe("Which of the model's weights are loaded"),
  pooling: z.enum(["mean", "cls"]).default("mean").describe("How the vectors of a text's tokens become one"),
  offline: z.boolean().default(false).describe("Use only weights that are on this machine already"),
  cacheDir: z.string().min(1).optional().describe("Folder for model weights (default: the package's own)"),
})

/** A model in this process. Its package has several hundred megabytes, so it is an optional peer dependency. */
export const transformers: EmbedderAdapter<typeof settings> = {
  kind: "transformers",
  settings,
  async open({ model, precision, pooling, offline, cacheDir }, signal) {
    const { env, pipeline } = await loadPackage()
    if (cacheDir) env.cacheDir = cacheDir
    env.allowRemoteModels = !offline
    const extract = await pipeline("feature-extraction", model, { dtype: precision }).catch((error: unknown) => {
      const where = offline ? "on this machine" : "on the hub"
      const why = errorText(error)
      throw new Failure(
        "embedder_refused",
        `the model ${model} cannot be loaded from where it is ${where}: ${why}`,
        {},
        { cause: error },
      )
    })
    const refused = (why: string) => new Failure("embedder_refused", `the model ${model} ${why}`)
    return embedderOf(
      {
        family: "transformers",
        name: model,
        variant: `${precision}-${pooling}`,
        // Small, because the model blocks the thread.
        limits: { texts: 16, tokens: 8_000, tokensOfOne: 8_000 },
        async ask(texts) {
          const { dims, data } = await extract(texts, { pooling, normalize: true })
          const dimension = dims.at(-1) ?? 0
          if (dims.length !== 2 || data.length !== dims[0]! * dimension) throw refused("answers no list of vectors")
          return Array.from({ length: dims[0]! }, (_, at) => data.subarray(at * dimension, (at + 1) * dimension))
        },
        refused,
      },
      signal,
    )
  },
}

async function loadPackage(): Promise<typeof import("@huggingface/transformers")> {
  try {
    return await import("@huggingface/transformers")
  } catch (error) {
    throw new Failure(
      "dependency_missing",
      `Vectors made in this process need the package \`${PACKAGE}\`: npm install ${PACKAGE} (with -g if Throughline was installed so)`,
      { package: PACKAGE },
      { cause: error },
    )
  }
}
