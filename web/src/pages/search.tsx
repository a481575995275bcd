import { useEffect, useRef } from "preact/hooks"
import { query } from "../router.ts"
import { Choices, setFilters } from "../ui/choices.tsx"
import { Empty } from "../ui/empty.tsx"
import { type Following, followAddress, isEmpty, trouble } from "../ui/found.ts"
import { Hits } from "../ui/hits.tsx"
import { Trouble } from "../ui/trouble.tsx"

/** Search as you type. The query is in the URL, so it can be bookmarked and shared. */
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
          placeholder='Search conversations: words, "exact phrase", prefix*, -exclude'
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
          title="Search every conversation with your agents"
          hint="Type a few words. Results are not biased towards recent ones."
        />
      ) : (
        <Hits onMore={() => following.current?.more()} />
      )}
    </>
  )
}
