import { type Ask, client, remote } from "../../src/surfaces/http/client.ts"
import { authorization, doubt, proved } from "./session.ts"

/** Asks the daemon, by the operations' own names and types. */
export const ask: Ask = client(
  remote(async ({ path, body, headers }) => {
    const send = async () => {
      const known = proved() ?? (await authorization())
      try {
        return await fetch(path, { method: "POST", body, headers: { ...headers, ...known } })
      } catch (error) {
        doubt()
        throw error
      }
    }
    let response = await send()
    if (response.status === 401) {
      // A daemon that was started anew in between: once more, with its own key.
      doubt()
      response = await send()
    }
    return { status: response.status, body: await response.text() }
  }),
  { surface: "http" },
)
