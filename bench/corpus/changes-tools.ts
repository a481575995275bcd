import type { Scenario } from "./changes.ts"

/** What is done to command lines, builds, tests and libraries. */
export const TOOL_CHANGES: Scenario[] = [
  {
    files: ["cli/{t}.ts", "cli/output.ts"],
    symbol: "print{T}Table",
    prompt: "I want to use the {t} command in scripts, but it prints boxes and colours into the pipe.",
    reply:
      "Colours and borders are only used when standard output is a terminal, and NO_COLOR is honoured. `--json` prints one object per line with stable names; errors go to standard error and the exit code says what kind.",
    code: "const isPlain = !process.stdout.isTTY || env.NO_COLOR !== undefined",
    subject: "Machine readable output for the {t} command",
    ask: "Which exit codes does the {t} command have?",
    answer: "0 and 1, where 1 may mean anything from a typo to a dead network.",
    follow: {
      prompt: "Document the fields, somebody will rely on them.",
      reply: "The names are in the man page with types, and a snapshot test fails when one of them changes.",
      subject: "Pin down the JSON field names",
    },
  },
  {
    files: ["cli/config.ts"],
    symbol: "load{T}Config",
    prompt: "A typo in the {t} settings file is silently ignored and I waste an hour. Tell me!",
    reply:
      "`load{T}Config` checks the file against the schema now. An unknown key is refused with file, line and the nearest known name; wrong types say what was expected and what was there.",
    code: "throw new ConfigError(`${file}:${line}: no setting '${key}', did you mean '${nearest}'?`)",
    subject: "Reject unknown {t} options with a suggestion",
    ask: "In which order are {t} settings read?",
    answer:
      "Defaults, then the file in the home folder, then the one in the project, then the environment, then flags.",
    follow: {
      prompt: "I'd like to see what is in effect and why.",
      reply: "`config show` lists each value with where it came from.",
      subject: "Explain the origin of effective values",
    },
  },
  {
    files: [".github/workflows/test.yml", "scripts/{t}-shard.ts"],
    symbol: "shard{T}Tests",
    prompt: "The pipeline takes 38 minutes and most of it is the {t} tests running one after the other.",
    reply:
      "They run on six machines now. `shard{T}Tests` divides the files by how long they took last time, not by count, so that all end at about the same moment. 9 minutes in all; what took long is kept as an artifact.",
    code: "const shards = balance(files, (file) => lastMs.get(file) ?? 5_000, 6)",
    subject: "Parallelize {t} suite by recorded duration",
    ask: "Which of the {t} tests are the slowest?",
    answer: "Three browser tests take four minutes each, because they wait for a fixed time.",
    follow: {
      prompt: "Cancel the run when I push again.",
      reply: "Runs of the same branch share a concurrency group, the older one is cancelled; main is left alone.",
      subject: "Cancel superseded workflow runs",
    },
  },
  {
    files: ["test/{t}.test.ts", "test/fixtures/clock.ts"],
    symbol: "wait{T}Ready",
    prompt: "The {t} test fails one time in thirty. Always on Fridays, I swear.",
    reply:
      "It slept for 200 ms and hoped. `wait{T}Ready` waits for the state itself now, with a limit, and the clock is passed in instead of read, which also explains Fridays: the date arithmetic was off by the weekend. 2,000 runs in a row passed.",
    code: "await until(() => service.state === 'ready', { limitMs: 5_000 })",
    subject: "Deflake {t} spec: no sleeping, injected clock",
    ask: "Do we retry failing tests in the pipeline?",
    answer: "Twice, which hides the flaky ones; the report counts them at least.",
    follow: {
      prompt: "Then turn the retries off.",
      reply: "Retries are gone. A test that fails and passes on the same commit is listed in a weekly issue instead.",
      subject: "Stop rerunning failed specs",
    },
  },
  {
    files: ["src/parser/{t}.ts"],
    symbol: "parse{T}",
    prompt: "A single bad line in a {t} file makes the importer throw everything away. Skip it and tell me.",
    reply:
      "`parse{T}` collects problems and goes on at the next line. The result has the records and a list of what was skipped with line, column and reason; above a hundred problems it stops, because then it is the wrong file.",
    code: "problems.push({ line, column, reason })\ncontinue",
    subject: "Tolerate malformed {t} lines while importing",
    ask: "What encodings can the {t} importer read?",
    answer: "UTF-8 with and without mark; UTF-16 only when the mark is there.",
    follow: {
      prompt: "Give me the skipped ones as a file I can fix.",
      reply:
        "They are written beside the input as `.rejected` with the reason in a last column, ready to be imported again.",
      subject: "Write rejects next to the source",
    },
  },
  {
    files: ["src/core/{t}-cache.rs", "src/core/arena.rs"],
    symbol: "{t}_arena",
    prompt: "Memory of the {t} service climbs by 50 MB an hour until it is killed. Restarting is not a fix.",
    reply:
      "Listeners were added at each reconnect and never removed; each held its buffer. They are tied to the life of the connection now. A test opens and closes ten thousand connections and checks that the heap comes back to where it was.",
    code: "let guard = bus.subscribe(handler); // dropped with the connection",
    subject: "Plug the {t} subscriber leak on reconnect",
    ask: "How much memory does the {t} service need at rest?",
    answer: "90 MB after start, 140 after the first hour of traffic.",
    follow: {
      prompt: "Alert me before it gets killed next time.",
      reply:
        "There is an alert when it is above 80 % of its limit for ten minutes, with a link to the heap profile that is taken then.",
      subject: "Page on sustained high memory",
    },
  },
  {
    files: ["src/sdk/{t}.ts", "src/sdk/types.ts"],
    symbol: "{T}Client",
    prompt: "The SDK returns any for everything about {ts}. Our users ask for types.",
    reply:
      "They are generated from the schema now, so `{T}Client` knows parameters and results. Dates stay strings because that is what is sent; unions have a discriminating `kind`. The build fails when schema and types differ.",
    code: "export type {T}Event = { kind: 'created'; at: string } | { kind: 'closed'; reason: string }",
    subject: "Typed {t} client derived from the API description",
    ask: "Which versions of TypeScript must the SDK work with?",
    answer: "From 5.2 on; older ones choke on the const type parameters we use.",
    follow: {
      prompt: "People can't import it from CommonJS.",
      reply:
        "The package has both builds with an exports map; a smoke test requires and imports each in a fresh folder.",
      subject: "Ship dual module formats",
    },
  },
  {
    files: ["scripts/release.ts", "CHANGELOG.md"],
    symbol: "release{T}",
    prompt: "Releasing {t} packages by hand went wrong again, wrong tag on the wrong commit. Automate it.",
    reply:
      "`release{T}` reads the change notes, computes the next version, writes the changelog, commits, tags and publishes with provenance, from a clean checkout only. Each step can be repeated; a second run after a failure goes on where it stopped.",
    code: "if ((await git('status', '--porcelain')) !== '') throw new Error('not clean')",
    subject: "One command to version, tag and publish {t} packages",
    ask: "Who may publish the {t} packages?",
    answer: "Four people with tokens of their own; two of them left last year.",
    follow: {
      prompt: "A dry run that shows what it would do?",
      reply: "`--dry-run` prints every step with its command and the changelog text, and changes nothing.",
      subject: "Preview mode for publishing",
    },
  },
  {
    files: ["Dockerfile", "deploy/{t}/build.sh"],
    symbol: "build{T}Image",
    prompt: "The {t} image is 1.9 GB and every code change downloads all dependencies again.",
    reply:
      "Dependencies are copied and installed before the sources, so that their layer is reused; the final stage has only the runtime, production packages and the built files, and runs as an unprivileged user. 180 MB, and a rebuild takes 12 seconds.",
    code: "COPY package*.json ./\nRUN npm ci --omit=dev\nCOPY dist ./dist",
    subject: "Slim multi-stage {t} container with cached dependencies",
    ask: "What base does the {t} image use?",
    answer: "The full Debian one, because of an image library that nobody calls any more.",
    follow: {
      prompt: "Security wants to know what's inside.",
      reply:
        "The build writes a bill of materials and scans it; known critical holes fail it unless they are listed with a reason and a date.",
      subject: "Scan and inventory what we ship",
    },
  },
  {
    files: ["src/plugins/{t}-loader.ts"],
    symbol: "load{T}Plugin",
    prompt: "A broken third party {t} plugin takes the whole editor down with it.",
    reply:
      "Plugins run in a worker each and talk by messages. `load{T}Plugin` gives one two seconds to start and restarts it once when it crashes; the second time it is switched off and the person is told which and why. The editor never waits for one.",
    code: "worker.on('exit', () => (crashes++ < 1 ? start() : disable(reason)))",
    subject: "Isolate faulty {t} extensions in workers",
    ask: "What may a {t} plugin access?",
    answer: "Everything the process can; there is no permission model.",
    follow: {
      prompt: "At least ask before one reads files.",
      reply:
        "A manifest names what a plugin needs. Files and network are asked for at first use and remembered per workspace.",
      subject: "Permission prompts for add-ons",
    },
  },
  {
    files: ["src/model/{t}-eval.py"],
    symbol: "evaluate_{t}",
    prompt: "The {t} classifier got 97 % in the notebook and is rubbish in production. Something smells.",
    reply:
      "Near copies of the same {t} were on both sides of the random split, so it was tested on what it had learnt. The split is by customer and by time now. The honest figure is 81 %, and the report shows it per class with intervals.",
    code: "train, test = split_by(rows, key='customer_id', before=CUTOFF)",
    subject: "Prevent train/test leakage in {t} evaluation",
    ask: "How many labelled {ts} do we have?",
    answer: "12,400, of which about 3,000 are near copies of others.",
    follow: {
      prompt: "Make the numbers reproducible.",
      reply:
        "Seeds, data hash and package versions are written with each run, and the job refuses to overwrite a run with the same id.",
      subject: "Record seed and dataset hash of each run",
    },
  },
  {
    files: ["src/text/{t}-wrap.ts"],
    symbol: "truncate{T}Title",
    prompt: "Cutting {t} titles at 40 chars breaks emojis into question marks and chops in the middle of words.",
    reply:
      "It counted UTF-16 units. `truncate{T}Title` cuts by what a person sees as a character, at the last space that leaves at least half, and adds one ellipsis. Widths of Asian characters count double in the terminal.",
    code: "const marks = [...new Intl.Segmenter(locale, { granularity: 'grapheme' }).segment(text)]",
    subject: "Grapheme-safe shortening of {t} headings",
    ask: "Where are {t} titles shortened?",
    answer: "In five places, each with its own limit between 30 and 80.",
    follow: {
      prompt: "One function for all five then.",
      reply: "All five call it with their limit; the copies are gone.",
      subject: "Consolidate the five copies of text shortening",
    },
  },
]
