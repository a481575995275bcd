import type { Scenario } from "./changes.ts"

/** What is done to programs that run close to the machine, to agents, and to what holds everything together. */
export const SYSTEM_CHANGES: Scenario[] = [
  {
    files: ["src/store/{t}-wal.ts"],
    symbol: "append{T}Record",
    prompt: "We lost the last {t} records after the power cut although we had said OK to the client.",
    reply:
      "The write was in the page cache only. `append{T}Record` now syncs the file before it answers; records that arrive within two milliseconds share one sync, so throughput is a third lower instead of a tenth of what it was.",
    code: "await handle.datasync()\nfor (const done of batch) done.resolve()",
    subject: "Acknowledge {t} writes only once they are durable",
    ask: "How big does the {t} log file get?",
    answer: "It is rotated at 64 MB; eight old ones are kept.",
    follow: {
      prompt: "And a half written record at the end? It refuses to start then.",
      reply:
        "Each record has length and checksum. At start the tail is cut after the last whole one, and the cut is logged with its size.",
      subject: "Recover from a torn tail at startup",
    },
  },
  {
    files: ["src/net/{t}-proxy.go"],
    symbol: "proxy{T}Conn",
    prompt: "The {t} proxy has thousands of connections in CLOSE_WAIT and then accepts nothing any more.",
    reply:
      "When the client went away the other half stayed open, because only one direction was watched. `proxy{T}Conn` closes both as soon as either ends, and idle ones after ten minutes. Open files are a metric now.",
    code: "go func() { io.Copy(dst, src); dst.CloseWrite(); cancel() }()",
    subject: "Close both halves of {t} connections",
    ask: "What is the limit of open files for the {t} proxy?",
    answer: "1024, the default of the unit file; nobody set it.",
    follow: {
      prompt: "Raise it too, but tell me when we are near.",
      reply: "The unit has 65,536 now, and there is a warning at 80 % of whatever the limit is.",
      subject: "Lift the descriptor ceiling and warn near it",
    },
  },
  {
    files: ["src/agent/{t}-tools.ts"],
    symbol: "run{T}Tool",
    prompt: "The agent pasted the whole output of the {t} tool into its context, 200 kB, and forgot what it was doing.",
    reply:
      "Output above eight kilobytes is cut to its beginning and end, with a line that says how much was left out and under which id the whole can be read in pieces. `run{T}Tool` keeps the whole on disk for the session.",
    code: "return `${head}\\n… ${omitted} characters left out, read with id ${id} …\\n${tail}`",
    subject: "Abbreviate oversized {t} results for the model",
    ask: "How many tokens does a typical {t} call cost?",
    answer: "Median 600, but the largest was 51,000.",
    follow: {
      prompt: "Errors are usually in the middle, of course.",
      reply:
        "Lines that look like errors are kept with two lines around them, before head and tail get the rest of the budget.",
      subject: "Keep failing lines when cutting output",
    },
  },
  {
    files: ["src/agent/resume.ts", "src/agent/{t}-session.ts"],
    symbol: "resume{T}Session",
    prompt:
      "When the {t} agent is killed I have to explain everything again to a new one. Can it pick up where it was?",
    reply:
      "Every step is written down before it is acted on. `resume{T}Session` reads them back, drops a call whose result never came, and starts the model with goal, decisions, touched files and the last exchange.",
    code: "const open = calls.filter(({ id }) => !results.has(id))",
    subject: "Continue an interrupted {t} conversation from its records",
    ask: "Where are the transcripts of the {t} agent?",
    answer: "One file per conversation under the home folder, a JSON object a line.",
    follow: {
      prompt: "It should say so when it isn't sure something was done.",
      reply:
        "A call that was started and has no result is listed as uncertain, and the model is told to look before it repeats it.",
      subject: "Flag unfinished actions as uncertain",
    },
  },
  {
    files: ["src/geo/{t}-route.py"],
    symbol: "plan_{t}_route",
    prompt: "The {t} planner sends the van over the ferry at night when it doesn't run.",
    reply:
      "Edges had one travel time for the whole day. Those with a timetable have a function of the arrival now, so waiting for the next departure is part of the cost; `plan_{t}_route` uses the label-setting variant that allows it. It is 15 % slower on average.",
    code: "arrive = edge.depart_after(now) + edge.duration",
    subject: "Respect timetables when routing {ts}",
    ask: "How long does planning a {t} tour take?",
    answer: "Half a second for thirty stops, two minutes for two hundred.",
    follow: {
      prompt: "Two minutes is too long, give me something quickly and improve it.",
      reply:
        "A greedy tour is shown at once and improved in the background; the page gets each better one as it is found.",
      subject: "Anytime answers for long tours",
    },
  },
  {
    files: ["src/acl/{t}-policy.ts"],
    symbol: "can{T}",
    prompt: "An intern could open any {t} by changing the number in the address. Please tell me that's a joke.",
    reply:
      "The route checked that somebody is logged in, not who. Every read and write of a {t} goes through `can{T}` now, which asks for membership of its project; others get 404 so that they cannot probe. A test walks all routes with a stranger's account.",
    code: "if (!(await can(caller, 'read', row))) throw notFound()",
    subject: "Enforce ownership on {t} routes (IDOR)",
    ask: "Which roles exist for {ts}?",
    answer: "Viewer, editor and owner; admins of the company count as owners.",
    follow: {
      prompt: "Was it ever used by somebody?",
      reply: "I went through the access log of ninety days: nobody but the intern. The script is kept under tools.",
      subject: "Script to audit cross-tenant access",
    },
  },
  {
    files: ["src/import/{t}-xml.ts"],
    symbol: "read{T}Xml",
    prompt: "The partner's new {t} feed has a 3 GB XML file. Our reader wants to load it all.",
    reply:
      "`read{T}Xml` pulls events from a streaming parser and builds one record at a time; external entities are off. 3 GB take six minutes in 90 MB of memory, and progress is by bytes.",
    code: "for await (const element of elements(stream, 'item')) yield toRecord(element)",
    subject: "Incremental reader for huge {t} feeds",
    ask: "How often does the partner send the {t} feed?",
    answer: "Every night at two, and a small one with changes each hour.",
    follow: {
      prompt: "If it dies at 80 % we start again from zero?",
      reply:
        "The position after the last committed thousand is kept with the file's checksum, so it goes on from there if the file is the same.",
      subject: "Checkpoint feed ingestion",
    },
  },
  {
    files: ["src/ui/{t}-shortcuts.ts"],
    symbol: "bind{T}Keys",
    prompt: "Power users want to work through {ts} without the mouse.",
    reply:
      "j and k move, x selects, e archives, / searches and ? lists all of them. `bind{T}Keys` ignores keys while one types, and the same table makes the help page, so that it is never out of date.",
    code: "const KEYS = { j: next, k: previous, x: toggle, e: archive }",
    subject: "Keyboard navigation for the {t} inbox",
    ask: "Can I select several {ts} with shift?",
    answer: "Only with the mouse; shift and arrows do nothing so far.",
    follow: {
      prompt: "Let them change the letters.",
      reply: "They can be set in the profile; a letter used twice is refused there.",
      subject: "Customizable hotkeys",
    },
  },
  {
    files: ["src/time/{t}-recurrence.ts"],
    symbol: "next{T}Occurrence",
    prompt: "Monthly {ts} on the 31st vanish in February, and the one at 2:30 ran twice in October.",
    reply:
      "Months without that day use their last one. Times are kept as local time plus zone and turned into a moment at the end: an hour that does not exist moves forward, one that exists twice counts once. `next{T}Occurrence` has a table of ninety cases.",
    code: "date.with({ day: Math.min(day, date.daysInMonth) })",
    subject: "Correct repeating {ts} at month ends and clock changes",
    ask: "Can a {t} repeat every second Tuesday?",
    answer: "Every second week on Tuesday, yes; the second Tuesday of a month, no.",
    follow: {
      prompt: "Then add that one.",
      reply: "Rules can name the nth or last weekday of a month now, in the form calendars exchange them.",
      subject: "Support nth weekday rules",
    },
  },
  {
    files: ["src/flags/{t}-flags.ts"],
    symbol: "is{T}Enabled",
    prompt: "I want to switch the new {t} flow on for 5 % of the customers and see, without deploying.",
    reply:
      "Flags are rows with a percentage and a list of accounts. `is{T}Enabled` hashes flag and account, so that the same account always gets the same answer and 5 % stay in when it becomes 10 %. Changes are picked up within ten seconds and written to the audit log.",
    code: "return hash(`${flag}:${accountId}`) % 10_000 < percent * 100",
    subject: "Gradual rollout switch for the {t} flow",
    ask: "Which flags are on for everybody and could be removed?",
    answer: "Nine of fourteen; the oldest one is from three years ago.",
    follow: {
      prompt: "Remind us about old ones.",
      reply: "Each flag has an owner and a date; the build warns after it and fails a month later.",
      subject: "Expire forgotten toggles",
    },
  },
]
