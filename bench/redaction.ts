// Speed of redaction, missed secrets and false positives.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { makeRedactor } from "../src/capture/redact/redaction.ts"
import { type Row, report, round } from "./lib.ts"
import {
  BASE64,
  HEX,
  LOWER,
  MORE_NAMED,
  MORE_PLACED,
  MORE_PLACES,
  MORE_TOKENS,
  MORE_WITHOUT_PREFIX,
  pick,
  type Random,
  UPPER,
  URLSAFE,
  WORD,
  type Wrap,
} from "./redaction-kinds.ts"

function main(): void {
  const redact = makeRedactor()
  const texts = [...generatedTexts(2_000_000), ...filesOf(["docs", "src", "web/src", "node_modules"], 40_000_000)]
  const megabytes = texts.reduce((sum, text) => sum + text.length, 0) / 1e6
  const rates: number[] = []
  for (let round = 0; round < 5; round++) {
    // CPU time, not wall time: other load on the machine must not count.
    const start = process.cpuUsage()
    for (const text of texts) redact(text)
    const { user, system } = process.cpuUsage(start)
    rates.push(megabytes / ((user + system) / 1e6))
  }
  const rate = round(rates.toSorted((a, b) => a - b)[2]!, 1)
  const hits = new Set(texts.flatMap((text) => takenFrom(text, redact(text))))
  const perFive = round((hits.size / megabytes) * 5, 2)
  const planted = plantedSecrets(40)
  const missed = planted.filter((secret) => isMissed(secret, redact(secret.text)))
  const rows: Row[] = [
    { what: "MB/s on one core", value: rate, bar: "≥ 40", holds: rate >= 40 },
    { what: `false hits per 5 MB (of ${Math.round(megabytes)})`, value: perFive, bar: "≤ 1", holds: perFive <= 1 },
    { what: `misses of ${planted.length} planted`, value: missed.length, bar: "0", holds: missed.length === 0 },
    { what: "kinds planted", value: new Set(planted.map(({ kind }) => kind)).size },
  ]
  report("redaction", rows, { hits: [...hits], missed: missed.map(({ kind, text }) => ({ kind, text })) })
}

export interface Planted {
  kind: string
  /** What must be masked afterwards, as in `text`. */
  secret: string
  text: string
}

/** Every kind in every surrounding, `each` times; deterministic per seed. */
export function plantedSecrets(each: number, seed = 20_260_801): Planted[] {
  const random = seeded(seed)
  const planted: Planted[] = []
  for (let i = 0; i < each; i++) {
    for (const [kind, make] of Object.entries({ ...TOKENS, ...MORE_TOKENS })) {
      for (const wrap of [...BY_ITSELF, ...BY_NAME, ...MORE_PLACES]) {
        const secret = make(random)
        planted.push({ kind, secret, text: wrap(secret, "SERVICE_CREDS") })
      }
      const wrapped = btoa(make(random))
      if (![...NO_PREFIX, ...MORE_WITHOUT_PREFIX].includes(kind))
        planted.push({ kind, secret: wrapped, text: `data: ${wrapped}\n` })
    }
    for (const [kind, [names, make]] of Object.entries({ ...NAMED, ...MORE_NAMED })) {
      for (const wrap of BY_NAME) {
        const secret = make(random)
        planted.push({ kind, secret, text: wrap(secret, names[i % names.length]!) })
      }
    }
    for (const [kind, [make, text]] of Object.entries({ ...PLACED, ...MORE_PLACED })) {
      const secret = make(random)
      planted.push({ kind, secret, text: text(secret) })
    }
  }
  return planted
}

/** Ten remaining characters of a secret count as missed. */
export function isMissed({ secret }: Planted, text: string): boolean {
  // The name of a kind may be part of a prefix.
  const redacted = text.replaceAll(/\[redacted:[\w-]+\]/g, "[redacted:]")
  for (let i = 0; i + 10 <= secret.length; i++) if (redacted.includes(secret.slice(i, i + 10))) return true
  return !redacted.includes("[redacted:") || redacted.includes(secret)
}

/** Lock files, logs, ids, hashes, images and prose without secrets. */
export function generatedTexts(bytes: number): string[] {
  const random = seeded(7)
  const from = (alphabet: string, length: number) => pick(random, alphabet, length)
  const uuid = () => [8, 4, 4, 4, 12].map((length) => from(HEX, length)).join("-")
  const lines: (() => string)[] = [
    () => `      "integrity": "sha512-${from(BASE64, 86)}==",`,
    () => `commit ${from(HEX, 40)}\nAuthor: Ann <ann@host.dev>\n\n    Refresh the token when the api key changes\n`,
    () =>
      `2026-08-01T08:00:0${from("0123456789", 1)}.123Z INFO [req-${uuid()}] GET /v1/items/${uuid()} 200 tokens=${from("123456789", 5)}`,
    () => `![shot](data:image/png;base64,iVBORw0KGgo${from(BASE64, 800)}=)`,
    () => `{"type":"tool_result","tool_use_id":"toolu_01${from(WORD, 22)}","uuid":"${uuid()}","content":"ok"}`,
    () => `sha256:${from(HEX, 64)}  image@sha256:${from(HEX, 64)}  layer-${from(HEX, 12)}`,
    () => `const password = process.env.DB_PASSWORD ?? config.get("database.password"); // token: string | undefined`,
    () => `h1:${from(BASE64, 43)}= golang.org/x/crypto v0.31.0/go.mod h1:${from(BASE64, 43)}=`,
    () => "The secret is kept in the vault; the token expires after an hour, so ask for a new api key before that.",
    () =>
      `Basic authentication, Bearer authentication and https://host.dev:8443/a@b are described in /docs/${from(LOWER, 12)}.md`,
    () =>
      `index ${from(HEX, 7)}..${from(HEX, 7)} 100644  blob ${from(HEX, 40)} etag="${from(HEX, 32)}" id=${from(WORD, 21)}`,
    () => `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI${from(BASE64, 43)} ann@laptop  SHA256:${from(BASE64, 43)}`,
    () =>
      `export API_KEY=$(pass show api) TOKEN=\${TOKEN:-none} PASSWORD=changeme SECRET_KEY=<your-secret-key> // <token>`,
  ]
  const texts: string[] = []
  for (let size = 0; size < bytes; ) {
    const text = Array.from({ length: 40 }, () => lines[Math.floor(random() * lines.length)]!()).join("\n")
    texts.push(text)
    size += text.length
  }
  return texts
}

/** The redactions of a text, by kind. */
function takenFrom(text: string, redacted: string): string[] {
  const taken: string[] = []
  let at = 0
  const parts = redacted.split(/\[redacted:([\w-]+)\]/)
  for (let i = 1; i < parts.length; i += 2) {
    at += parts[i - 1]!.length
    const after = parts[i + 1]!.slice(0, 40)
    const end = after === "" ? text.length : text.indexOf(after, at + 1)
    taken.push(`${parts[i]}: ${text.slice(at, end)}`)
    at = end
  }
  return taken
}

/** Typical input of agents: code, type declarations and documents of this repository. */
export function filesOf(dirs: string[], bytes: number): string[] {
  const texts: string[] = []
  let size = 0
  const walk = (dir: string): void => {
    for (const entry of readdirSync(dir, { withFileTypes: true })) {
      if (size >= bytes) return
      const path = join(dir, entry.name)
      if (entry.isDirectory()) walk(path)
      else if (
        entry.isFile() &&
        !entry.name.includes(".test.") &&
        /\.(?:[cm]?[jt]s|md|json|ya?ml|c|h|css|html|sql|txt)$/.test(entry.name)
      ) {
        const text = readFileSync(path, "utf8")
        if (text.length > 2_000_000) continue
        texts.push(text)
        size += text.length
      }
    }
  }
  for (const dir of dirs) walk(fileURLToPath(new URL(`../${dir}`, import.meta.url)))
  return texts
}

/** Token formats written independently of the rules, so that a mistake there is not repeated here. */
const TOKENS: Record<string, (random: Random) => string> = {
  aws: (r) => `AKIA${pick(r, `${UPPER}234567`, 16)}`,
  githubClassic: (r) => `ghp_${pick(r, WORD, 36)}`,
  githubFine: (r) => `github_pat_${pick(r, WORD, 22)}_${pick(r, WORD, 59)}`,
  githubApp: (r) => `gh${pick(r, "osu", 1)}_${pick(r, WORD, 36)}`,
  gitlab: (r) => `glpat-${pick(r, URLSAFE, 20)}`,
  slackBot: (r) => `xoxb-${pick(r, "123456789", 12)}-${pick(r, "123456789", 13)}-${pick(r, WORD, 24)}`,
  slackHook: (r) =>
    `https://hooks.slack.com/services/T${pick(r, UPPER, 8)}/B${pick(r, UPPER, 10)}/${pick(r, WORD, 24)}`,
  stripeLive: (r) => `sk_live_${pick(r, WORD, 24)}`,
  stripeTest: (r) => `rk_test_${pick(r, WORD, 99)}`,
  openai: (r) => `sk-${pick(r, WORD, 20)}T3BlbkFJ${pick(r, WORD, 20)}`,
  openaiProject: (r) => `sk-proj-${pick(r, URLSAFE, 74)}T3BlbkFJ${pick(r, URLSAFE, 74)}`,
  anthropic: (r) => `sk-ant-api03-${pick(r, URLSAFE, 93)}AA`,
  google: (r) => `AIzaSy${pick(r, URLSAFE, 33)}`,
  googleOauth: (r) => `ya29.a0${pick(r, URLSAFE, 120)}`,
  telegram: (r) => `${pick(r, "123456789", 10)}:AA${pick(r, URLSAFE, 33)}`,
  discord: (r) => `${btoa(pick(r, "123456789", 18))}.G${pick(r, WORD, 5)}.${pick(r, URLSAFE, 38)}`,
  discordHook: (r) => `https://discord.com/api/webhooks/${pick(r, "123456789", 18)}/${pick(r, URLSAFE, 68)}`,
  twilio: (r) => `SK${pick(r, HEX, 32)}`,
  sendgrid: (r) => `SG.${pick(r, URLSAFE, 22)}.${pick(r, URLSAFE, 43)}`,
  mailgun: (r) => `key-${pick(r, HEX, 32)}`,
  npm: (r) => `npm_${pick(r, WORD, 36)}`,
  pypi: (r) => `pypi-AgEIcHlwaS5vcmc${pick(r, URLSAFE, 150)}`,
  docker: (r) => `dckr_pat_${pick(r, URLSAFE, 27)}`,
  digitalocean: (r) => `dop_v1_${pick(r, HEX, 64)}`,
  huggingface: (r) => `hf_${pick(r, LOWER + UPPER, 34)}`,
  groq: (r) => `gsk_${pick(r, WORD, 52)}`,
  replicate: (r) => `r8_${pick(r, WORD, 37)}`,
  newrelic: (r) => `NRAK-${pick(r, `${UPPER}0123456789`, 27)}`,
  shopify: (r) => `shpat_${pick(r, HEX, 32)}`,
  square: (r) => `sq0csp-${pick(r, URLSAFE, 43)}`,
  jwt: (r) =>
    `${url64('{"alg":"HS256","typ":"JWT"}')}.${url64(`{"sub":"${pick(r, WORD, 9)}"}`)}.${pick(r, URLSAFE, 43)}`,
  age: (r) => `AGE-SECRET-KEY-1${pick(r, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)}`,
  vault: (r) => `hvs.CAESI${pick(r, URLSAFE, 90)}`,
  terraform: (r) => `${pick(r, WORD, 14)}.atlasv1.${pick(r, URLSAFE, 67)}`,
  linear: (r) => `lin_api_${pick(r, WORD, 40)}`,
  notion: (r) => `ntn_${pick(r, WORD, 46)}`,
  atlassian: (r) => `ATATT3xFfGF0${pick(r, URLSAFE, 170)}=${pick(r, `${UPPER}0123456789`, 8)}`,
  figma: (r) => `figd_${pick(r, URLSAFE, 40)}`,
  supabase: (r) => `sbp_${pick(r, HEX, 40)}`,
  onepassword: (r) => `ops_eyJ${pick(r, URLSAFE, 400)}`,
  azureAd: (r) => `${pick(r, WORD, 3)}8Q~${pick(r, WORD, 34)}`,
}

/** Secrets without a leading prefix; in base64 they cannot be recognised. */
const NO_PREFIX = ["telegram", "terraform", "azureAd"]

/** Recognisable only by the name before them. */
const NAMED: Record<string, [names: string[], make: (random: Random) => string]> = {
  awsSecret: [["AWS_SECRET_ACCESS_KEY", "aws_secret_access_key", "SecretAccessKey"], (r) => pick(r, BASE64, 40)],
  heroku: [["HEROKU_API_KEY", "heroku_token"], (r) => [8, 4, 4, 4, 12].map((n) => pick(r, HEX, n)).join("-")],
  cloudflare: [["CLOUDFLARE_API_TOKEN", "CF_API_TOKEN"], (r) => pick(r, URLSAFE, 40)],
  datadog: [["DD_API_KEY", "datadog_app_key"], (r) => pick(r, HEX, 32)],
  paypal: [["PAYPAL_CLIENT_SECRET", "paypal.secret"], (r) => pick(r, URLSAFE, 80)],
  twilioToken: [["TWILIO_AUTH_TOKEN", "twilioAuthToken"], (r) => pick(r, HEX, 32)],
  password: [
    ["DB_PASSWORD", "password", "SMTP_PASSWD", "adminPassword"],
    (r) => pick(r, `${WORD}!#%^*+_.-`, 16 + r() * 16),
  ],
  secret: [["CLIENT_SECRET", "client_secret", "SECRET_KEY", "jwtSecret"], (r) => pick(r, WORD, 24 + r() * 24)],
  apiKey: [["MISTRAL_API_KEY", "apiKey", "x-api-key", "api_key"], (r) => pick(r, r() < 0.5 ? HEX : WORD, 32)],
  token: [["ACCESS_TOKEN", "auth_token", "refreshToken"], (r) => pick(r, WORD, 40)],
}

const BY_ITSELF: Wrap[] = [
  (secret) => secret,
  (secret) => `I found ${secret} in the history, so rotate it.`,
  (secret) => JSON.stringify({ content: `first line\n${secret}\nlast` }),
  (secret) => `GET https://api.host.dev/v1?x=1&q=${secret}&y=2 HTTP/1.1`,
  (secret) => `callback?state%3D${secret}`,
  (secret) => `\u001b[32m${secret}\u001b[0m`,
  (secret) => `     7→${secret}\n`,
  (secret) => `2026-08-01 08:00:00 WARN sent header X-Auth: ${secret} (401)`,
]
const BY_NAME: Wrap[] = [
  (secret, name) => `PORT=3000\n${name}=${secret}\nDEBUG=1`,
  (secret, name) => `export ${name}="${secret}" && npm run deploy`,
  (secret, name) => `env:\n  ${name}: ${secret}\n  region: eu`,
  (secret, name) => JSON.stringify({ [name]: secret, region: "eu" }, null, 2),
  (secret, name) => JSON.stringify(JSON.stringify({ [name]: secret })),
  (secret, name) => `const config = { ${name}: '${secret}', retries: 3 }`,
  (secret, name) => `os.environ["${name}"] = "${secret}"`,
  (secret, name) => `- name: ${name}\n  value: "${secret}"`,
  (secret, name) => `[deploy] ${name}=${secret} exit=0`,
]

const begin = (name: string) => `-----BEGIN ${name}-----`
const end = (name: string) => `-----END ${name}-----`
/** Recognisable only by their surroundings. */
const PLACED: Record<string, [make: (random: Random) => string, text: (secret: string) => string]> = {
  databaseUrl: [(r) => pick(r, WORD, 16), (s) => `DATABASE_URL=postgres://app:${s}@db.host.dev:5432/app?ssl=true`],
  mongoUrl: [(r) => pick(r, WORD, 16), (s) => `mongodb+srv://root:${s}@cluster0.host.dev/x`],
  urlPassword: [(r) => pick(r, WORD, 14), (s) => `git clone https://ann:${s}@git.host.dev/app.git`],
  bearer: [(r) => pick(r, URLSAFE, 40), (s) => `curl -H "Authorization: Bearer ${s}" https://api.host.dev`],
  basic: [(r) => btoa(`ann:${pick(r, WORD, 14)}`), (s) => `Authorization: Basic ${s}`],
  curlUser: [(r) => pick(r, WORD, 14), (s) => `curl -s -u ann:${s} https://api.host.dev`],
  flag: [(r) => pick(r, WORD, 24), (s) => `deploy --api-key ${s} --region eu`],
  azureStorage: [(r) => `${pick(r, BASE64, 86)}==`, (s) => `AccountName=a;AccountKey=${s};EndpointSuffix=x`],
  azureSas: [(r) => pick(r, WORD, 43), (s) => `https://a.blob.core.windows.net/c?sv=2024-11-04&sig=${s}%3D`],
  azureBus: [(r) => `${pick(r, BASE64, 43)}=`, (s) => `Endpoint=sb://x/;SharedAccessKey=${s};EntityPath=q`],
  pem: [keyLines, (s) => `${begin("RSA PRIVATE KEY")}\n${s}\n${end("RSA PRIVATE KEY")}\n`],
  ssh: [keyLines, (s) => `${begin("OPENSSH PRIVATE KEY")}\n${s}\n${end("OPENSSH PRIVATE KEY")}\n`],
  gcp: [keyLine, (s) => JSON.stringify({ private_key: `${begin("PRIVATE KEY")}\n${s}\n${end("PRIVATE KEY")}\n` })],
  pemCut: [keyLine, (s) => `     1→${begin("PRIVATE KEY")}\n     2→${s}\n     3→${s}`],
  pemWrapped: [(r) => btoa(`${begin("EC PRIVATE KEY")}\n${keyLines(r)}\n`), (s) => `  tls.key: ${s}\n`],
  npmrc: [(r) => pick(r, HEX, 36), (s) => `//registry.host.dev/:_authToken=${s}`],
}

function keyLine(random: Random): string {
  return pick(random, BASE64, 64)
}

function keyLines(random: Random): string {
  return Array.from({ length: 12 }, () => keyLine(random)).join("\n")
}

const url64 = (text: string) => Buffer.from(text).toString("base64url")

export function seeded(seed: number): Random {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

// Last, because it needs everything above: the test uses the same secrets and texts.
if (import.meta.main) main()
