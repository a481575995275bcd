import { signal } from "@preact/signals"
import { Failure } from "../../src/domain/failure.ts"
import { importedKey, newNonce, proofOf } from "./proof.ts"

const KEPT_AS = "throughline.key"

/**
 * What this page is known by. The key comes by `throughline dashboard`, in the part of the address that is never sent. It is
 * good for as long as the daemon that gave it runs, so it may be kept: whoever takes the port after that daemon can do
 * nothing with it. The renewal outlives the daemon; it stays in memory, where no page from another listener can read it.
 */
let key = takeKey()
let renewal: Renewal | undefined
let proving: Promise<void> | undefined
/** How often it was doubted who answers here, and at which of these doubts it was last proved. */
let doubts = 0
let provedAt: number | undefined
/** While the line to the journal is open, the port has not changed hands. */
let hasLine = false

interface Renewal {
  renewal: string
  key: CryptoKey
}

/** Whether the daemon knows us: without the right key nothing can be shown. */
export const isKnown = signal(key !== undefined)

/** What a request carries; undefined unless whoever answers here has proved that it is the daemon, and was there since. */
export const proved = () => (hasLine && provedAt === doubts ? { authorization: `Bearer ${key}` } : undefined)

/** The same, once it has proved it. Nothing is sent before. */
export async function authorization(): Promise<Record<string, string>> {
  if (key === undefined) throw new Failure("unauthorized", "this page has no key: run `throughline dashboard`")
  proving ??= prove().finally(() => {
    proving = undefined
  })
  await proving
  return { authorization: `Bearer ${key}` }
}

export function lineOpened(): void {
  hasLine = true
}

export function lineLost(): void {
  hasLine = false
  doubt()
}

/** The line was lost, or a request was: somebody else may have the port by now. */
export function doubt(): void {
  doubts++
}

async function prove(): Promise<void> {
  const began = doubts
  const kept = localStorage.getItem(KEPT_AS) ?? undefined
  if (await isGiver(key!)) await remember()
  else if (renewal && (await renew(renewal))) await remember()
  // Another tab may have signed in to the daemon that runs now.
  else if (kept !== undefined && kept !== key && (await isGiver(kept))) {
    key = kept
    await remember()
  } else {
    if (!renewal) isKnown.value = false
    throw new Failure("daemon_unreachable", NOT_PROVED)
  }
  // A proof by a daemon that has ended meanwhile says nothing of who has its port now.
  if (doubts !== began) throw new Failure("daemon_unreachable", NOT_PROVED)
  provedAt = began
}

const NOT_PROVED = "what answers here has not proved that it is Throughline"

/** Whether the daemon that gave the key is the one that answers. */
async function isGiver(given: string): Promise<boolean> {
  const nonce = newNonce()
  const { proof } = await hello("/hello", { nonce })
  return proof === (await proofOf(await importedKey(given), "server", location.origin, nonce))
}

/** The daemon was started anew: it proves that it has the owner's key file, then we do. */
async function renew({ renewal, key: secret }: Renewal): Promise<boolean> {
  const nonce = newNonce()
  const { answer, proof } = await hello("/hello", { nonce, renewal })
  if (typeof answer !== "string") return false
  if (proof !== (await proofOf(secret, "server", location.origin, nonce, answer))) return false
  const own = await proofOf(secret, "page", location.origin, nonce, answer)
  const given = await hello("/hello/renew", { nonce, renewal, answer, proof: own })
  if (typeof given.key !== "string") return false
  key = given.key
  return true
}

async function remember(): Promise<void> {
  localStorage.setItem(KEPT_AS, key!)
  sessionStorage.removeItem(KEPT_AS)
  isKnown.value = true
  if (renewal) return
  const response = await fetch("/hello/renewal", { method: "POST", headers: { authorization: `Bearer ${key}` } })
  if (!response.ok) return
  const given = (await response.json()) as { renewal: string; key: string }
  renewal = { renewal: given.renewal, key: await importedKey(given.key) }
}

/** Whatever answers: what it says is believed only with its proof. */
async function hello(path: string, said: Record<string, string>): Promise<Record<string, unknown>> {
  const body = JSON.stringify({ origin: location.origin, ...said })
  const response = await fetch(path, { method: "POST", body, headers: { "content-type": "application/json" } })
  const answer: unknown = await response.json().catch(() => undefined)
  return typeof answer === "object" && answer !== null ? (answer as Record<string, unknown>) : {}
}

function takeKey(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get("token")
  if (given !== null) {
    // For this tab alone until it is proved: a page that is reloaded or left before that must not lose it.
    sessionStorage.setItem(KEPT_AS, given)
    history.replaceState(null, "", location.pathname + location.search)
  }
  return sessionStorage.getItem(KEPT_AS) ?? localStorage.getItem(KEPT_AS) ?? undefined
}
