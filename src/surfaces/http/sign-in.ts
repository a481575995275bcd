import { randomBytes } from "node:crypto"
import { Hono } from "hono"
import { bodyLimit } from "hono/body-limit"
import * as z from "zod"
import { Failure } from "../../domain/failure.ts"
import { isProof, proofOf } from "./proof.ts"

export interface SignInKeys {
  /** Grants the owner's rights while this daemon runs. Never written to a file. */
  sessionKey: string
  /** The key file's content, from which renewals are derived. Never sent over TCP. */
  ownerKey: string
  /** Whether the dashboard is served at this origin: a proof relayed from another one is rejected. */
  isOwnOrigin(origin: string): boolean
}

const FRESH_MS = 30_000
/** Unauthenticated, so keep it small. */
const MAX_BYTES = 4_096

const nonce = z.string().min(16).max(200)
const Hello = z.object({ origin: z.string().max(300), nonce, renewal: z.string().min(1).max(100).optional() })
const Renew = z.object({
  origin: z.string().max(300),
  nonce,
  renewal: z.string().min(1).max(100),
  answer: nonce,
  proof: nonce,
})

/**
 * How an open page finds out that it still talks to Throughline, before it sends anything. Whoever takes the port after
 * the daemon has stopped cannot make the proof. The key that a page keeps dies with the daemon that gave it; a page that
 * stays open gets the next daemon's by a renewal, which it keeps in memory only. See docs/adr for the whole story.
 */
export function signIn({ sessionKey, ownerKey, isOwnOrigin }: SignInKeys): Hono {
  const app = new Hono()
  const limit = bodyLimit({
    maxSize: MAX_BYTES,
    onError: () => {
      throw new Failure("too_large", `this may hold ${MAX_BYTES} bytes at most`)
    },
  })
  const keyOf = (renewal: string) => proofOf(ownerKey, "renewal", renewal)
  /** Stateless: it carries its own time and signature. */
  const answerTo = (atMs: string, asked: { nonce: string; renewal: string }) =>
    `${atMs}.${proofOf(sessionKey, "answer", atMs, asked.nonce, asked.renewal)}`

  app.post("/hello", limit, async (c) => {
    const { origin, nonce, renewal } = parse(Hello, await c.req.json().catch(() => undefined))
    checkOrigin(isOwnOrigin, origin)
    if (renewal === undefined) return c.json({ proof: proofOf(sessionKey, "server", origin, nonce) })
    const answer = answerTo(String(Date.now()), { nonce, renewal })
    return c.json({ answer, proof: proofOf(keyOf(renewal), "server", origin, nonce, answer) })
  })

  app.post("/hello/renew", limit, async (c) => {
    const { origin, nonce, renewal, answer, proof } = parse(Renew, await c.req.json().catch(() => undefined))
    checkOrigin(isOwnOrigin, origin)
    const atMs = answer.split(".")[0]!
    const isFresh = Date.now() - Number(atMs) < FRESH_MS && answer === answerTo(atMs, { nonce, renewal })
    if (!isFresh || !isProof(proof, keyOf(renewal), "page", origin, nonce, answer))
      throw new Failure("unauthorized", "the proof is not the right one")
    return c.json({ key: sessionKey })
  })
  return app
}

/** For a signed-in page. */
export function newRenewal({ ownerKey }: Pick<SignInKeys, "ownerKey">): { renewal: string; key: string } {
  const renewal = randomBytes(16).toString("base64url")
  return { renewal, key: proofOf(ownerKey, "renewal", renewal) }
}

function parse<T>(schema: z.ZodType<T>, body: unknown): T {
  const parsed = schema.safeParse(body)
  if (parsed.success) return parsed.data
  throw new Failure("bad_input", "this is no sign-in of the dashboard", { parameter: "body" })
}

function checkOrigin(isOwnOrigin: SignInKeys["isOwnOrigin"], origin: string): void {
  if (!isOwnOrigin(origin)) throw new Failure("forbidden", `the dashboard is not served at ${JSON.stringify(origin)}`)
}
