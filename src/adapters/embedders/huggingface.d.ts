// What we use of the optional package. It is not among our dependencies, so its own types may not be there.
declare module "@huggingface/transformers" {
  export const env: { cacheDir?: string; allowRemoteModels?: boolean }
  export function pipeline(
    task: "feature-extraction",
    model: string,
    options: { dtype: string },
  ): Promise<
    (
      texts: string[],
      options: { pooling: string; normalize: boolean },
    ) => Promise<{ dims: number[]; data: Float32Array }>
  >
}
