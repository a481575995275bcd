import type { StoredVector } from "../../domain/vector-tables.ts"

type Content = Pick<StoredVector, "values" | "scale">

const SCALE_BYTES = 4

/** The scale as a 32-bit float, then one byte per component. */
export function toBlob({ values, scale }: Content): Buffer {
  const blob = Buffer.allocUnsafe(SCALE_BYTES + values.length)
  blob.writeFloatLE(scale)
  blob.set(new Uint8Array(values.buffer, values.byteOffset, values.length), SCALE_BYTES)
  return blob
}

export function fromBlob(blob: Buffer): Content {
  return {
    values: new Int8Array(blob.buffer, blob.byteOffset + SCALE_BYTES, blob.length - SCALE_BYTES),
    scale: blob.readFloatLE(),
  }
}
