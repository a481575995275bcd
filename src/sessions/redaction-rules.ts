/** A kind of secret: the literals by which it is found, and what must follow them. */
export interface Rule {
  kind: string
  /** The only places that are looked at; at least three characters each. */
  anchors: readonly string[]
  /** Sticky. The last group that took part is the secret and ends the match; without groups it is the whole match. */
  pattern: RegExp
  /** How many characters of the secret lie before the anchor. */
  back?: number
  /** What the secret itself must look like; without one it must only not be a placeholder. */
  looks?: Look
}

export type Look = "password" | "strong" | "random" | "userAndPassword" | "keyLines"

/** Tokens that are known by a prefix: kind, prefixes, and what follows. */
const PREFIXED: readonly (readonly [kind: string, prefixes: string, rest: string])[] = [
  ["aws-access-key", "AKIA ASIA ABIA ACCA", "[A-Z0-9]{16}(?![A-Za-z0-9])"],
  ["aws-bedrock-key", "ABSK", "[A-Za-z0-9+/]{100,}={0,2}"],
  ["github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9_]{36,}"],
  ["github-fine-grained-token", "github_pat_", "[A-Za-z0-9_]{22,}"],
  [
    "gitlab-token",
    "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct-",
    "[\\w-]{20,}(?:\\.[\\w-]{2}\\.[\\w-]{7,})?",
  ],
  ["slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxe- xoxe.xoxp- xoxe.xoxb- xapp-", "[A-Za-z0-9-]{16,}"],
  ["slack-webhook", "https://hooks.slack.com/ hooks.slack.com/", "(?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}"],
  ["stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ sk_prod_ rk_prod_", "[A-Za-z0-9]{16,}"],
  ["stripe-webhook-secret", "whsec_", "[A-Za-z0-9+/]{24,}={0,2}"],
  ["anthropic-key", "sk-ant-", "[\\w-]{20,}"],
  ["openrouter-key", "sk-or-v1-", "[A-Za-z0-9]{32,}"],
  ["openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", "[\\w-]{20,}"],
  ["openai-key", "sk-", "[A-Za-z0-9]{32,}"],
  ["groq-key", "gsk_", "[A-Za-z0-9]{40,}"],
  ["xai-key", "xai-", "[A-Za-z0-9]{60,}"],
  ["perplexity-key", "pplx-", "[A-Za-z0-9]{40,}"],
  ["replicate-token", "r8_", "[A-Za-z0-9]{37,}"],
  ["huggingface-token", "hf_ api_org_", "[A-Za-z0-9]{34,}"],
  ["langsmith-key", "lsv2_pt_ lsv2_sk_", "[0-9a-f]{32}_[0-9a-f]{10}"],
  ["tavily-key", "tvly-", "(?:dev-|prod-)?[A-Za-z0-9-]{28,}"],
  ["google-api-key", "AIza", "[\\w-]{35}(?![\\w-])"],
  ["google-oauth-token", "ya29.", "[\\w.-]{20,}"],
  ["google-oauth-secret", "GOCSPX-", "[\\w-]{28}"],
  ["google-refresh-token", "1//0", "[\\w-]{40,}"],
  ["azure-storage-key", "AccountKey=", "([A-Za-z0-9+/]{86}==)"],
  ["azure-shared-key", "SharedAccessKey=", "([A-Za-z0-9+/]{42,}={0,2})"],
  ["azure-sas", "sig= sig%3D", "([A-Za-z0-9%+/]{43,64}(?:%3D|%3d|=))"],
  [
    "discord-webhook",
    "https://discord.com/api/webhooks/ discord.com/api/webhooks/ discordapp.com/api/webhooks/",
    "\\d{17,20}/[\\w-]{60,}",
  ],
  ["sendgrid-key", "SG.", "[\\w-]{16,32}\\.[\\w-]{16,64}"],
  ["mailgun-key", "key- pubkey-", "[0-9a-f]{32}(?![0-9A-Za-z])"],
  ["npm-token", "npm_", "[A-Za-z0-9]{36,}"],
  ["pypi-token", "pypi-AgEIcHlwaS5vcmc pypi-AgENdGVzdC5weXBpLm9yZw", "[\\w-]{50,}"],
  ["rubygems-key", "rubygems_", "[0-9a-f]{48}"],
  ["crates-token", "cio", "[A-Za-z0-9]{32}(?![A-Za-z0-9])"],
  ["docker-token", "dckr_pat_ dckr_oat_", "[\\w-]{27,}"],
  ["digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{64}"],
  ["heroku-key", "HRKU-", "[\\w-]{36,}"],
  ["cloudflare-token", "v1.0-", "[0-9a-f]{24}-[0-9a-f]{146}"],
  ["newrelic-key", "NRAK- NRJS- NRII- NRIQ- NRRA-", "[A-Za-z0-9-]{19,}"],
  ["shopify-token", "shpat_ shpca_ shppa_ shpss_", "[0-9a-fA-F]{32,}"],
  ["square-token", "sq0atp- sq0csp- sq0idp- EAAAE EAAAF EAAAl", "[\\w-]{22,}"],
  ["paypal-token", "access_token$production$ access_token$sandbox$", "[0-9a-z]{16}\\$[0-9a-f]{32}"],
  ["age-key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"],
  ["vault-token", "hvs. hvb. hvr.", "[\\w-]{24,}"],
  ["linear-key", "lin_api_ lin_oauth_ lin_wh_", "[A-Za-z0-9]{32,}"],
  ["notion-token", "ntn_ secret_", "[A-Za-z0-9]{43,}"],
  ["atlassian-token", "ATATT3 ATCTT3 ATBB ATOA", "[\\w=+/-]{24,}"],
  ["figma-token", "figd_ figu_ figo_", "[\\w-]{40,}"],
  ["supabase-key", "sbp_ sb_secret_", "[\\w-]{31,}"],
  ["1password-token", "ops_eyJ", "[\\w=-]{100,}"],
  ["databricks-token", "dapi", "[0-9a-f]{32}(?:-\\d)?(?![0-9A-Za-z])"],
  ["doppler-token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", "(?:[\\w-]{2,35}\\.)?[A-Za-z0-9]{40,44}"],
  ["planetscale-token", "pscale_pw_ pscale_tkn_ pscale_oauth_", "[\\w.=-]{32,}"],
  ["grafana-token", "glsa_ glc_", "[A-Za-z0-9_+/=]{32,}"],
  ["sentry-token", "sntrys_ sntryu_", "[\\w+/=-]{40,}"],
  ["netlify-token", "nfp_ nfc_ nfo_ nfu_", "[A-Za-z0-9]{36,}"],
  ["fly-token", "fm1r_ fm1a_ fm2_", "[\\w+/=,-]{60,}"],
  ["render-key", "rnd_", "[A-Za-z0-9]{28,}"],
  ["postman-key", "PMAK-", "[0-9a-f]{24}-[0-9a-f]{34}"],
  ["pulumi-token", "pul-", "[0-9a-f]{40}"],
  ["airtable-token", "pat", "[A-Za-z0-9]{14}\\.[0-9a-f]{64}"],
  ["hubspot-token", "pat-na1- pat-eu1- pat-na2-", "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"],
  ["resend-key", "re_", "[A-Za-z0-9]{8}_[A-Za-z0-9]{24}(?![A-Za-z0-9])"],
  ["sourcegraph-token", "sgp_", "(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}"],
  ["buildkite-token", "bkua_ bkpt_", "[0-9a-f]{40}"],
  ["circleci-token", "CCIPAT_ CCIPRJ_", "[\\w]{40,}"],
  ["dynatrace-token", "dt0c01. dt0s16. dt0s08.", "[A-Z2-7]{8,24}\\.[A-Z2-7]{64}"],
  ["contentful-token", "CFPAT-", "[\\w-]{43}"],
  ["razorpay-key", "rzp_live_ rzp_test_", "[A-Za-z0-9]{14,}"],
  ["jwt", "eyJ", "[\\w-]{8,300}\\.eyJ[\\w-]{8,}\\.(?:[\\w-]{16,})?"],
  ["jwt", "eyJ", "[\\w-]{8,300}\\.[\\w-]{0,2000}\\.[\\w-]{8,64}\\.[\\w-]{8,}\\.[\\w-]{16,64}"],
]

const hexStarts = (prefix: string) => [..."0123456789abcdef"].map((digit) => prefix + digit)
/** What the first three digits of a user's id look like in base64; a Discord token has no other prefix. */
const snowflakeStarts = ["MD", "MT", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"].flatMap((start) =>
  [..."AEIMQUYcgk"].map((third) => start + third),
)
const keyBlock = (name: string) =>
  new RegExp(
    `-----BEGIN ${name}-----(?:[^-]{0,16000}(?:-(?!----)[^-]{0,16000}){0,20}-----END ${name}-----|(?:[\\s>|"'+\`→\\d]|\\\\+[nr])*(?:[A-Za-z0-9+/=]{30,}(?:[\\s>|"'+\`→\\d]|\\\\+[nr])*)+)`,
    "y",
  )

/** Found by what they are; they come first, so that the surer name wins. */
export const TOKEN_RULES: readonly Rule[] = [
  ...PREFIXED.map(([kind, prefixes, rest]): Rule => {
    const anchors = prefixes.split(" ")
    const literal = anchors.map((anchor) => anchor.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("|")
    return { kind, anchors, pattern: new RegExp(`(?:${literal})${rest}`, "y") }
  }),
  { kind: "openai-key", anchors: ["T3BlbkFJ"], back: 23, pattern: /sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20,}/y },
  { kind: "discord-bot-token", anchors: snowflakeStarts, pattern: /[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,40}/y },
  ...[8, 9, 10].map((back): Rule => {
    return { kind: "telegram-bot-token", anchors: [":AA"], back, pattern: /\d{8,10}:AA[\w-]{32,}/y }
  }),
  { kind: "twilio-key", anchors: hexStarts("SK"), pattern: /SK[0-9a-f]{32}(?![0-9A-Za-z])/y },
  { kind: "azure-client-secret", anchors: ["7Q~", "8Q~"], back: 3, pattern: /[\w~.]{3}[78]Q~[\w~.-]{31,34}/y },
  { kind: "azure-devops-token", anchors: ["AZDO"], back: 76, pattern: /[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}/y },
  { kind: "terraform-token", anchors: [".atlasv1."], back: 14, pattern: /[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,}/y },
  { kind: "newrelic-key", anchors: ["NRAL"], back: 36, pattern: /[0-9a-f]{36}NRAL(?![A-Za-z0-9])/y },
  {
    kind: "1password-key",
    anchors: ["A3-"],
    pattern: /A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}/y,
  },
  {
    kind: "ssh-private-key",
    anchors: ["-----BEGIN OPENSSH"],
    pattern: keyBlock("OPENSSH PRIVATE KEY"),
    looks: "keyLines",
  },
  {
    kind: "pgp-private-key",
    anchors: ["-----BEGIN PGP"],
    pattern: keyBlock("PGP PRIVATE KEY BLOCK"),
    looks: "keyLines",
  },
  {
    kind: "private-key",
    anchors: ["-----BEGIN "],
    pattern: keyBlock("(?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY"),
    looks: "keyLines",
  },
  {
    kind: "ssh-private-key",
    anchors: ["Private-Lines: "],
    pattern: /Private-Lines: \d{1,3}(?:\s|\\[nr])+((?:[A-Za-z0-9+/=]{20,}(?:\s|\\[nr])*)+)/y,
  },
]

const QUOTE = "[\"'`\\\\\\]]{0,4}"
const TYPE = String.raw`[?!]?(?::\s?(?:string|str|String|&str))?`
/** What may stand between a name and its value; a new line only where a quotation mark says that it goes on. */
const LINK = String.raw`(?:${QUOTE}${TYPE}\s{0,8}(?:(?:=>|:=|={1,3}|:|\sis\s)(?:[ \t]{0,8}|\s{0,20}(?=[\\"'${"`"}]))|,\s?(?=\\*["'])|>)|${QUOTE},?(?:\s|\\[nrt]){1,40}["'\\]{0,3}value["'\\]{0,3}\s?[:=]\s{0,4})`
const near = (kind: string, anchors: string, value: string): Rule => ({
  kind,
  anchors: anchors.split(" "),
  pattern: new RegExp(`(?:${anchors.replaceAll(" ", "|")})(?=([\\w .-]{0,40}))\\1${LINK}${QUOTE}(${value})`, "iy"),
})
const UUID = "[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"
const HEX = (length: string) => `[0-9a-f]{${length}}(?![0-9a-z])`

/** What separates a name from its value is rare in a value: with few of them, no value is read more than a few times. */
const PLAIN = "[\\w~!@#%^*+/.?|$-]"
const VALUE = `(?:(["'\`])([^"'\`\\s\\\\]{8,})(?=\\\\*\\1)|((?!\\$)${PLAIN}+(?:(?:[=:]|&(?!\\w{1,30}=))${PLAIN}+){0,4}={0,2}))`
const assigned = (kind: string, words: string, looks: Look): Rule => ({
  kind,
  anchors: words.split(" "),
  pattern: new RegExp(
    `(?:${words.replaceAll(" ", "|")})(?:[_-]?(?:key|value|base|salt|string|prod|dev|test|live|staging|\\d{1,2})){0,3}(?:${LINK}|(?<=--[\\w-]{1,40})\\s{1,4})\\\\{0,3}${VALUE}`,
    "iy",
  ),
  looks,
})

const DATABASES =
  "postgres|postgresql|mysql|mariadb|mongodb|redis|rediss|amqp|amqps|mssql|sqlserver|clickhouse|cockroachdb|snowflake|oracle|srv|nats|kafka|psycopg2?|asyncpg|pymysql"
const URL_PASSWORD = "://[^\\s/@:?\"'<>`\\\\]{0,100}:([^\\s/?\"'<>`\\\\]{1,200})(?=@)"

/** Found by what stands before them; the words are looked for whatever their case. */
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
    pattern: /bearer["'`\\]{0,3}(?:\s|%20|:|=|,){1,3}["'`\\]{0,3}([\w.~+/-]{16,}={0,2})/iy,
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
  near("fastly-token", "fastly", "[\\w-]{32}(?![\\w-])"),
  assigned("password", "password passwd passphrase pwd passwort", "strong"),
  assigned(
    "api-key",
    "api_key apikey api-key access_key accesskey access-key private_key privatekey encryption_key signing_key auth_key authkey master_key account_key",
    "random",
  ),
  assigned("secret", "secret credential", "random"),
  assigned("token", "token", "random"),
]
