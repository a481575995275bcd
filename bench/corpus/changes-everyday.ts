import type { Scenario } from "./changes.ts"

/** The small things of every day. */
export const EVERYDAY_CHANGES: Scenario[] = [
  {
    files: ["src/{t}/validate.ts"],
    symbol: "validate{T}Input",
    prompt: "Somebody managed to save a {t} with a name of only spaces.",
    reply:
      "`validate{T}Input` trims before it checks, on the server as well, and the message says that the name is empty. Eleven rows that had slipped through were renamed.",
    code: "const name = z.string().trim().min(1)",
    subject: "Refuse blank {t} titles",
    ask: "What is the longest name a {t} may have?",
    answer: "200 characters in the form, 255 in the column.",
    follow: {
      prompt: "Invisible unicode characters too.",
      reply: "Zero-width and control characters are removed before the check.",
      subject: "Strip zero-width input",
    },
  },
  {
    files: ["src/{t}/total.ts"],
    symbol: "sum{T}Hours",
    prompt: "The sum at the bottom of the {t} sheet is sometimes off by one hour.",
    reply:
      "Minutes were rounded for each row before they were added. `sum{T}Hours` adds first and rounds the total, and rows show minutes.",
    code: "Math.round(rows.reduce((sum, { minutes }) => sum + minutes, 0) / 60)",
    subject: "Round {t} totals after adding, not before",
    ask: "Are breaks part of the {t} hours?",
    answer: "No, they are taken off when a row is saved.",
    follow: {
      prompt: "Show decimals for the accountants.",
      reply: "There is a column with hours as decimals, to two places, in the export only.",
      subject: "Decimal hours column in exports",
    },
  },
  {
    files: ["docs/{t}.md", "README.md"],
    symbol: "{t}Guide",
    prompt: "New colleagues never get the {t} setup running in a day. Write down what is missing.",
    reply:
      "The guide begins with three commands that work on a fresh machine now and says what to do when each fails. I tried it in an empty container; four undocumented environment variables turned up.",
    code: "make setup && make {t} && make check",
    subject: "Getting-started page for {t} contributors",
    ask: "Which environment variables does {t} need?",
    answer: "Seven, two of them only in production.",
    follow: {
      prompt: "Have the pipeline run these commands.",
      reply: "A nightly job extracts the commands from the page and runs them in a clean container.",
      subject: "Verify documented commands nightly",
    },
  },
  {
    files: ["src/{t}/legacy.ts"],
    symbol: "legacy{T}Adapter",
    prompt: "Is the old {t} adapter still used by anything? If not, away with it.",
    reply:
      "The last caller went in spring. I removed it with its tests, the two packages only it needed and the setting, 1,900 lines. The metric showed no call in sixty days.",
    code: "- import { legacy{T}Adapter } from './legacy.ts'",
    subject: "Delete unused {t} compatibility layer",
    ask: "Why did we need the old {t} adapter in the first place?",
    answer: "For a customer with version 1 of the protocol, who has moved since.",
    follow: {
      prompt: "Find more of that kind.",
      reply: "A script lists exports without importers and settings without readers; there are 23, in the issue.",
      subject: "Report dead exports",
    },
  },
  {
    files: ["src/{t}/names.ts"],
    symbol: "slugify{T}",
    prompt: "Two {ts} called 'Test' and 'test!' get the same address and the second one can't be opened.",
    reply:
      "`slugify{T}` makes the same slug of both. A number is added when it is taken, decided by a unique index and not by looking first, so that two at the same moment work too.",
    code: "for (let n = 1; ; n++) if (await tryInsert(n === 1 ? slug : `${slug}-${n}`)) break",
    subject: "Disambiguate colliding {t} URLs",
    ask: "Do old links work after a {t} was renamed?",
    answer: "No, the address follows the name and the old one is gone.",
    follow: {
      prompt: "They should.",
      reply: "Old addresses are kept and redirect to the present one for good.",
      subject: "Permanent redirects from former names",
    },
  },
  {
    files: ["package.json", "src/{t}/dates.ts"],
    symbol: "format{T}Date",
    prompt: "Get rid of moment, it's only there for the {t} dates.",
    reply:
      "`format{T}Date` uses Intl.DateTimeFormat now with the same three formats; the relative ones ('2 days ago') are twelve lines. The bundle is 70 kB smaller.",
    code: "new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }).format(date)",
    subject: "Drop the date library in favour of the platform",
    ask: "Which format do {t} dates have in exports?",
    answer: "ISO 8601 with zone, always.",
    follow: {
      prompt: "Forbid adding it again.",
      reply: "The linter has a list of packages that must not be imported, with what to use instead.",
      subject: "Lint against banned packages",
    },
  },
  {
    files: ["src/{t}/status.ts"],
    symbol: "advance{T}State",
    prompt: "A {t} went from 'closed' back to 'new' because two scripts raced. States should only go forward.",
    reply:
      "The allowed steps are a table now, and `advance{T}State` updates only if the row is still in the state it was read in. Anything else is refused with both states named.",
    code: "const NEXT = { new: ['open'], open: ['closed'], closed: [] }",
    subject: "State machine with guarded transitions for {ts}",
    ask: "In which states can a {t} be?",
    answer: "new, open and closed; 'waiting' is in the enum but nothing sets it.",
    follow: {
      prompt: "Support needs to reopen sometimes.",
      reply: "There is a step from closed to open for support only; it needs a reason, which is kept.",
      subject: "Let support reopen with a reason",
    },
  },
  {
    files: ["src/{t}/notify.ts"],
    symbol: "notify{T}Watchers",
    prompt: "Commenting on a busy {t} sends 300 mails within a minute. People filter them all away.",
    reply:
      "`notify{T}Watchers` collects what happens for ten minutes and sends one message with all of it; being mentioned by name still goes out at once.",
    code: "outbox.merge(watcher.id, event, { afterMs: 600_000, isUrgent: mentions(event, watcher) })",
    subject: "Bundle {t} notifications, mentions excepted",
    ask: "Who gets notified about a new {t}?",
    answer: "The owner and everybody who ever commented, unless they muted it.",
    follow: {
      prompt: "And nothing at night.",
      reply: "Quiet hours by the person's own clock: what comes up between ten and seven waits for the morning.",
      subject: "Hold messages during quiet hours",
    },
  },
]
