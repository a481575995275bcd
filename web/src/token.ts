const KEPT_AS = "throughline.token"

/**
 * The token comes in the part of the address that is never sent, by `throughline dashboard`. It is taken out of the address at
 * once, and kept for this tab only.
 */
export function takeToken(): string | undefined {
  const given = new URLSearchParams(location.hash.slice(1)).get("token")
  if (given !== null) {
    sessionStorage.setItem(KEPT_AS, given)
    history.replaceState(null, "", location.pathname + location.search)
  }
  return sessionStorage.getItem(KEPT_AS) ?? undefined
}

export const dropToken = () => sessionStorage.removeItem(KEPT_AS)
