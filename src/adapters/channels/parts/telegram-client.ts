import { Api } from "grammy"

export interface TelegramClient {
  api: Api
  /** A file's bytes, by the path that getFile told. */
  download(path: string, signal: AbortSignal): Promise<Response>
  /** How far Telegram's clock was ahead of ours at its last answer. */
  skewMs(): number | undefined
}

/** Above what any single call is given: only what forgot to say how long it waits comes so far. */
const LONGEST_CALL_SECONDS = 180

/**
 * Node's own fetch instead of the one that grammY brings: of a call that failed it says whether it ever left this machine,
 * it gives up connecting after seconds, and it knows the proxies of the environment.
 */
export function telegramClient({ token, apiRoot }: { token: string; apiRoot: string }): TelegramClient {
  const root = apiRoot.replace(/\/+$/, "")
  let skewMs: number | undefined
  const fetcher = async (url: string, init: RequestInit): Promise<Response> => {
    const { method, headers, body, signal } = init
    const response = await fetch(url, {
      method: method!,
      headers: headers!,
      body: body!,
      duplex: "half",
      signal: nodesOwn(signal!),
    })
    const at = Date.parse(response.headers.get("date") ?? "")
    if (!Number.isNaN(at)) skewMs = at - Date.now()
    return response
  }
  return {
    api: new Api(token, {
      apiRoot: root,
      timeoutSeconds: LONGEST_CALL_SECONDS,
      fetch: fetcher as unknown as typeof fetch,
    }),
    download: (path, signal) => fetch(`${root}/file/bot${token}/${path}`, { signal }),
    skewMs: () => skewMs,
  }
}

/** grammY hands on a signal of a package, which fetch does not take. */
function nodesOwn(signal: AbortSignal): AbortSignal {
  const controller = new AbortController()
  if (signal.aborted) controller.abort()
  else signal.addEventListener("abort", () => controller.abort())
  return controller.signal
}
