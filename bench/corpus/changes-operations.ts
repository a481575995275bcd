import type { Scenario } from "./changes.ts"

/** What is done to interfaces between programs, and to running them. */
export const OPERATION_CHANGES: Scenario[] = [
  {
    files: ["src/db/pool.ts", "src/jobs/{t}-report.ts"],
    symbol: "build{T}Report",
    prompt:
      "While the {t} report runs, the site gets 'timeout acquiring a connection'. The report shouldn't starve everyone.",
    reply:
      "It held one connection of the pool per chart, twenty in all. The report has a pool of its own with two connections now, against the replica, and `build{T}Report` streams rows with a cursor instead of loading them.",
    code: "const pool = makePool({ url: replicaUrl, max: 2, statementTimeoutMs: 600_000 })",
    subject: "Run {t} reporting on a separate connection pool",
    ask: "How many database connections are we allowed?",
    answer: "200 on the server, 20 per pod, eight pods; so there is room for two more pods.",
    follow: {
      prompt: "It should also not run twice when I click twice.",
      reply:
        "A second click returns the report that is being built, found by its parameters; the button is disabled meanwhile.",
      subject: "Reuse a report that is already being built",
    },
  },
  {
    files: ["src/api/{t}-patch.ts"],
    symbol: "patch{T}",
    prompt: "Two people edited the same {t} and the second one silently overwrote the first. They were not amused.",
    reply:
      "Reads return a version as ETag now, and `patch{T}` demands it in `If-Match`. When it is no longer current the answer is 412 with the present state, and the page shows both sides and lets the person choose.",
    code: "update {ts} set body = $1, version = version + 1 where id = $2 and version = $3",
    subject: "Optimistic locking on {t} edits",
    ask: "Do we keep a history of {t} changes?",
    answer: "Only who and when, in the audit table; the old content is not kept.",
    follow: {
      prompt: "Most conflicts are in different fields. Merge those by themselves.",
      reply:
        "If the two edits touch different fields they are merged on the server, and the answer says which came from the other person.",
      subject: "Merge non-overlapping field edits automatically",
    },
  },
  {
    files: ["src/observe/log.ts", "src/api/{ts}.ts"],
    symbol: "log{T}Request",
    prompt: "I found e-mail addresses of customers in our {t} logs. Legal will kill us.",
    reply:
      "`log{T}Request` printed the whole body. It logs a fixed list of fields now, and a serializer at the sink masks anything that looks like an address, a card or a bearer token, also inside of error messages. Old files are rewritten by a script.",
    code: "redact: { paths: ['body.email', 'headers.authorization'], censor: '[masked]' }",
    subject: "Redact personal data from {t} log lines",
    ask: "How long do we keep the logs?",
    answer: "Thirty days hot, a year in the archive bucket, which nobody but operations can read.",
    follow: {
      prompt: "Add a test that fails when somebody logs one again.",
      reply:
        "There is a test that sends a request full of marked fake data through every route and greps the captured output for the marks.",
      subject: "Guard against leaking addresses in output",
    },
  },
  {
    files: ["src/jobs/schedule.ts", "src/jobs/{t}-cleanup.ts"],
    symbol: "schedule{T}Cleanup",
    prompt: "With three pods the {t} cleanup runs three times at midnight. Once would do.",
    reply:
      "Each pod had its own timer. They now compete for a lease in the database: who holds it runs the job, renews the lease while it works, and the others skip. If the holder dies the lease runs out after a minute and the next one takes over.",
    code: "update leases set owner = $1, until = now() + interval '60 s' where name = $2 and until < now()",
    subject: "Elect one pod for the nightly {t} cleanup",
    ask: "What does the nightly job on {ts} delete exactly?",
    answer: "Drafts that nobody touched for ninety days and attachments without a parent.",
    follow: {
      prompt: "I'd like to see when it last ran.",
      reply: "Start, end and count are written to `job_runs`, and the status page lists the last ten.",
      subject: "Show recent maintenance runs on the status page",
    },
  },
  {
    files: ["src/graphql/{t}-loader.ts"],
    symbol: "load{T}Owners",
    prompt: "The {t} overview fires 301 queries. For a hundred rows. Seriously.",
    reply:
      "Owner, tags and counts were resolved one row at a time. Each has a loader now that collects the ids asked for in one tick and fetches them together; `load{T}Owners` keeps them for the request. The overview makes four queries.",
    code: "new Loader(async (ids) => byId(ids, await db.owners.whereIn(ids)))",
    subject: "Batch nested lookups of the {t} overview (N+1)",
    ask: "Which fields does the {t} overview ask for?",
    answer: "id, name, owner { name }, tags { label }, commentCount. The last one is the most expensive.",
    follow: {
      prompt: "Make sure that this doesn't creep back in.",
      reply: "Tests count statements per request now and fail above ten, with the list of them in the message.",
      subject: "Fail tests on too many statements per request",
    },
  },
  {
    files: ["src/auth/passwords.ts"],
    symbol: "verify{T}Password",
    prompt:
      "Our password hashes for {t} accounts are still SHA-1 from 2012?! Can we move without making everybody reset?",
    reply:
      "New ones are argon2id. The old hashes were wrapped: argon2id over the stored SHA-1, so that nothing weak lies in the table any more. When such a person logs in `verify{T}Password` has the plain text in hand and replaces the wrapped hash by a direct one.",
    code: "if (row.scheme === 'argon2id(sha1)') await rehash(row.id, password)",
    subject: "Upgrade legacy credential hashing transparently at sign-in",
    ask: "How many {t} accounts logged in during the last year?",
    answer: "61 thousand out of 190 thousand; the rest has not been seen since the relaunch.",
    follow: {
      prompt: "And slow down guessing, please.",
      reply:
        "After five wrong attempts the wait grows from one second to fifteen minutes, by account and by network, and a right one resets it.",
      subject: "Delay repeated wrong sign-in attempts",
    },
  },
  {
    files: ["src/export/{t}-csv.ts"],
    symbol: "stream{T}Csv",
    prompt: "Exporting all {ts} runs out of memory at about two million. It builds one giant string.",
    reply:
      "`stream{T}Csv` is a generator now: rows come from a server-side cursor a thousand at a time and go through gzip straight to the response. Memory stays at 60 MB whatever the size, and the first bytes arrive after 80 ms.",
    code: "for await (const rows of cursor(query, 1000)) yield rows.map(toLine).join('')",
    subject: "Stream the {t} download row by row",
    ask: "Which columns does the {t} export have?",
    answer: "All of the list view plus created and changed; custom fields come last, one column each.",
    follow: {
      prompt: "Excel shows garbage for umlauts.",
      reply:
        "Excel takes files without a mark for Latin-1. The export starts with a byte order mark when the user agent asks for `excel=1`.",
      subject: "Byte order mark for spreadsheet users",
    },
  },
  {
    files: ["src/payments/{t}-refund.ts"],
    symbol: "refund{T}",
    prompt: "Support refunded 100.10 for a {t} and the customer got 100.09. Where did the cent go?",
    reply:
      "Amounts were floats and multiplied by 100 on the way to the gateway, 10009.999 became 10009. They are integers in minor units everywhere now, with the currency beside them; `refund{T}` refuses a mixture of currencies, and yen has no minor unit.",
    code: "type Money = { minor: bigint; currency: Currency }",
    subject: "Represent {t} amounts as integer minor units",
    ask: "Which currencies do we accept for {ts}?",
    answer: "EUR, USD, GBP, CHF and JPY; JPY only since spring.",
    follow: {
      prompt: "What about splitting a refund over three items?",
      reply:
        "The remainder goes to the largest items first, a unit each, so that the parts always add up to the whole.",
      subject: "Distribute rounding remainders over line items",
    },
  },
  {
    files: ["src/realtime/{t}-socket.ts"],
    symbol: "resume{T}Stream",
    prompt: "After a short network drop the live {t} board misses whatever happened in between until you reload.",
    reply:
      "Events have a number per board now and the server keeps the last thousand. On reconnect `resume{T}Stream` sends the last number it saw and gets the rest; if that is too old it gets a snapshot instead.",
    code: "socket.send({ type: 'resume', after: lastSeen })",
    subject: "Replay missed {t} events after reconnecting",
    ask: "Do we use websockets or server-sent events for the {t} board?",
    answer: "Websockets, with a fallback to long polling behind proxies that do not upgrade.",
    follow: {
      prompt: "My laptop shows itself online for ages after I close the lid.",
      reply:
        "The server pings every twenty seconds now and drops a connection that did not answer twice; presence follows from it.",
      subject: "Drop silent connections by heartbeat",
    },
  },
  {
    files: ["src/api/errors.ts", "src/api/{ts}.ts"],
    symbol: "to{T}Problem",
    prompt: "Clients complain that every error from the {t} API looks different. Sometimes it's even HTML.",
    reply:
      "All routes go through one handler now. It answers with `application/problem+json`: a stable code from a closed table, a sentence for people, and the field when it is about one. Unknown errors become `internal` with an id that is in the log.",
    code: "return c.json({ type: code, title, detail, instance: requestId }, status)",
    subject: "Uniform problem responses across {t} endpoints",
    ask: "Where is the list of error codes for the {t} API?",
    answer: "There was none; they were strings here and there, 47 different ones.",
    follow: {
      prompt: "Document them for the customers.",
      reply: "The table generates a page of the docs, and a test fails when a code has no text there.",
      subject: "Generate the reference of failure codes",
    },
  },
  {
    files: ["deploy/{t}.yaml", "src/daemon/shutdown.ts"],
    symbol: "drain{T}Server",
    prompt: "Each deploy gives a handful of 502s on the {t} service. Only for a second or two, but it wakes people up.",
    reply:
      "The pod stopped listening before the balancer knew. On SIGTERM it now fails its readiness probe first, waits five seconds for the endpoints to be updated, then stops accepting and lets `drain{T}Server` finish what is running for up to thirty seconds.",
    code: "ready = false\nawait sleep(5_000)\nserver.close()",
    subject: "Graceful termination of {t} pods during rollout",
    ask: "How many replicas does the {t} service have?",
    answer: "Four, spread over two zones, with a disruption budget of one.",
    follow: {
      prompt: "Long polls make it always take the full thirty seconds.",
      reply:
        "Open polls are answered with an empty result and `Connection: close` as soon as draining begins, so it takes two seconds now.",
      subject: "End long polls early when shutting down",
    },
  },
]
