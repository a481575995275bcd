import { signal } from "@preact/signals"
import { type Ask, client, remote } from "../../src/surfaces/client.ts"
import { takeToken } from "./token.ts"

const token = takeToken()

/** Whether the daemon knows us: without the right token nothing can be shown. */
export const isKnown = signal(token !== undefined)

export const authorization = (): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` }

/** Asks the daemon, by the operations' own names and types. */
export const ask: Ask = client(
  remote(async ({ path, body, headers }) => {
    const response = await fetch(path, { method: "POST", body, headers: { ...headers, ...authorization() } })
    if (response.status === 401) isKnown.value = false
    return { status: response.status, body: await response.text() }
  }),
  { surface: "http" },
)
