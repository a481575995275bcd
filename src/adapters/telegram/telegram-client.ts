import { Api } from "grammy/web"

export interface TelegramClient {
  api: Api
  /** A file's bytes, by the path of getFile. */
  download(path: string, signal: AbortSignal): Promise<Response>
  /** How far Telegram's clock is ahead of ours. */
  skewMs(): number | undefined
}

/** The answer is not from the Bot API. */
export class PageAnswer extends Error {
  readonly status: number

  constructor(status: number) {
    super(`a page with the status ${status}`)
    this.status = status
  }
}

/** A safety net above the time limits of all calls. */
const LONGEST_CALL_SECONDS = 180

/**
 * grammY's build for browsers uses Node's fetch, which distinguishes calls that never left this machine, gives
 * up connecting after seconds, and uses the environment's proxies. The other build ships a fetch that takes 14 MB more.
 */
export function telegramClient({ token, apiRoot }: { token: string; apiRoot: string }): TelegramClient {
  const root = apiRoot.replace(/\/+$/, "")
  let skewMs: number | undefined
  const timed: typeof fetch = async (url, init) => {
    // fetch requires half duplex for streams.
    const response = await fetch(url, { ...init, duplex: "half" })
    const at = Date.parse(response.headers.get("date") ?? "")
    if (!Number.isNaN(at)) skewMs = at - Date.now()
    // HTML is from the web server in front of the Bot API, or from a proxy.
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
