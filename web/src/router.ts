import { computed, signal } from "@preact/signals"

/** Where the page is: the part after the host. */
const address = signal(location.pathname + location.search)
addEventListener("popstate", () => {
  address.value = location.pathname + location.search
})

export const path = computed(() => address.value.split("?")[0]!)
export const query = computed(() => new URLSearchParams(address.value.split("?")[1] ?? ""))

/** With `replace`, Back does not come here again: for what is typed, letter by letter. */
export function go(to: string, { replace = false } = {}): void {
  if (to === address.peek()) return
  history[replace ? "replaceState" : "pushState"](null, "", to)
  address.value = to
  if (!replace) scrollTo(0, 0)
}

/** For links: another tab, a new window and the keyboard work as they always do. */
export function follow(event: MouseEvent): void {
  const link = (event.target as Element).closest("a")
  if (!link || event.defaultPrevented || event.button !== 0) return
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || link.target !== "") return
  if (link.origin !== location.origin) return
  event.preventDefault()
  go(link.pathname + link.search)
}
