import { createHmac, timingSafeEqual } from "node:crypto"

/**
 * Proves knowledge of a key without sending it. The first part names the purpose, so that a proof for one
 * purpose is useless for another. web/src/proof.ts does the same in a browser.
 */
export function proofOf(key: string, ...parts: readonly string[]): string {
  return createHmac("sha256", key).update(JSON.stringify(parts)).digest("base64url")
}

export function isProof(given: string, key: string, ...parts: readonly string[]): boolean {
  const expected = Buffer.from(proofOf(key, ...parts))
  const found = Buffer.from(given)
  return found.length === expected.length && timingSafeEqual(found, expected)
}

/** On the unix socket: proof that the owner, who can read the key file, made the call. */
export const OWNER_HEADER = "throughline-owner"
/** Client and daemon share a clock; generous for slow machines. */
const FRESH_MS = 5 * 60_000

export function ownerProof(key: string, { path, body }: { path: string; body: string }, nowMs: number): string {
  return `${nowMs}.${proofOf(key, "command", String(nowMs), path, body)}`
}

export function isOwnerProof(
  header: string | undefined,
  key: string | undefined,
  { path, body }: { path: string; body: string },
  nowMs: number,
): boolean {
  if (key === undefined || key === "") return false
  const [, atMs = "", proof = ""] = /^(\d{1,16})\.([\w-]+)$/.exec(header ?? "") ?? []
  return Math.abs(nowMs - Number(atMs)) < FRESH_MS && isProof(proof, key, "command", atMs, path, body)
}
