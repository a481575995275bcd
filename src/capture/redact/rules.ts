import { GAP, NEXT_LINE, PLACED_RULES } from "./contexts.ts"
import { GITLEAKS_RULES } from "./gitleaks.ts"
import type { LookName } from "./looks.ts"
import { PREFIXED } from "./prefixes.ts"

/** A kind of secret: anchors that locate it, and the pattern to match there. */
export interface Rule {
  kind: string
  /** The pattern is only tried at these literals; at least three characters each. */
  anchors: readonly string[]
  /** Sticky. The last matched group is the secret and ends the match; without groups it is the whole match. */
  pattern: RegExp
  /** Characters of the secret before the anchor. */
  back?: number
  /** The check for the secret; by default it only must not be a placeholder. */
  looks?: LookName
  /** Minimum entropy in bits per character. */
  entropy?: number
}

/** Rules of gitleaks. Ours come first, so that their names win. */
function generated(form: "token" | "near"): Rule[] {
  const rows = GITLEAKS_RULES.trim().split("\n")
  return rows.flatMap((row) => {
    const [type, kind, entropy, anchors, pattern] = row.split("\t") as [string, string, string, string, string]
    if (type !== form) return []
    const rule =
      form === "near" ? near(kind, anchors, `(?:${pattern})(?![A-Za-z0-9])`) : tokenRule(kind, anchors, pattern)
    return [{ ...rule, looks: "provider", entropy: Number(entropy) }]
  })
}

const tokenRule = (kind: string, anchors: string, pattern: string): Rule => ({
  kind,
  anchors: anchors.split(" "),
  pattern: new RegExp(`(?:${pattern})(?![A-Za-z0-9])`, "y"),
})

const hexStarts = (prefix: string) => [..."0123456789abcdef"].map((digit) => prefix + digit)
/** A Discord token starts with a user id in base64: all encodings of its first three digits. */
const snowflakeStarts = Array.from({ length: 1000 }, (_, id) => btoa(String(id).padStart(3, "0")))
const keyRule = (kind: string, anchor: string, name: string): Rule => ({
  kind,
  anchors: [anchor],
  pattern: new RegExp(
    `-----BEGIN ${name}-----(?:[^-]{0,16000}(?:-(?!----)[^-]{0,16000}){0,20}-----END ${name}-----|(?:[\\s>|"'+\`→\\d]|\\\\+[nr])*(?:[A-Za-z0-9+/=]{30,}(?:[\\s>|"'+\`→\\d]|\\\\+[nr])*)+)`,
    "y",
  ),
  looks: "keyLines",
})

/** Tokens with a format of their own. They come before context rules, which are less certain. */
export const TOKEN_RULES: readonly Rule[] = [
  ...PREFIXED.map(([kind, prefixes, rest, looks]): Rule => {
    const anchors = prefixes.split(/ (?=\S)/)
    const literal = anchors.map((anchor) => anchor.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("|")
    return { kind, anchors, pattern: new RegExp(`(?:${literal})${rest}`, "y"), ...(looks && { looks }) }
  }),
  { kind: "openai-key", anchors: ["T3BlbkFJ"], back: 23, pattern: /sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20,}/y },
  { kind: "discord-bot-token", anchors: snowflakeStarts, pattern: /[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}/y },
  ...[8, 9, 10].map((back): Rule => {
    return { kind: "telegram-bot-token", anchors: [":AA"], back, pattern: /\d{8,10}:AA[\w-]{32,}/y }
  }),
  // In URLs: /bot<token>/getMe.
  ...[11, 12, 13].map((back): Rule => {
    return { kind: "telegram-bot-token", anchors: [":AA"], back, pattern: /bot(\d{8,10}:AA[\w-]{32,})/y }
  }),
  { kind: "twilio-key", anchors: hexStarts("SK"), pattern: /SK[0-9a-f]{32}(?![0-9A-Za-z])/y },
  { kind: "azure-client-secret", anchors: ["7Q~", "8Q~"], back: 3, pattern: /[\w~.]{3}[78]Q~[\w~.-]{31,34}/y },
  { kind: "azure-devops-token", anchors: ["AZDO"], back: 76, pattern: /[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}/y },
  { kind: "terraform-token", anchors: [".atlasv1."], back: 14, pattern: /[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}/y },
  { kind: "maxmind-key", anchors: ["_mmk"], back: 36, pattern: /[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk/y },
  {
    kind: "mailchimp-key",
    anchors: [..."123456789"].map((digit) => `-us${digit}`),
    back: 32,
    pattern: /[0-9a-f]{32}-us\d{1,2}(?!\d)/y,
  },
  ...["+ASt", "+ABa", "+ASb", "+AEh", "AIoT", "+ARm", "+AMC", "+ACR"].map((anchor): Rule => {
    return {
      kind: "azure-key",
      anchors: [anchor],
      back: 76,
      pattern: /[A-Za-z0-9+/]{76}[+A][A-Za-z]{3}[A-Za-z0-9+/]{6}==/y,
    }
  }),
  { kind: "azure-key", anchors: ["ACDb"], back: 76, pattern: /[A-Za-z0-9+/]{76}ACDb[A-Za-z0-9+/]{6}==/y },
  {
    kind: "azure-key",
    anchors: ["AzSe", "AzFu", "AzCa"],
    back: 42,
    pattern: /[\w+/-]{42}Az(?:Se|Fu|Ca)[\w+/-]{5,8}={0,2}/y,
  },
  { kind: "azure-key", anchors: ["JQQJ99"], back: 52, pattern: /[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{20,30}/y },
  { kind: "newrelic-key", anchors: ["NRAL"], back: 36, pattern: /[0-9a-f]{36}NRAL(?![A-Za-z0-9])/y },
  {
    kind: "1password-key",
    anchors: ["A3-"],
    pattern: /A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}/y,
  },
  keyRule("ssh-private-key", "-----BEGIN OPENSSH", "OPENSSH PRIVATE KEY"),
  keyRule("pgp-private-key", "-----BEGIN PGP", "PGP PRIVATE KEY BLOCK"),
  keyRule("private-key", "-----BEGIN ", "(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY"),
  {
    kind: "ssh-private-key",
    anchors: ["Private-Lines: "],
    pattern: new RegExp(
      `Private-Lines: \\d{1,3}${GAP}{1,16}((?:[A-Za-z0-9+/=]{20,}(?:${GAP}{1,16}|(?![A-Za-z0-9+/=])))+)`,
      "y",
    ),
  },
  {
    kind: "openvpn-key",
    anchors: ["-----BEGIN OpenVPN"],
    pattern: new RegExp(
      `-----BEGIN OpenVPN Static key V1-----(?:${GAP}{1,16}[0-9a-f]{16,64}){6,40}${GAP}{0,16}(?:-----END OpenVPN Static key V1-----)?`,
      "y",
    ),
  },
  ...generated("token"),
]

const QUOTE = "[\"'`\\\\\\]]{0,4}"
const TYPE = String.raw`[?!]?(?::\s?(?:string|str|String|&str))?`
/** YAML: an anchor or tag, and a block scalar on the next line. */
const YAML = String.raw`(?<=:)[ \t]{1,4}(?:[&!][\w!-]{1,30}[ \t]{1,4})?(?:[|>][+-]?${NEXT_LINE}[ \t]{1,20})?`
/** Between a name and its value. A line break only before a quote or a YAML block. */
const LINK = String.raw`(?:${QUOTE}${TYPE}\s{0,8}(?:(?:=>|:=|={1,3}|:|\sis\s)(?:${YAML}|[ \t]{0,8}|\s{0,20}(?=[\\"'${"`"}]))|,[ \t]{0,12}(?=\\*["'])|\(\s{0,2}(?=\\*["'${"`"}])|>)|${QUOTE},?${GAP}{1,40}["'\\]{0,3}value["'\\]{0,3}\s?[:=]\s{0,4})`
function near(kind: string, anchors: string, value: string): Rule {
  const names = anchors.replaceAll(" ", "|")
  const pattern = new RegExp(`(?:${names})(?=([\\w .-]{0,40}))\\1${LINK}${QUOTE}(${value})`, "iy")
  return { kind, anchors: anchors.split(" "), pattern }
}
const UUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
const HEX = (length: string) => `[0-9a-f]{${length}}(?![0-9a-z])`

/** The closing quote may be cut off. Few separators are allowed in a value, so that no value is scanned often. */
const PLAIN = "[\\w~!@#%^*+/.?|$-]"
const VALUE = `(?:(["'\`])([^"'\`\\s\\\\]{8,})(?=\\\\*\\1|$)|((?!\\$)${PLAIN}+(?:(?:[=:]|&(?!\\w{1,30}=))${PLAIN}+){0,4}={0,2}))`
/** A call around the value: `key = Buffer.from("…", "hex")`. */
const CALL = "(?:[\\w.]{1,40}\\((?=\\\\*[\"'`]))?"
const assigned = (kind: string, words: string, looks: LookName): Rule => ({
  kind,
  anchors: words.split(" "),
  pattern: new RegExp(
    `(?:${words.replaceAll(" ", "|")})(?:[_-]?(?:key|value|base|salt|string|prod|dev|test|live|staging|\\d{1,2})){0,3}(?:${LINK}|(?<=--[\\w-]{1,40})\\s{1,4})${CALL}\\\\{0,3}${VALUE}`,
    "iy",
  ),
  looks,
})

const DATABASES =
  "postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|amqp|amqps|mssql|sqlserver|clickhouse|cockroachdb|snowflake|oracle|srv|nats|kafka|psycopg2?|asyncpg|pymysql"
const URL_PASSWORD = "://[^\\s/@:?\"'<>`\\\\]{0,100}:([^\\s/?\"'<>`\\\\]{1,200})(?=@)"

/** Secrets recognised by the words before them, in any case. */
export const CONTEXT_RULES: readonly Rule[] = [
  {
    kind: "database-url",
    anchors: ["://"],
    pattern: new RegExp(`(?<=${DATABASES})${URL_PASSWORD}`, "iy"),
    looks: "password",
  },
  { kind: "url-password", anchors: ["://"], pattern: new RegExp(URL_PASSWORD, "y"), looks: "password" },
  {
    kind: "basic-auth",
    anchors: ["basic "],
    pattern: /basic\s{1,3}([A-Za-z0-9+/_-]{8,}={0,2})/iy,
    looks: "userAndPassword",
  },
  {
    kind: "basic-auth",
    anchors: ["curl "],
    pattern: /curl [^\n]{0,300}?(?:-u|--user)[ =]?["'\\]{0,3}[^\s:"'\\]{1,64}:([^\s"'\\]{4,200})/iy,
    looks: "password",
  },
  {
    kind: "bearer-token",
    anchors: ["bearer"],
    pattern:
      /bearer["'`\\]{0,3}(?:\s["'`\\]{1,4}\s?[+.]\s?(?=\\{0,3}["'`])|(?:\s|%20|:|=|,){1,3})["'`\\]{0,3}([\w.~+/-]{16,}={0,2})/iy,
    looks: "random",
  },
  {
    kind: "authorization",
    anchors: ["authorization"],
    pattern: new RegExp(`authorization${LINK}${QUOTE}(?:[A-Za-z-]{3,20}\\s{1,2})?([\\w.~+/-]{16,}={0,2})`, "iy"),
    looks: "random",
  },
  near(
    "aws-secret-key",
    "secret_access_key secretaccesskey secret-access-key aws_secret aws_session_token",
    "[A-Za-z0-9/+]{40,}={0,2}",
  ),
  near("heroku-key", "heroku", UUID),
  near(
    "cloudflare-token",
    "cloudflare cf_api cf-api x-auth-key cf_token",
    `[0-9a-f]{37}(?![0-9a-z])|[\\w-]{40}(?![\\w-])`,
  ),
  near("datadog-key", "datadog dd_api dd-api dd_app dd-app ddog", HEX("32,40")),
  near("paypal-secret", "paypal", "[\\w-]{60,100}(?![\\w-])"),
  near("twilio-token", "twilio", HEX("32")),
  near("mailgun-key", "mailgun", "[0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8}"),
  near("gcp-service-account", "private_key_id", HEX("40")),
  near("vault-token", "vault_token vault-token", "s\\.[A-Za-z0-9]{24}"),
  near("npm-token", "_authtoken", "[\\w+/-]{16,}={0,2}"),
  near("mailchimp-key", "mailchimp", "[0-9a-f]{32}-us\\d{1,2}"),
  near("okta-token", "okta", "00[\\w-]{40}(?![\\w-])"),
  near("algolia-key", "algolia", HEX("32")),
  near("linkedin-secret", "linkedin", "[A-Za-z0-9]{16}(?![A-Za-z0-9])"),
  near("lob-key", "lob_api lob-api lob_key", "(?:live|test)_[0-9a-f]{35}"),
  near("messagebird-key", "messagebird", "[A-Za-z0-9]{25}(?![A-Za-z0-9])"),
  near("privateai-key", "private_ai privateai", "[0-9a-z]{32}(?![A-Za-z0-9])"),
  near("fastly-token", "fastly", "[\\w-]{32}(?![\\w-])"),
  assigned("password", "password passwd passphrase pwd passwort", "strong"),
  assigned(
    "api-key",
    ["api", "access", "private", "encryption", "signing", "auth", "master", "account", "subscription", "shared"]
      .flatMap((word) => [`${word}_key`, `${word}key`, `${word}-key`])
      .join(" "),
    "random",
  ),
  assigned("secret", "secret credential", "random"),
  assigned("token", "token", "random"),
  ...PLACED_RULES,
  ...generated("near"),
]
