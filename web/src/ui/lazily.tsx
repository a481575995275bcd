import { signal } from "@preact/signals"
import type { ComponentType } from "preact"
import { authorization } from "../session.ts"
import { Loading, Trouble } from "./trouble.tsx"

const RETRY_MS = 1_000
const waiting = new Set<() => void>()

/** A page whose code comes when it is first shown, or when there is nothing else to do. */
export function lazily<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<ComponentType<Props> | undefined>(undefined)
  const isGone = signal(false)
  const begin = () => {
    if (!waiting.delete(begin)) return
    // Code is taken from the daemon only, and not from whoever has its port.
    authorization().then(
      () =>
        load().then(
          (page) => {
            loaded.value = page
          },
          () => {
            isGone.value = true
          },
        ),
      () => {
        waiting.add(begin)
        setTimeout(begin, RETRY_MS)
      },
    )
  }
  waiting.add(begin)
  return (props) => {
    begin()
    const Page = loaded.value
    if (Page) return <Page {...props} />
    return isGone.value ? (
      <Trouble text="Throughline is another version now. Reload this page." />
    ) : (
      <Loading lines={8} />
    )
  }
}

/** So that the first look at a page waits for nothing. */
export function loadTheRest(): void {
  for (const begin of [...waiting]) begin()
}
