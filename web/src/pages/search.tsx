import { useEffect, useRef } from "preact/hooks"
import { query } from "../router.ts"
import { Choices, setFilters } from "../ui/choices.tsx"
import { Empty } from "../ui/empty.tsx"
import { type Following, followAddress, isEmpty, trouble } from "../ui/found.ts"
import { Hits } from "../ui/hits.tsx"
import { Trouble } from "../ui/trouble.tsx"

/** Finds as one types. What is asked for stands in the address, so that it can be gone back to and passed on. */
export function Search() {
  const field = useRef<HTMLInputElement>(null)
  const following = useRef<Following>(undefined)
  useEffect(() => {
    field.current?.focus({ preventScroll: true })
    following.current = followAddress()
    return () => following.current?.stop()
  }, [])
  return (
    <>
      <h1 class="sr-only">Search</h1>
      <search class="search">
        <input
          ref={field}
          type="search"
          class="search-field"
          aria-label="Search all conversations"
          placeholder='What was said? Words, "exact phrase", prefix*, -without'
          value={query.value.get("q") ?? ""}
          onInput={(event) => setFilters({ q: event.currentTarget.value })}
          autoComplete="off"
          spellcheck={false}
        />
        <Choices />
      </search>
      <Trouble text={trouble.value} />
      {isEmpty(query.value) ? (
        <Empty
          title="Everything that was said to and by your agents is here"
          hint="Type a few words of it. Old answers count as much as new ones."
        />
      ) : (
        <Hits onMore={() => following.current?.more()} />
      )}
    </>
  )
}
