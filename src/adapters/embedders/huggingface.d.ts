// What we use of the optional package, whose own types may be absent.
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
