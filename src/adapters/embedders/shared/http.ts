import { Failure } from "../../../domain/failure.ts"
import { sleep } from "../../../lib/clock.ts"

export interface Endpoint {
  url: string
  /** Sent as a bearer token; never shown in a message. */
  apiKey?: string | undefined
  timeoutMs: number
  /** The remedy when the endpoint does not know the model. */
  onUnknownModel: string
}

const ATTEMPTS = 4
const FIRST_PAUSE_MS = 250
/** Longer waits are left to the caller, which has its own backoff. */
const LONGEST_PAUSE_MS = 20_000
const EXCERPT_LENGTH = 300
/** The server rejects this text, for its length for example; another text may pass. */
const ABOUT_TEXT = new Set([400, 413, 422])

/** Posts and reads JSON. Retries 429 and 5xx, honouring Retry-After; anything else fails at once. */
export async function postJson(endpoint: Endpoint, body: unknown, signal?: AbortSignal): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    const { status, text, retryAfterMs } = await exchange(endpoint, body, signal)
    if (status >= 200 && status < 300) return parsed(endpoint, text)
    const pauseMs = retryAfterMs ?? FIRST_PAUSE_MS * 2 ** (attempt - 1)
    const mayPass = status === 429 || status >= 500
    if (!mayPass || attempt === ATTEMPTS || pauseMs > LONGEST_PAUSE_MS)
      throw answered(endpoint, status, text, retryAfterMs)
    await sleep(pauseMs, signal).catch(() => signal?.throwIfAborted())
  }
}

/** The endpoint without password and query, which may hold a key. */
export function placeOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}

async function exchange(endpoint: Endpoint, body: unknown, signal?: AbortSignal) {
  signal?.throwIfAborted()
  const timeout = AbortSignal.timeout(endpoint.timeoutMs)
  try {
    const response = await fetch(withoutCredentials(endpoint.url), {
      method: "POST",
      headers: { "content-type": "application/json", ...authorization(endpoint) },
      body: JSON.stringify(body),
      signal: signal ? AbortSignal.any([signal, timeout]) : timeout,
    })
    return { status: response.status, text: await response.text(), retryAfterMs: retryAfterMs(response.headers) }
  } catch (error) {
    signal?.throwIfAborted()
    const why = timeout.aborted ? `did not answer within ${endpoint.timeoutMs} ms` : unreachable(error)
    throw new Failure("embedder_unreachable", `${placeOf(endpoint.url)} ${why}`, {}, { cause: error })
  }
}

/** fetch rejects URLs with credentials. */
function withoutCredentials(url: string): URL {
  const bare = new URL(url)
  bare.username = ""
  bare.password = ""
  return bare
}

function authorization({ url, apiKey }: Endpoint): Record<string, string> {
  if (apiKey) return { authorization: `Bearer ${apiKey}` }
  const { username, password } = new URL(url)
  if (!username) return {}
  const user = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  return { authorization: `Basic ${Buffer.from(user).toString("base64")}` }
}

function unreachable(error: unknown): string {
  const code = (error as { cause?: { code?: unknown } } | null)?.cause?.code
  if (code === "ECONNREFUSED") return "refuses connections: nothing listens there"
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "has a host name that cannot be looked up"
  return `cannot be reached${typeof code === "string" ? ` (${code})` : ""}`
}

/** In seconds or as a date. */
function retryAfterMs(headers: Headers): number | undefined {
  const text = headers.get("retry-after")
  if (text === null) return undefined
  const seconds = Number(text)
  const ms = Number.isNaN(seconds) ? Date.parse(text) - Date.now() : seconds * 1000
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

function parsed(endpoint: Endpoint, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw refused(endpoint, `answers what is not JSON: ${excerpt(endpoint, text)}`)
  }
}

function answered(endpoint: Endpoint, status: number, text: string, retryAfterMs: number | undefined): Failure {
  const said = `answers ${status}: ${excerpt(endpoint, text)}`
  if (status === 429 || status >= 500) {
    const data = retryAfterMs === undefined ? {} : { retryAfterMs }
    return new Failure("embedder_unreachable", `${placeOf(endpoint.url)} ${said}`, data)
  }
  if (status === 401 || status === 403) return refused(endpoint, `${said}. Check the key`)
  if (ABOUT_TEXT.has(status)) return refused(endpoint, said, { isAboutText: true })
  return refused(endpoint, status === 404 ? `${said}. ${endpoint.onUnknownModel}` : said)
}

export function refused(endpoint: Endpoint, why: string, data: Record<string, unknown> = {}): Failure {
  return new Failure("embedder_refused", `${placeOf(endpoint.url)} ${why}`, data)
}

/** Servers may echo the request in errors, including the key. */
function excerpt({ url, apiKey }: Endpoint, text: string): string {
  const secrets = [apiKey, decodeURIComponent(new URL(url).password)]
  const hidden = secrets.reduce<string>((shown, secret) => (secret ? shown.replaceAll(secret, "***") : shown), text)
  const shown = hidden.replaceAll(/\s+/g, " ").trim()
  if (shown === "") return "(nothing)"
  return shown.length > EXCERPT_LENGTH ? `${shown.slice(0, EXCERPT_LENGTH)}…` : shown
}
