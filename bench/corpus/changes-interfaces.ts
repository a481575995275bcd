import type { Scenario } from "./changes.ts"

/** What is done to pages, apps and what people see. */
export const INTERFACE_CHANGES: Scenario[] = [
  {
    files: ["web/{t}/{T}List.tsx"],
    symbol: "{T}List",
    prompt: "Scrolling the {t} list is choppy once there are a few thousand. My fan starts.",
    reply:
      "All rows were in the document. Only those in view and a screen above and below are rendered now; heights are measured once and remembered, so that the scrollbar does not jump. Five thousand {ts} scroll at 60 frames.",
    code: "const visible = useWindow(rows, { overscan: 20, estimate: 48 })",
    subject: "Virtualize the {t} table",
    ask: "Why is the {t} list sorted by date and not by name?",
    answer: "The server sorts by creation because the index is there; the client does not sort at all.",
    follow: {
      prompt: "Ctrl+F in the browser doesn't find rows any more now.",
      reply:
        "That is the price. Ctrl+F opens our own find box over the list, which searches all rows and scrolls to the match.",
      subject: "Find-in-list box replacing the browser's own",
    },
  },
  {
    files: ["web/{t}/{T}Form.tsx", "web/forms/draft.ts"],
    symbol: "use{T}Draft",
    prompt: "I typed a long description for a {t}, hit back by accident, and it was all gone.",
    reply:
      "`use{T}Draft` writes what is typed to local storage half a second after the last key, under the id of the {t}. Coming back offers to restore it, and saving or discarding removes it. Leaving with unsaved text asks first.",
    code: "useEffect(() => later(500, () => drafts.set(id, value)), [id, value])",
    subject: "Autosave unsent {t} text locally",
    ask: "Which fields of the {t} form are required?",
    answer: "Name and category; the description may be empty. The server checks the same.",
    follow: {
      prompt: "Two tabs with the same one fight over the draft.",
      reply:
        "Drafts carry the tab's id now; a second tab sees that another one is writing and shows a notice instead of overwriting.",
      subject: "Coordinate drafts between tabs",
    },
  },
  {
    files: ["web/theme/tokens.css", "web/{t}/card.css"],
    symbol: "{t}Card",
    prompt: "Dark mode: the {t} cards are blinding white. And it should just follow the system.",
    reply:
      "The cards had fixed colours. Everything reads from variables now, with a dark set under `prefers-color-scheme`; a switch in the menu overrides it and is remembered. Contrast was checked for both, the grey for secondary text had to become lighter.",
    code: "@media (prefers-color-scheme: dark) { :root { --surface: #16181d; } }",
    subject: "Night palette that honours the OS preference, {t} cards included",
    ask: "Where do the colours of the {t} cards come from?",
    answer: "Three different files; two of them repeat the same hex values by hand.",
    follow: {
      prompt: "It flashes white on load before it goes dark.",
      reply: "The choice is applied by four lines of script in the head before anything is painted.",
      subject: "Avoid the flash of the light theme",
    },
  },
  {
    files: ["web/{t}/{T}Dialog.tsx"],
    symbol: "{T}Dialog",
    prompt: "With a screen reader the {t} popup is unusable: focus stays behind it and nobody tells me it opened.",
    reply:
      "It is a native dialog element now. Focus goes to the first field, stays inside until it is closed, and returns to the button that opened it; the title is announced as its label, and Escape closes. Tested with NVDA and VoiceOver.",
    code: "<dialog ref={ref} aria-labelledby={titleId} onCancel={close}>",
    subject: "Accessible modal for {t} details (focus trap, label)",
    ask: "Do we have automated accessibility checks?",
    answer: "axe runs on six pages in the nightly job, none of which opens a popup.",
    follow: {
      prompt: "Same for the dropdown inside it.",
      reply:
        "The dropdown follows the listbox pattern now: arrows move, letters jump, Enter picks, and the active option is announced.",
      subject: "Keyboard support for the select box",
    },
  },
  {
    files: ["web/{t}/search-box.tsx"],
    symbol: "use{T}Search",
    prompt: "Typing quickly in the {t} search shows results for what I typed before. It flickers between answers.",
    reply:
      "Every key sent a request and the slowest answer won. `use{T}Search` waits 150 ms after the last key, aborts the request before, and ignores answers that belong to an older text. The list stays until the new one is there.",
    code: "abort.current?.abort()\nabort.current = new AbortController()",
    subject: "Debounce {t} lookup and discard stale answers",
    ask: "How many results does the {t} search box show?",
    answer: "Eight, the server sends twenty; the other twelve are never seen.",
    follow: {
      prompt: "Mark what matched, please.",
      reply:
        "The server returns the ranges that matched, and the box makes them bold. Nothing is highlighted by guessing on the client.",
      subject: "Emphasize matching ranges in suggestions",
    },
  },
  {
    files: ["mobile/{t}/Sync.kt", "mobile/{t}/Outbox.kt"],
    symbol: "{T}Outbox",
    prompt: "Field staff have no reception half of the day. They need to be able to add {ts} anyway.",
    reply:
      "The app writes to its own database first and puts the change into an outbox. `{T}Outbox` sends them in order when there is a network; ids are made on the device so that nothing has to be renamed. Conflicts are shown afterwards and never block the rest.",
    code: "outbox.enqueue(Change.Create(id = Uuid.random(), body))",
    subject: "Offline creation of {ts} on the phone",
    ask: "Which Android versions do we support?",
    answer: "From 10 on, that is 96 % of the devices that were active last month.",
    follow: {
      prompt: "Photos should wait for wifi, the rest not.",
      reply:
        "Attachments have a queue of their own with a network constraint; people can send one at once by holding it.",
      subject: "Defer picture uploads to unmetered networks",
    },
  },
  {
    files: ["web/i18n/plural.ts", "web/{t}/count.tsx"],
    symbol: "format{T}Count",
    prompt: "'1 {ts} selected', and in Polish it's worse. Fix the counting words properly.",
    reply:
      "The s was glued on in code. Messages are ICU plurals now, so each language has the forms it needs (four in Polish), and `format{T}Count` only passes the number. Translators see the forms in their tool.",
    code: "{count, plural, one {# {t}} other {# {ts}}}",
    subject: "Correct plural forms for {t} counters in all languages",
    ask: "Which languages are translated completely?",
    answer: "English, German, French and Polish; Spanish is at 80 %.",
    follow: {
      prompt: "Numbers should have the right separators as well.",
      reply:
        "All numbers and dates go through Intl with the reader's locale; a lint rule forbids toFixed in components.",
      subject: "Locale aware number formatting everywhere",
    },
  },
  {
    files: ["web/{t}/map.tsx"],
    symbol: "cluster{T}Markers",
    prompt: "The map with all {ts} is a red blob when you zoom out, and the tab freezes.",
    reply:
      "Markers that would overlap are grouped into a circle with a number, computed in a worker from a grid per zoom level. Clicking one zooms in to what it holds. Thirty thousand points take 40 ms.",
    code: "const groups = grid.cellsAt(zoom).map(summarize)",
    subject: "Group nearby {t} pins at low zoom",
    ask: "Which tiles does the {t} map use and what do they cost?",
    answer: "Vector tiles from our own server; traffic is about 20 GB a month, so next to nothing.",
    follow: {
      prompt: "Remember where the person was looking.",
      reply:
        "Centre and zoom are part of the address now, so that back, reload and shared links lead to the same view.",
      subject: "Encode the viewport in the URL",
    },
  },
  {
    files: ["web/{t}/chart.tsx"],
    symbol: "draw{T}Trend",
    prompt: "The {t} chart says we dropped to zero every Sunday. We didn't, there is just no data.",
    reply:
      "Missing days were filled with zeros by the query. They come as gaps now: the line stops and goes on, the tooltip says 'no data', and averages leave them out. A day with real zero still is a point.",
    code: "generate_series(...) left join daily using (day) -- no coalesce",
    subject: "Distinguish absent from zero in {t} trends",
    ask: "Which time zone are the days of the {t} chart in?",
    answer: "UTC, which shifts the evening of American users to the next day.",
    follow: {
      prompt: "Let me compare it with the week before.",
      reply: "A second, paler line shows the same days a week earlier, aligned by weekday; the legend toggles it.",
      subject: "Overlay the previous period",
    },
  },
  {
    files: ["web/{t}/undo.ts"],
    symbol: "undo{T}Delete",
    prompt: "Instead of 'are you sure?' for every {t} I'd like to just delete and be able to take it back.",
    reply:
      "Deleting hides the {t} at once and shows a bar with Undo for ten seconds; the row only gets `deleted_at`. `undo{T}Delete` clears it. A nightly job removes for good what is older than thirty days.",
    code: "toast({ text: 'Deleted', action: { label: 'Undo', run: () => restore(id) } })",
    subject: "Soft-delete {ts} with a grace period to revert",
    ask: "How do I delete many {ts} at once?",
    answer: "Not at all in the interface; support uses a script with the list of ids.",
    follow: {
      prompt: "Unique names: I can't reuse the name of a deleted one.",
      reply:
        "The unique index is partial now and leaves out deleted rows; restoring one whose name is taken adds a number.",
      subject: "Free names of trashed items for reuse",
    },
  },
  {
    files: ["web/{t}/print.css"],
    symbol: "print{T}",
    prompt: "Printing a {t} gives eleven pages with the navigation on each. It should be one sheet.",
    reply:
      "There was no stylesheet for paper. It hides navigation and buttons, uses black on white, keeps headings with what follows and prints link targets. A normal {t} fits on a page.",
    code: "@media print { nav, button { display: none } h2 { break-after: avoid } }",
    subject: "Paper-friendly layout for {t} pages",
    ask: "Do people really print {ts}?",
    answer: "The event counter says 900 times a month, mostly from two customers.",
    follow: {
      prompt: "They'd rather have a PDF by mail.",
      reply:
        "The same page is rendered to a PDF by a headless browser in a job and attached; it takes about two seconds.",
      subject: "Attach a rendered document to the message",
    },
  },
  {
    files: ["web/router.ts", "web/{t}/page.tsx"],
    symbol: "lazy{T}Page",
    prompt: "First load is 2.4 MB of JavaScript, most of it the {t} editor that hardly anyone opens.",
    reply:
      "The editor and its libraries are a chunk of their own now, fetched when somebody opens it, and prefetched when the pointer rests on the link. The first load is 610 kB; a check in the pipeline fails above 700.",
    code: "const Page = lazy(() => import('./{t}/page.tsx'))",
    subject: "Split the {t} editor out of the initial bundle",
    ask: "Which libraries are the largest in the bundle?",
    answer:
      "The code editor, the chart library and two date libraries, one of which is only used for a single format call.",
    follow: {
      prompt: "After a deploy, open tabs crash when they click it.",
      reply:
        "The chunk of the old version is gone then. A failed import reloads the page once, at the same address, and old assets stay for a week.",
      subject: "Recover from missing chunks after a release",
    },
  },
]
