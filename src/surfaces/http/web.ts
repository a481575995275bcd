import { readFile } from "node:fs/promises"
import { extname, join } from "node:path"
import type { MiddlewareHandler } from "hono"

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
}
/** Only our own scripts and styles: transcripts can only ever be text. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")
const FILE = /^\/(?:assets\/)?[\w.-]+\.(?:js|css|svg)$/
/** Page URLs; all serve the same file, which routes itself. */
const PAGE = /^\/(?:(?:search|teams|analytics|health|sessions\/[\w-]+)\/?)?$/

/**
 * The dashboard has no service worker. A browser that asks for the script of one got it from somebody who had this port
 * before, and would let it rule our pages: it gets one that removes itself.
 */
const RETIRE = `addEventListener("install", () => skipWaiting())
addEventListener("activate", () => registration.unregister())
`

/** The dashboard's static files. They contain no user data, so they need no token. */
export function webPages(dir: string): MiddlewareHandler {
  return async (c, next) => {
    const { path, method } = c.req
    if (c.req.header("service-worker") === "script") return c.body(RETIRE, 200, { "content-type": TYPES[".js"]! })
    const name = PAGE.test(path) ? "index.html" : FILE.test(path) ? path.slice(1) : undefined
    if (name === undefined || (method !== "GET" && method !== "HEAD")) return next()
    const bytes = await readFile(join(dir, name)).catch(() => undefined)
    if (!bytes) return next()
    return c.body(method === "HEAD" ? "" : new Uint8Array(bytes), 200, {
      "content-type": TYPES[extname(name)]!,
      "content-length": String(bytes.length),
      // Their names contain a content hash.
      "cache-control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
      "content-security-policy": POLICY,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
    })
  }
}
