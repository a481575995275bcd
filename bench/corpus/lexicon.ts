/** The words that people and models use about programs, by hand; sentences.ts puts them together. */
const split = (words: string) => words.trim().split(/\s+/)

export const NOUNS = split(`
  file function error value test change line name type user case code list result option time problem request response
  server client message state call key path field default version page table build input output step order config
  branch commit check number string object module part point place way thing end start set group reason behaviour side
  effect question answer example idea decision plan note detail limit bound size length count total rate edge rule
  condition loop thread process job task queue stream buffer cache lock event handler listener callback promise
  signal timer delay pause retry attempt failure warning log trace report summary status flag switch feature
  setting argument parameter property method class interface contract schema migration column row record entry item
  index cursor range window slice chunk block segment header footer body payload frame packet socket port host address
  domain route endpoint middleware filter hook plugin adapter driver wrapper factory utility library
  package dependency release tag patch diff review comment document paragraph section heading link reference source
  target destination origin copy backup snapshot archive folder directory tree node leaf root parent child sibling
  owner member role permission policy scope token secret password credential identity account profile customer team
  colleague reviewer maintainer developer machine container image volume network cluster region zone instance replica
  leader follower worker scheduler runner executor pipeline stage workflow action trigger job artifact bundle asset
  screen view layout button form dialog menu panel sidebar card icon colour theme font style margin border animation
  keyboard mouse focus selection scroll gesture camera sensor battery clock calendar date month week hour minute
  second moment deadline estimate budget cost price invoice payment refund discount currency ledger balance report
  chart graph axis legend metric counter gauge histogram percentile threshold alert incident outage recovery rollback
  experiment variant hypothesis sample distribution outlier median variance model prompt answer context memory vector
  weight score rank threshold match hit miss candidate corpus language grammar token parser lexer compiler linker
  runtime interpreter allocator heap stack pointer reference register instruction branch opcode kernel syscall
  descriptor mutex semaphore barrier channel pool arena bitmap hash digest signature certificate handshake cipher
  exception guard invariant assertion fixture mock stub harness suite coverage snapshot baseline benchmark profile
  bottleneck latency throughput bandwidth memory overhead footprint regression leak race deadlock timeout truncation
  overflow rounding precision encoding charset locale translation plural timezone offset boundary shape pattern glob
  wildcard expression operator literal constant variable closure generator iterator decorator annotation constraint
  trigger view transaction isolation savepoint partition shard replica quorum heartbeat lease election checkpoint`)

export const VERBS = split(`
  add remove change move call return read write open close start stop check keep drop make build run test fix handle
  load save store fetch send receive parse render show hide print log trace report count sort filter match map merge
  split join wrap unwrap extract inline rename replace restore revert reset clear fill flush drain pause resume retry
  cancel abort reject accept resolve await defer delay schedule trigger emit publish subscribe listen poll watch
  notify warn raise throw catch ignore skip allow deny grant revoke validate verify sanitize escape encode decode
  encrypt sign hash compress expand truncate pad trim align clamp round normalize convert cast copy clone compare
  detect guess infer derive compute measure estimate sample collect gather aggregate group reduce bound limit throttle
  batch buffer queue cache evict refresh reload rebuild restart upgrade migrate deploy release publish install
  configure enable disable toggle register mount attach detach bind connect reconnect disconnect authenticate
  authorize redirect forward proxy rewrite route dispatch delegate inject import export document describe explain
  review refactor simplify clean tidy inspect debug reproduce bisect isolate guard protect lock release acquire
  allocate free reuse share expose seal freeze thaw probe scan search index rank score select insert update upsert
  delete purge archive rotate stage commit push pull rebase tag annotate format lint compile transpile bundle minify`)

export const ADJECTIVES = split(`
  new old same other last first next small large short long simple complex clear strange wrong right correct broken
  stale fresh empty missing extra partial complete whole single double public private internal external local remote
  global shared nested flat sorted random stable flaky slow fast cheap expensive safe unsafe strict loose optional
  required default custom manual automatic synchronous asynchronous concurrent parallel sequential atomic idempotent
  lazy eager cold warm hot dead alive idle busy early late final initial previous current pending active inactive
  visible hidden readable writable mutable immutable typed untyped generic specific abstract concrete legacy modern
  portable native virtual physical logical temporary permanent persistent volatile durable transient recursive
  circular invalid malformed unexpected duplicate unique redundant obsolete deprecated experimental subtle obvious
  harmless dangerous noisy quiet verbose terse explicit implicit ambiguous consistent inconsistent related unrelated`)

export const ADVERBS = split(`
  only also still already always never often sometimes usually again twice once directly silently quickly slowly
  lazily eagerly correctly wrongly explicitly implicitly probably certainly apparently eventually immediately later
  first finally currently previously recently locally remotely safely atomically separately together twice mostly
  partly fully barely exactly roughly deliberately accidentally`)

export interface Topic {
  name: string
  nouns: string[]
  verbs: string[]
  /** Names of things outside of the code: products, protocols, settings. */
  terms: string[]
}

/** One a line: name | nouns | verbs | terms. */
export const TOPICS: Topic[] = topics(`
auth|login session cookie token refresh logout password consent scope expiry redirect nonce|authenticate authorize expire revoke sign|OAuth2 PKCE JWT SameSite bcrypt OpenID
billing|invoice subscription plan proration refund coupon ledger tax charge receipt dunning|charge refund prorate settle reconcile|Stripe VAT SEPA webhooks IBAN ISO-4217
caching|eviction entry ttl stampede warmup invalidation shard prefix staleness hit miss|evict warm invalidate expire prefetch|Redis memcached LRU ETag Cache-Control stale-while-revalidate
search|postings ranking stemmer snippet query recall tokenizer synonym facet relevance corpus|rank tokenize stem highlight boost|BM25 Lucene trigram FTS5 TF-IDF nDCG
ci|pipeline runner artifact matrix job stage badge shard quarantine checkout trigger|trigger shard upload cancel rerun|GitHub-Actions Jenkins Buildkite YAML cron concurrency-group
containers|image layer registry entrypoint volume healthcheck tag base digest sidecar manifest|pull push mount prune tag|Docker OCI Alpine distroless BuildKit Compose
kubernetes|pod deployment probe ingress namespace quota eviction rollout selector taint node|drain cordon scale roll schedule|kubectl Helm CRD etcd HPA kubelet
frontend|component hook render prop effect reducer route suspense hydration portal fragment|render memoize hydrate mount dispatch|React Next.js Vite useEffect JSX Tailwind
styling|grid flexbox breakpoint gutter contrast palette shadow overflow stacking transition spacing|align wrap collapse animate stack|CSS z-index rem prefers-color-scheme Sass viewport
database|query index join plan vacuum lock deadlock isolation tuple sequence statement|index join vacuum analyse deadlock|PostgreSQL MVCC EXPLAIN btree WAL pgbouncer
sqlite|journal checkpoint page pragma busy transaction rowid trigger blob statement writer|checkpoint attach vacuum commit prepare|SQLite WAL better-sqlite3 FULL-sync json_each FTS
messaging|broker topic partition offset consumer producer rebalance acknowledgement backlog deadletter poison|publish consume acknowledge redeliver replay|Kafka RabbitMQ NATS AMQP exactly-once SQS
http|header status redirect body chunk keepalive proxy compression range cookie preflight|redirect compress stream proxy negotiate|CORS HTTP/2 gzip Content-Type nginx TLS1.3
graphql|resolver schema fragment mutation subscription loader directive scalar federation depth alias|resolve batch paginate stitch federate|GraphQL DataLoader Apollo Relay SDL introspection
mobile|screen gesture keyboard permission notification deeplink orientation bundle simulator viewport splash|navigate swipe install notify rotate|Swift Kotlin Gradle Xcode APNs Expo
security|vulnerability sanitizer injection advisory audit secret exposure sandbox allowlist signature escalation|sanitize escape rotate audit exploit|CVE XSS CSRF SSRF CSP OWASP
networking|socket packet handshake resolver latency congestion retransmit buffer peer route interface|connect resolve retransmit route listen|TCP QUIC DNS MTU epoll WireGuard
parsing|grammar token lexer precedence recovery lookahead production ast whitespace escape delimiter|parse lex recover backtrack fold|PEG LALR ANTLR tree-sitter EBNF unicode
compilers|pass register inlining liveness dominator lowering intrinsic constant folding loop phi|inline lower spill fold unroll|LLVM SSA wasm JIT DWARF Cranelift
rust|borrow lifetime trait crate macro ownership iterator unsafe feature enum pattern|borrow clone implement derive unwrap|cargo tokio serde Arc clippy async-trait
python|decorator generator interpreter wheel virtualenv dataclass typing coroutine import module pickle|import annotate pickle await decorate|pip pytest asyncio pydantic GIL mypy
golang|goroutine channel interface receiver context defer slice mutex module escape panic|select defer recover marshal close|gofmt pprof errgroup go.mod cgo sync.Pool
typescript|generic union narrowing inference declaration overload enum assertion guard literal satisfies|narrow infer declare overload widen|tsc tsconfig zod ESM noUncheckedIndexedAccess d.ts
testing|fixture assertion mock snapshot coverage flake harness suite matcher seed property|assert mock stub seed shrink|vitest Playwright Jest QuickCheck JUnit testcontainers
observability|span trace metric exporter dashboard alert sampling cardinality label baggage collector|instrument sample export alert scrape|OpenTelemetry Prometheus Grafana Jaeger OTLP PromQL
logging|level sink rotation redaction correlation timestamp transport context record severity buffer|redact rotate flush correlate emit|pino syslog NDJSON journald logfmt Loki
performance|profile hotspot allocation flamegraph regression budget throughput jitter warmup baseline sample|profile allocate benchmark vectorize prefetch|perf V8 SIMD hyperfine GC heapdump
concurrency|mutex semaphore race deadlock fence actor queue worker fairness starvation wakeup|lock park wake steal race|CAS futex ABBA memory-order work-stealing RwLock
storage|bucket object multipart lifecycle checksum replica erasure region upload retention tier|upload replicate checksum tier expire|S3 MinIO GCS parity presigned-URL rclone
i18n|locale plural translation placeholder fallback collation catalogue gender script number timezone|translate pluralize format collate fallback|ICU CLDR gettext RTL BCP-47 Intl
accessibility|landmark focus label contrast reader caption keyboard order role announcement tooltip|announce focus label trap describe|ARIA WCAG NVDA tabindex VoiceOver axe-core
editor|cursor selection buffer keymap completion diagnostic gutter fold snippet marker viewport|complete highlight fold jump reflow|VSCode Neovim LSP Monaco CodeMirror tree-sitter
agents|prompt tool transcript context session compaction subagent budget permission plan hook|prompt compact resume delegate approve|MCP Claude Codex tool_use stdio SessionStart
machinelearning|gradient batch epoch checkpoint embedding loss optimizer dataset dropout overfitting learning|train finetune evaluate quantize converge|PyTorch CUDA LoRA AdamW ONNX softmax
data|pipeline warehouse partition backfill lineage column schema snapshot watermark upsert duplicate|backfill ingest dedupe partition materialize|Spark Parquet dbt Airflow Iceberg DuckDB
git|rebase conflict worktree stash hunk remote ref submodule history bisect blame|rebase squash bisect cherry-pick stash|git reflog LFS HEAD pre-commit .gitattributes
cli|flag argument prompt completion exit pager colour terminal subcommand progress config|parse pipe page colour complete|POSIX ANSI readline TTY --json stdin
email|template bounce sender inbox unsubscribe attachment thread queue suppression header digest|send bounce suppress render queue|SMTP DKIM SPF DMARC MJML Postmark
payments|checkout gateway authorization capture dispute card wallet idempotency retry settlement fraud|capture dispute tokenize settle decline|3DS PCI-DSS Adyen Apple-Pay BIN PayPal
maps|tile layer projection marker geocoder polygon route zoom bearing cluster feature|project geocode simplify cluster snap|GeoJSON PostGIS Mapbox WGS84 OSM H3
`)

function topics(lines: string): Topic[] {
  return lines
    .trim()
    .split("\n")
    .map((line) => {
      const [name, nouns, verbs, terms] = line.split("|")
      return { name: name!, nouns: split(nouns!), verbs: split(verbs!), terms: split(terms!) }
    })
}
