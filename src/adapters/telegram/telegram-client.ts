import { Api } from "grammy/web"

export interface TelegramClient {
  api: Api
  /** A file's bytes, by the path that getFile told. */
  download(path: string, signal: AbortSignal): Promise<Response>
  /** How far Telegram's clock was ahead of ours at its last answer. */
  skewMs(): number | undefined
}

/** Something else than the Bot API answered. */
export class PageAnswer extends Error {
  readonly status: number

  constructor(status: number) {
    super(`a page with the status ${status}`)
    this.status = status
  }
}

/** Above what any single call is given: only what forgot to say how long it waits comes so far. */
const LONGEST_CALL_SECONDS = 180

/**
 * The build of grammY for browsers takes Node's own fetch, which says of a call that failed whether it ever left this machine, gives
 * up connecting after seconds, and knows the proxies of the environment. The other build brings a fetch that takes 14 MB more.
 */
export function telegramClient({ token, apiRoot }: { token: string; apiRoot: string }): TelegramClient {
  const root = apiRoot.replace(/\/+$/, "")
  let skewMs: number | undefined
  const timed: typeof fetch = async (url, init) => {
    // What is uploaded is a stream, which fetch takes in one direction at a time only.
    const response = await fetch(url, { ...init, duplex: "half" })
    const at = Date.parse(response.headers.get("date") ?? "")
    if (!Number.isNaN(at)) skewMs = at - Date.now()
    // A page is from the web server in front of the Bot API, or from a proxy on the way.
    if (!/\bjson\b/.test(response.headers.get("content-type") ?? "")) {
      await response.body?.cancel()
      throw new PageAnswer(response.status)
    }
    return response
  }
  return {
    api: new Api(token, { apiRoot: root, timeoutSeconds: LONGEST_CALL_SECONDS, fetch: timed as never }),
    download: (path, signal) => fetch(`${root}/file/bot${token}/${path}`, { signal }),
    skewMs: () => skewMs,
  }
}
