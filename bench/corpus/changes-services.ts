import type { Scenario } from "./changes.ts"

/** What is done to servers and queues. */
export const SERVICE_CHANGES: Scenario[] = [
  {
    files: ["src/auth/{t}-session.ts", "src/auth/clock.ts"],
    symbol: "refresh{T}Token",
    prompt:
      "People get thrown out in the middle of editing a {t}. I think we only look at the token when it is already dead. Can we get a new one a bit earlier?",
    reply:
      "The access token was checked at the moment of use, so a request that took longer than what was left came back with 401. `refresh{T}Token` now renews it sixty seconds before it runs out, and requests that arrive meanwhile wait for the same renewal instead of starting their own.",
    code: "const leftMs = token.expiresAtMs - clock.nowMs()\nif (leftMs < EARLY_MS) return renewOnce(token)",
    subject: "Renew {t} credentials ahead of expiry so nobody is signed out mid-edit",
    ask: "How long does a login for the {t} pages last, and where is that set?",
    answer:
      "Fifteen minutes for the access token and thirty days for the refresh token; both numbers are in `src/auth/limits.ts`. The {t} pages have no value of their own.",
    follow: {
      prompt: "and if the renewal itself fails because the machine was asleep?",
      reply:
        "After a sleep the refresh token may be gone as well. In that case the editor keeps the unsaved {t} in local storage and shows the login over it, and the draft is put back afterwards.",
      subject: "Keep the draft {t} across a forced login",
    },
  },
  {
    files: ["src/queue/{t}-worker.ts"],
    symbol: "consume{T}Batch",
    prompt:
      "The same {t} got charged twice last night. The worker crashed after doing the job but before it told the broker. Make that impossible, please.",
    reply:
      "Each job now carries the sender's own key, and `consume{T}Batch` writes it to a table in the same transaction as the effect. When the broker hands the message out again the insert finds the key and the job is acknowledged without being done.",
    code: "const isNew = await tx.insertOnce('done_{t}', message.key)\nif (!isNew) return ack(message)",
    subject: "Process each {t} job once, even when it is redelivered",
    ask: "What happens to {t} messages that fail five times?",
    answer:
      "They go to the dead letter queue after the fifth attempt. Nothing reads that queue yet; it is only shown on the dashboard.",
    follow: {
      prompt: "The table of keys will grow forever now, won't it?",
      reply:
        "Yes. I added a nightly sweep that drops keys older than fourteen days, which is twice as long as the broker keeps a message.",
      subject: "Sweep idempotency keys after two weeks",
    },
  },
  {
    files: ["src/db/{t}-list.sql", "src/api/{ts}.ts"],
    symbol: "list{T}Page",
    prompt: "Opening page 400 of the {ts} takes nine seconds. The first pages are fine. What is going on?",
    reply:
      "OFFSET reads and throws away everything before the page. I replaced it by a cursor: the next page starts after the last (created_at, id) that was shown, which the existing index answers directly. Page 400 takes 4 ms now, like page 1.",
    code: "where (created_at, id) < ($1, $2)\norder by created_at desc, id desc\nlimit $3",
    subject: "Page through {ts} by keyset instead of offset",
    ask: "Which indexes do we have on the {ts} table?",
    answer:
      "Primary key on id, one on (created_at, id) and a partial one on owner where deleted_at is null. The last one is not used by any query that I can find.",
    follow: {
      prompt: "The old links with ?page= are in people's bookmarks. Don't break them.",
      reply:
        "`?page=` still works: it is turned into a cursor once and answered with a redirect, up to page 50. Beyond that it leads to the first page with a note.",
      subject: "Redirect numbered links of the {t} list to cursors",
    },
  },
  {
    files: ["src/http/{t}-client.ts"],
    symbol: "fetch{T}WithRetry",
    prompt:
      "When the {t} provider has a hiccup we hammer it with all our pods at the same second, and it falls over again. Be nicer.",
    reply:
      "`fetch{T}WithRetry` waited a fixed second, so all pods came back together. It now doubles the wait from 200 ms up to 20 s and picks a random moment within it; a `Retry-After` from the server is obeyed. After six attempts it gives up with the last error as cause.",
    code: "const waitMs = random() * Math.min(20_000, 200 * 2 ** attempt)",
    subject: "Exponential backoff with jitter for calls to the {t} provider",
    ask: "Do we retry POST requests to the {t} provider as well?",
    answer:
      "No, only GET and PUT. A POST that fails is shown to the user, because the provider has no idempotency keys.",
    follow: {
      prompt: "Can we stop asking altogether while it is down for minutes?",
      reply:
        "I put a circuit breaker in front: after ten failures in a row it answers at once with `provider_down` for thirty seconds, then lets a single request through to see.",
      subject: "Open a circuit breaker after ten failed {t} requests",
    },
  },
  {
    files: ["migrations/0042_{t}_status.sql", "src/db/{t}-repo.ts"],
    symbol: "migrate{T}Status",
    prompt:
      "Deploying the status column locked the {t} table for eleven minutes. How do we do that without downtime next time?",
    reply:
      "Adding the column with a default rewrote the table. It is three steps now: add it nullable, fill it in batches of five thousand with a pause between them, then set the default and the not-null check as `not valid` and validate it afterwards. No step holds a lock for longer than a second.",
    code: "alter table {ts} add column status text;\nalter table {ts} add constraint status_set check (status is not null) not valid;",
    subject: "Backfill {t} status in batches to avoid the long table lock",
    ask: "Which version of PostgreSQL runs in production?",
    answer: "15.6 on both replicas and the primary, according to the last line of the health endpoint.",
    follow: {
      prompt: "The fill job should survive a restart of the pod.",
      reply:
        "It writes the last id that it filled to `job_position` after each batch and goes on from there when it starts.",
      subject: "Resume the status fill from its last batch",
    },
  },
  {
    files: ["src/cache/{t}-cache.ts"],
    symbol: "get{T}Cached",
    prompt: "Every full hour the database goes to 100 % because the {t} entries all run out together. Spread that.",
    reply:
      "All entries were written by the same warm-up, so they expired in the same second. `get{T}Cached` now adds up to ten per cent of random life time to each, and only one caller recomputes a missing entry while the others get the old value for up to thirty seconds.",
    code: "const ttlMs = BASE_MS * (1 + random() * 0.1)\nreturn single(key, () => load(id))",
    subject: "Stagger {t} cache lifetimes and coalesce recomputation",
    ask: "How big is the {t} cache, and what is the hit rate?",
    answer: "About 40 MB of Redis memory with 210 thousand keys; the hit rate over the last day was 93 %.",
    follow: {
      prompt: "An admin changed a {t} and saw the old one for minutes. Fix that too.",
      reply:
        "Writes now delete the key after the commit and publish the id, so that the in-process copies of the other pods go as well.",
      subject: "Invalidate cached {ts} on write across pods",
    },
  },
  {
    files: ["src/api/{t}-upload.ts", "src/storage/parts.ts"],
    symbol: "upload{T}Parts",
    prompt: "Uploads of big {t} files die on hotel wifi at 90 % and people have to start over. That's painful.",
    reply:
      "The file went up in one request. It is cut into parts of 8 MB now; each has its checksum and is acknowledged on its own, and the browser remembers which are done. After an interruption `upload{T}Parts` asks the server for the list and sends only what is missing.",
    code: "for (const part of parts.filter(({ number }) => !stored.has(number))) await put(part)",
    subject: "Resumable multipart transfer for {t} attachments",
    ask: "What is the maximum size of a {t} attachment today?",
    answer: "100 MB by the reverse proxy (`client_max_body_size`), 500 MB by our own check, so in effect 100.",
    follow: {
      prompt: "What happens with the pieces when somebody never comes back?",
      reply: "A lifecycle rule removes unfinished uploads after three days, and the list of them is shown to admins.",
      subject: "Expire abandoned upload parts",
    },
  },
  {
    files: ["src/api/limits.ts", "src/api/{ts}.ts"],
    symbol: "limit{T}Calls",
    prompt: "One customer's script fetches {ts} in a loop and slows everybody else down. We need some fairness there.",
    reply:
      "There is a token bucket per API key now: fifty calls at once, refilled with ten a second. Who is above that gets a 429 with the seconds to wait. The counters live in Redis so that all pods see the same, with a local fallback when Redis is away.",
    code: "if (!(await bucket.take(key, 1))) throw tooMany(bucket.secondsUntil(key, 1))",
    subject: "Throttle {t} API per key",
    ask: "Who are the top callers of the {ts} endpoint this week?",
    answer: "Three keys make 71 % of the calls; the first alone 54 %, all between 2 and 4 at night.",
    follow: {
      prompt: "Our own mobile app shouldn't be limited like that.",
      reply:
        "Keys have a tier now. First party keys get ten times the bucket; the tier is read with the key, so it costs no query.",
      subject: "Higher request allowance for first party clients",
    },
  },
  {
    files: ["src/search/{t}-index.ts"],
    symbol: "index{T}Text",
    prompt: "Searching for 'cafe' does not find the {t} called 'Café Müller'. Neither does 'muller'.",
    reply:
      "The analyser kept diacritics. `index{T}Text` now folds letters with marks to their base before it splits words, on both sides, and umlauts are found by 'mueller' too. The index has to be rebuilt once; the job is in the release notes.",
    code: "text.normalize('NFKD').replaceAll(/\\p{M}/gu, '').toLowerCase()",
    subject: "Accent-insensitive matching in {t} search",
    ask: "Is the {t} search case sensitive?",
    answer: "No, everything is lower case before it is split. Only the exact filter on codes keeps the case.",
    follow: {
      prompt: "Rebuild without people noticing, please.",
      reply:
        "The rebuild writes to a second index beside the live one and swaps the alias at the end, so that searches always see one complete index.",
      subject: "Rebuild the search index behind an alias",
    },
  },
  {
    files: ["src/mail/{t}-digest.ts"],
    symbol: "send{T}Digest",
    prompt: "People in Tokyo get the weekly {t} mail at 4 in the morning. Send it at nine wherever they are.",
    reply:
      "The job ran once, at nine UTC. It runs every quarter of an hour now and picks those accounts whose local time just passed nine on Monday, by the zone in their profile. `send{T}Digest` notes the week, so that nobody gets two when the clocks change.",
    code: "const local = Temporal.Instant.from(now).toZonedDateTimeISO(account.zone)",
    subject: "Deliver the {t} digest at nine local time",
    ask: "Which template is used for the {t} mail?",
    answer: "`templates/digest.mjml`; the subject line comes from the translations under `mail.digest`.",
    follow: {
      prompt: "And let them switch it off with one click from the mail.",
      reply:
        "The mail has a `List-Unsubscribe` header with a signed link now, and the footer uses the same one. No login is needed.",
      subject: "One-click unsubscribe header",
    },
  },
  {
    files: ["src/webhooks/{t}-sender.ts", "src/webhooks/sign.ts"],
    symbol: "sign{T}Event",
    prompt: "Customers ask how they can be sure a {t} webhook really comes from us.",
    reply:
      "Every request now carries a timestamp and an HMAC of timestamp and body, made with the secret of that endpoint. Receivers compare it in constant time and refuse what is older than five minutes. Two secrets may be valid at once so that one can be rotated.",
    code: "createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')",
    subject: "Sign outgoing {t} notifications with a shared secret",
    ask: "How many {t} webhooks do we send a day?",
    answer: "About 140 thousand, 2 % of which are retried at least once.",
    follow: {
      prompt: "Add a button to send a test one.",
      reply:
        "The settings page has a button now that sends a sample event with `test: true` and shows status, headers and the first kilobyte of the answer.",
      subject: "Sample delivery button in the endpoint settings",
    },
  },
]
