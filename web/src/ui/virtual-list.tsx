import { observeWindowOffset, observeWindowRect, Virtualizer, windowScroll } from "@tanstack/virtual-core"
import type { ComponentChildren } from "preact"
import { useEffect, useLayoutEffect, useMemo, useReducer, useRef } from "preact/hooks"

export interface VirtualList<Item> {
  items: readonly Item[]
  keyOf(item: Item): string | number
  guessHeight(item: Item): number
  show(item: Item, index: number): ComponentChildren
  /** Told which ones are on the screen, so that what they need can be fetched. */
  onSeen?(items: readonly Item[]): void
  /** Where to be at first, and again whenever it changes. */
  at?: number | undefined
  /** Stays at the end when something is added there and the end was in view. */
  isFollowing?: boolean
  label: string
}

/** Only what is on the screen is on the page: ten thousand items scroll like ten. */
export function VirtualList<Item>(list: VirtualList<Item>) {
  const { items, keyOf, guessHeight, show, onSeen, at, isFollowing, label } = list
  const ref = useRef<HTMLOListElement>(null)
  const [, redraw] = useReducer((count: number) => count + 1, 0)
  const latest = useRef(list)
  latest.current = list

  const virtualizer = useMemo(
    () =>
      new Virtualizer<Window, HTMLLIElement>({
        count: 0,
        getScrollElement: () => window,
        estimateSize: () => 0,
        observeElementRect: observeWindowRect,
        observeElementOffset: observeWindowOffset,
        scrollToFn: windowScroll,
        initialOffset: () => window.scrollY,
      }),
    [],
  )
  virtualizer.setOptions({
    ...virtualizer.options,
    count: items.length,
    overscan: 8,
    scrollPaddingStart: MARGIN_PX,
    estimateSize: (index) => guessHeight(latest.current.items[index]!),
    getItemKey: (index) => keyOf(latest.current.items[index]!),
    scrollMargin: ref.current?.offsetTop ?? 0,
    onChange: () => redraw(undefined),
  })
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => virtualizer._willUpdate())

  const shown = virtualizer.getVirtualItems()
  useEffect(() => {
    onSeen?.(shown.map(({ index }) => items[index]!))
  }, [shown[0]?.index, shown.at(-1)?.index, items.length])
  useEffect(() => {
    if (at !== undefined && at >= 0) virtualizer.scrollToIndex(at, { align: "start" })
  }, [at])
  const wasAtEnd = useRef(true)
  useEffect(() => {
    if (isFollowing && wasAtEnd.current && at === undefined)
      virtualizer.scrollToIndex(items.length - 1, { align: "end" })
  }, [items.length])
  wasAtEnd.current = window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - NEAR_END_PX

  return (
    <ol ref={ref} class="virtual" aria-label={label} style={{ height: `${virtualizer.getTotalSize()}px` }}>
      {shown.map(({ index, key, start }) => (
        <li
          key={key}
          data-index={index}
          data-item
          ref={(element) => virtualizer.measureElement(element)}
          aria-setsize={items.length}
          aria-posinset={index + 1}
          style={{ transform: `translateY(${start - virtualizer.options.scrollMargin}px)` }}
        >
          {show(items[index]!, index)}
        </li>
      ))}
    </ol>
  )
}

const NEAR_END_PX = 120
/** Above what was jumped to. */
const MARGIN_PX = 16
