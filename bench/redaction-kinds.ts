// More kinds of secrets as their providers document them, and their surroundings. Generated independently of the rules.
export type Random = () => number
export const HEX = "0123456789abcdef"
export const LOWER = "abcdefghijklmnopqrstuvwxyz"
export const UPPER = LOWER.toUpperCase()
export const DIGITS = "0123456789"
export const WORD = `${LOWER}${UPPER}${DIGITS}`
export const BASE64 = `${WORD}+/`
export const URLSAFE = `${WORD}-_`
const BASE36 = LOWER + DIGITS
const CAPITALS = UPPER + DIGITS

export function pick(random: Random, alphabet: string, length: number): string {
  return Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]).join("")
}

const url64 = (text: string) => Buffer.from(text).toString("base64url")
const uuid = (r: Random) => [8, 4, 4, 4, 12].map((length) => pick(r, HEX, length)).join("-")
const oneOf = <T>(r: Random, all: readonly T[]) => all[Math.floor(r() * all.length)]!

/** Prefix, alphabet, length. */
const prefixed = (prefixes: string, alphabet: string, length: number) => (r: Random) =>
  `${oneOf(r, prefixes.split(" "))}${pick(r, alphabet, length)}`

export const MORE_TOKENS: Record<string, (random: Random) => string> = {
  gitlabRunnerRegistration: prefixed("glrtr-", URLSAFE, 20),
  gitlabWorkspace: prefixed("glwt-", URLSAFE, 20),
  gitlabLegacyRunner: prefixed("GR1348941", URLSAFE, 20),
  gitlabDeploy: prefixed("gldt- glft- glsoat- glffct-", URLSAFE, 20),
  gitlabAgent: prefixed("glagent-", URLSAFE, 50),
  gitlabTrigger: prefixed("glptt-", HEX, 40),
  slackCookie: prefixed("xoxd-", WORD, 120),
  slackClient: (r) => `xoxc-${pick(r, DIGITS, 12)}-${pick(r, DIGITS, 12)}-${pick(r, DIGITS, 13)}-${pick(r, HEX, 64)}`,
  slackApp: (r) => `xapp-1-A${pick(r, CAPITALS, 10)}-${pick(r, DIGITS, 13)}-${pick(r, HEX, 64)}`,
  googleExpress: prefixed("AQ.Ab8RN6", URLSAFE, 44),
  fireworks: prefixed("fw_", WORD, 24),
  elevenlabs: prefixed("sk_", HEX, 48),
  cerebras: prefixed("csk-", BASE36, 48),
  nvidia: prefixed("nvapi-", URLSAFE, 64),
  vercel: prefixed("vcp_ vci_ vca_ vcr_ vck_", WORD, 56),
  vercelBlob: (r) => `vercel_blob_rw_${pick(r, WORD, 16)}_${pick(r, WORD, 30)}`,
  cloudflareUser: prefixed("cfut_ cfat_", WORD, 48),
  cloudflareOrigin: (r) => `v1.0-${pick(r, HEX, 24)}-${pick(r, HEX, 146)}`,
  posthog: prefixed("phx_ phs_", WORD, 43),
  tailscale: (r) => `tskey-${oneOf(r, ["auth", "api", "client"])}-k${pick(r, WORD, 11)}CNTRL-${pick(r, WORD, 32)}`,
  together: prefixed("tgp_v1_", URLSAFE, 43),
  voyage: prefixed("pa-", URLSAFE, 43),
  jina: prefixed("jina_", WORD, 60),
  brave: prefixed("BSA", URLSAFE, 28),
  firecrawl: prefixed("fc-", HEX, 32),
  llamaCloud: prefixed("llx-", WORD, 48),
  langfuse: (r) => `sk-lf-${uuid(r)}`,
  langsmith: (r) => `lsv2_pt_${pick(r, HEX, 32)}_${pick(r, HEX, 10)}`,
  helicone: (r) => `sk-helicone-${pick(r, BASE36, 7)}-${pick(r, BASE36, 28)}`,
  pinecone: (r) => `pcsk_${pick(r, WORD, 6)}_${pick(r, WORD, 63)}`,
  runpod: prefixed("rpa_", CAPITALS, 46),
  e2b: prefixed("e2b_", HEX, 40),
  daytona: prefixed("dtn_", HEX, 64),
  apify: prefixed("apify_api_", WORD, 36),
  cursor: prefixed("crsr_ key_", HEX, 64),
  mem0: prefixed("m0-", WORD, 40),
  xai: prefixed("xai-", WORD, 80),
  perplexity: prefixed("pplx-", WORD, 48),
  openrouter: prefixed("sk-or-v1-", HEX, 64),
  tavily: prefixed("tvly-", WORD, 32),
  bedrock: prefixed("ABSK", BASE64, 128),
  neonApi: prefixed("napi_", BASE36, 64),
  xata: prefixed("xau_", WORD, 40),
  planetscale: prefixed("pscale_tkn_ pscale_pw_", URLSAFE, 43),
  databricks: prefixed("dapi", HEX, 32),
  doppler: (r) => `dp.st.prd.${pick(r, WORD, 43)}`,
  pulumi: prefixed("pul-", HEX, 40),
  flyMacaroon: prefixed("fm2_", BASE64, 180),
  render: prefixed("rnd_", WORD, 32),
  netlify: prefixed("nfp_", WORD, 40),
  heroku2: prefixed("HRKU-AA", URLSAFE, 58),
  alibaba: prefixed("LTAI", WORD, 20),
  tencent: prefixed("AKID", WORD, 32),
  yandex: prefixed("AQVN", URLSAFE, 36),
  awsTemporary: prefixed("ASIA", `${UPPER}234567`, 16),
  awsSession: prefixed("IQoJb3JpZ2lu", BASE64, 300),
  mws: (r) => `amzn.mws.${uuid(r)}`,
  azureStorageBare: (r) => `${pick(r, BASE64, 76)}+ASt${pick(r, WORD, 6)}==`,
  grafanaService: (r) => `glsa_${pick(r, WORD, 32)}_${pick(r, HEX, 8)}`,
  grafanaCloud: prefixed("glc_", BASE64, 120),
  sentryUser: prefixed("sntryu_", HEX, 64),
  honeycomb: prefixed("hcaik_ hcalk_", BASE36, 58),
  axiom: (r) => `xaat-${uuid(r)}`,
  dynatrace: (r) => `dt0c01.${pick(r, `${UPPER}234567`, 24)}.${pick(r, `${UPPER}234567`, 64)}`,
  launchdarkly: (r) => `sdk-${uuid(r)}`,
  sonarqube: prefixed("squ_ sqp_", HEX, 40),
  artifactory: prefixed("AKCp", WORD, 69),
  nuget: prefixed("oy2", BASE36, 43),
  rubygems: prefixed("rubygems_", HEX, 48),
  crates: prefixed("cio", WORD, 32),
  clojars: prefixed("CLOJARS_", HEX, 60),
  buildkite: prefixed("bkua_", HEX, 40),
  postman: (r) => `PMAK-${pick(r, HEX, 24)}-${pick(r, HEX, 34)}`,
  trello: prefixed("ATTA", HEX, 72),
  clickup: (r) => `pk_${pick(r, "123456789", 8)}_${pick(r, CAPITALS, 32)}`,
  airtable: (r) => `pat${pick(r, WORD, 14)}.${pick(r, HEX, 64)}`,
  dropbox: prefixed("sl.", URLSAFE, 140),
  hubspot: (r) => `pat-na1-${uuid(r)}`,
  stripeWebhook: prefixed("whsec_", WORD, 32),
  braintree: (r) => `access_token$production$${pick(r, BASE36, 16)}$${pick(r, HEX, 32)}`,
  squareAccess: prefixed("sq0atp-", URLSAFE, 22),
  mollie: prefixed("live_", WORD, 30),
  flutterwave: (r) => `FLWSECK_TEST-${pick(r, `${DIGITS}abcdef`, 32)}-X`,
  plaid: (r) => `access-production-${uuid(r)}`,
  shippo: prefixed("shippo_live_", HEX, 40),
  easypost: prefixed("EZAK", WORD, 54),
  duffel: prefixed("duffel_live_", URLSAFE, 43),
  razorpay: prefixed("rzp_live_", WORD, 14),
  brevo: (r) => `xkeysib-${pick(r, HEX, 64)}-${pick(r, WORD, 16)}`,
  resend: (r) => `re_${pick(r, WORD, 8)}_${pick(r, WORD, 24)}`,
  mailchimp: (r) => `${pick(r, HEX, 32)}-us${oneOf(r, ["6", "14", "21"])}`,
  mapbox: (r) => `sk.eyJ${pick(r, URLSAFE, 70)}.${pick(r, URLSAFE, 22)}`,
  facebook: prefixed("EAAC EAAB EAAG", WORD, 180),
  zapier: (r) => `https://hooks.zapier.com/hooks/catch/${pick(r, "123456789", 7)}/${pick(r, BASE36, 9)}`,
  swarm: (r) => `SWMTKN-1-${pick(r, BASE36, 50)}-${pick(r, BASE36, 25)}`,
  nostr: prefixed("nsec1", "023456789acdefghjklmnpqrstuvwxyz", 58),
  extendedKey: prefixed("xprv9s21ZrQH143K", "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 95),
  onepasswordKey: (r) => `A3-${[6, 6, 5, 5, 5, 5].map((length) => pick(r, CAPITALS, length)).join("-")}`,
  shopifyShared: prefixed("shpss_ shpca_", HEX, 32),
  contentful: prefixed("CFPAT-", URLSAFE, 43),
  readme: prefixed("rdme_", BASE36, 70),
  prefect: prefixed("pnu_", WORD, 36),
  infracost: prefixed("ico-", WORD, 32),
  harness: (r) => `pat.${pick(r, URLSAFE, 22)}.${pick(r, WORD, 24)}.${pick(r, WORD, 20)}`,
  openshift: prefixed("sha256~", URLSAFE, 43),
  octopus: prefixed("API-", CAPITALS, 26),
  scalingo: prefixed("tk-us-", URLSAFE, 48),
  frameio: prefixed("fio-u-", URLSAFE, 64),
  intra42: prefixed("s-s4t2ud-", HEX, 64),
  maxmind: (r) => `${pick(r, WORD, 6)}_${pick(r, WORD, 29)}_mmk`,
  adobe: prefixed("p8e-", BASE36, 32),
  newrelicIngest: (r) => `${pick(r, HEX, 36)}NRAL`,
  awsSecretBare: (r) => pick(r, BASE64, 40),
  cohereBare: (r) => pick(r, WORD, 40),
  ngrok: (r) => `2${pick(r, WORD, 26)}_${pick(r, WORD, 21)}`,
  // Since April 2026: an app's number and a JWT.
  githubStateless: (r) =>
    `ghs_${pick(r, "123456789", 7)}_${url64('{"typ":"JWT","alg":"RS256"}')}.${url64(`{"iss":"${pick(r, DIGITS, 7)}","sub":"${pick(r, WORD, 60)}"}`)}.${pick(r, URLSAFE, 342)}`,
  ageQuantum: prefixed("AGE-SECRET-KEY-PQ-1", "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58),
}

/** Secrets without a leading prefix; in base64 they cannot be recognised. */
export const MORE_WITHOUT_PREFIX = [
  "azureStorageBare",
  "mailchimp",
  "maxmind",
  "newrelicIngest",
  "awsSecretBare",
  "cohereBare",
  "ngrok",
]

export const MORE_NAMED: Record<string, [names: string[], make: (random: Random) => string]> = {
  mistral: [["MISTRAL_API_KEY", "mistralApiKey"], (r) => pick(r, WORD, 32)],
  deepgram: [["DEEPGRAM_API_KEY", "deepgram_token"], (r) => pick(r, HEX, 40)],
  assembly: [["ASSEMBLYAI_API_KEY"], (r) => pick(r, HEX, 32)],
  wandb: [["WANDB_API_KEY"], (r) => pick(r, HEX, 40)],
  twitch: [["TWITCH_CLIENT_SECRET"], (r) => pick(r, BASE36, 30)],
  zendesk: [["ZENDESK_API_TOKEN", "zendesk_secret"], (r) => pick(r, WORD, 40)],
  okta: [["OKTA_API_TOKEN", "okta_token"], (r) => `00${pick(r, URLSAFE, 40)}`],
  snyk: [["SNYK_TOKEN"], uuid],
  launchdarklyAccess: [["LAUNCHDARKLY_ACCESS_TOKEN"], (r) => `api-${uuid(r)}`],
  algolia: [["ALGOLIA_ADMIN_KEY", "algolia_api_key"], (r) => pick(r, HEX, 32)],
  fastly: [["FASTLY_API_TOKEN"], (r) => pick(r, URLSAFE, 32)],
  railsKey: [["RAILS_MASTER_KEY", "SECRET_KEY_BASE"], (r) => pick(r, HEX, 64)],
  wireguard: [["PrivateKey", "private_key"], (r) => `${pick(r, BASE64, 43)}=`],
}

const SEED_LIKE =
  "abandon ability lunar ocean kidney velvet rocket ladder puzzle harvest ribbon whisper tunnel marble cactus dragon elbow fabric galaxy hammer jacket kitten lemon mango napkin orbit pepper quantum raccoon saddle tobacco umbrella vacuum walnut zebra crouch blanket cinnamon dinosaur essence"

const seed = (r: Random) => Array.from({ length: oneOf(r, [12, 24]) }, () => oneOf(r, SEED_LIKE.split(" "))).join(" ")

/** With a valid check digit. */
function card(r: Random): string {
  const digits = [...`${oneOf(r, ["4", "51", "55", "2221"])}`, ...pick(r, DIGITS, 15)].slice(0, 15).map(Number)
  const sum = digits.reduce((sum, digit, i) => sum + (i % 2 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2), 0)
  const number = [...digits, (10 - (sum % 10)) % 10].join("")
  return r() < 0.5 ? number : number.replace(/\d{4}(?=\d)/g, "$& ")
}

const PASSPHRASE_WORDS = "correct horse battery staple marble violin harbor pencil copper meadow thunder walnut"
const passphrase = (r: Random) => {
  const words = Array.from({ length: 5 }, () => oneOf(r, PASSPHRASE_WORDS.split(" ")))
  return words.join(oneOf(r, ["-", " "]))
}
/** With a digit: after an ambiguous name, letters alone may be a word. */
const drawn = (r: Random) => `${pick(r, WORD, 6)}${oneOf(r, ["#", "!", "_"])}${pick(r, DIGITS, 1)}${pick(r, WORD, 6)}`
const password = (r: Random) => pick(r, WORD, 6) + oneOf(r, ["#", "!", "_", "9"]) + pick(r, WORD, 6)

export const MORE_PLACED: Record<string, [make: (random: Random) => string, text: (secret: string) => string]> = {
  mysqlFlag: [password, (s) => `mysql -h db.host.dev -u root -p${s} app < dump.sql`],
  mysqldump: [password, (s) => `mysqldump --single-transaction -uadmin -p'${s}' shop`],
  sshpass: [password, (s) => `sshpass -p '${s}' ssh deploy@10.0.0.4 uptime`],
  sshpassDouble: [password, (s) => JSON.stringify({ command: `sshpass -p "${s}" scp a b:` })],
  dockerLogin: [password, (s) => `docker login -u ann -p ${s} registry.host.dev`],
  podmanLogin: [password, (s) => `podman login --username ann --password=${s} quay.host.dev`],
  redisFlag: [password, (s) => `redis-cli -h cache -p 6380 -a ${s} ping`],
  mongoFlag: [password, (s) => `mongosh "mongodb+srv://c.host.dev" -u root -p ${s}`],
  ldapFlag: [password, (s) => `ldapsearch -x -D cn=admin,dc=host -w ${s} -b dc=host`],
  smbFlag: [password, (s) => `smbclient //files/share -U ann%${s}`],
  opensslFlag: [password, (s) => `openssl enc -aes-256-cbc -pass pass:${s} -in a -out b`],
  gpgFlag: [password, (s) => `gpg --batch --passphrase ${s} -d backup.gpg`],
  zipFlag: [password, (s) => `zip -P ${s} out.zip a.txt`],
  sqlcmdFlag: [password, (s) => `sqlcmd -S db -U sa -P ${s} -Q "select 1"`],
  htpasswdFlag: [password, (s) => `htpasswd -cb .htpasswd ann ${s}`],
  keytoolFlag: [password, (s) => `keytool -list -keystore a.jks -storepass ${s}`],
  chpasswd: [password, (s) => `echo "deploy:${s}" | sudo chpasswd`],
  sudoStdin: [password, (s) => `echo ${s} | sudo -S apt-get update`],
  netrcLine: [password, (s) => `machine api.host.dev login ann password ${s}`],
  netrcLines: [password, (s) => `machine git.host.dev\n  login ann\n  password ${s}\n`],
  netrcJson: [password, (s) => JSON.stringify({ stdout: `machine git.host.dev\nlogin ann\npassword ${s}\n` })],
  pgpass: [password, (s) => `db.host.dev:5432:app:ann:${s}\n`],
  pgpassAny: [password, (s) => `cat ~/.pgpass\nlocalhost:*:*:postgres:${s}\n`],
  setCookie: [(r) => pick(r, URLSAFE, 43), (s) => `< Set-Cookie: sid=${s}; Path=/; HttpOnly`],
  setCookieSigned: [
    (r) => `s%3A${pick(r, URLSAFE, 32)}.${pick(r, WORD, 43)}`,
    (s) => `set-cookie: connect.sid=${s}; Secure`,
  ],
  cookieHeader: [(r) => pick(r, WORD, 26), (s) => `curl -H 'Cookie: theme=dark; PHPSESSID=${s}' https://host.dev`],
  yamlPassphrase: [passphrase, (s) => `vault:\n  passphrase: ${s}\n  rounds: 3`],
  yamlPassphraseQuoted: [passphrase, (s) => `ssh:\n  passphrase: "${s}"\n`],
  jsonPassphrase: [passphrase, (s) => JSON.stringify({ passphrase: s, ok: true })],
  seedPhrase: [seed, (s) => `My wallet: ${s}\nKeep it safe.`],
  seedContext: [seed, (s) => `mnemonic: "${s}"`],
  seedJson: [seed, (s) => JSON.stringify({ seedPhrase: s })],
  seedNumbered: [
    seed,
    (s) =>
      s
        .split(" ")
        .map((word, i) => `${i + 1}. ${word}`)
        .join("\n"),
  ],
  card: [card, (s) => `Card number: ${s}, exp 04/29`],
  cardJson: [card, (s) => JSON.stringify({ card: { number: s, cvc: "123" } })],
  cardProse: [card, (s) => `the customer's Visa ${s} was declined`],
  dockerConfig: [(r) => btoa(`ann:${password(r)}`), (s) => `{"auths":{"registry.host.dev":{"auth":"${s}"}}}`],
  kubernetesSecret: [
    (r) => btoa(password(r)),
    (s) => `apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  password: ${s}\n`,
  ],
  laravel: [(r) => `${pick(r, BASE64, 43)}=`, (s) => `APP_ENV=local\nAPP_KEY=base64:${s}\n`],
  oracleUrl: [password, (s) => `jdbc:oracle:thin:scott/${s}@//db:1521/x`],
  nugetAttribute: [password, (s) => `<add key="ClearTextPassword" value="${s}" />`],
  xmlElement: [password, (s) => `<server><username>ann</username><password>${s}</password></server>`],
  totp: [(r) => pick(r, `${UPPER}234567`, 32), (s) => `otpauth://totp/Host:ann?secret=${s}&issuer=Host`],
  presigned: [(r) => pick(r, HEX, 64), (s) => `https://b.s3.amazonaws.com/k?X-Amz-Expires=60&X-Amz-Signature=${s}`],
  openvpn: [
    (r) => Array.from({ length: 16 }, () => pick(r, HEX, 32)).join("\n"),
    (s) => `-----BEGIN OpenVPN Static key V1-----\n${s}\n-----END OpenVPN Static key V1-----`,
  ],
  teamsWebhook: [
    (r) => `${uuid(r)}@${uuid(r)}/IncomingWebhook/${pick(r, HEX, 32)}/${uuid(r)}`,
    (s) => `curl -d '{}' https://acme.webhook.office.com/webhookb2/${s}`,
  ],
  authtoken: [(r) => `2${pick(r, WORD, 26)}_${pick(r, WORD, 21)}`, (s) => `ngrok config add-authtoken ${s}`],
  telegramAddress: [
    (r) => `${pick(r, "123456789", 10)}:AA${pick(r, URLSAFE, 33)}`,
    (s) => `curl https://api.telegram.org/bot${s}/getMe`,
  ],
  yamlBlock: [drawn, (s) => `stringData:\n  password: |\n    ${s}\n  user: app\n`],
  yamlBlockJson: [(r) => pick(r, WORD, 40), (s) => JSON.stringify({ stdout: `ci:\n  deploy_token: >-\n    ${s}\n` })],
  yamlAnchor: [drawn, (s) => `defaults: &db\n  password: &pw ${s}\n`],
  envPass: [drawn, (s) => `cat > .env <<'EOF'\nAPP_ENV=prod\nSMTP_PASS=${s}\nEOF`],
  ansiblePass: [drawn, (s) => `10.0.0.3 ansible_user=root ansible_ssh_pass=${s}\n`],
  jsonPass: [drawn, (s) => JSON.stringify({ user: "app", pass: s })],
  camelPass: [drawn, (s) => `connect({ dbUser: "app", dbPass: '${s}' })`],
  kubernetesMore: [
    (r) => btoa(pick(r, WORD, 24)),
    (s) => `kind: Secret\napiVersion: v1\ntype: Opaque\ndata:\n  username: YWRtaW4=\n  pass: ${s}\n`,
  ],
  kubernetesPrinted: [
    (r) => btoa(pick(r, WORD, 24)),
    (s) => `apiVersion: v1\ndata:\n  a: YWRtaW4=\n  b: ${s}\nkind: Secret\nmetadata:\n  name: db\n`,
  ],
  kubernetesJson: [
    (r) => btoa(pick(r, WORD, 24)),
    (s) => JSON.stringify({ apiVersion: "v1", data: { a: "YWRtaW4=", b: s }, kind: "Secret" }),
  ],
  subscriptionKey: [(r) => pick(r, HEX, 32), (s) => `curl -H "Ocp-Apim-Subscription-Key: ${s}" https://x.host.dev/`],
  accountKey: [(r) => `${pick(r, BASE64, 86)}==`, (s) => JSON.stringify({ CosmosDb: { AccountKey: s } })],
  sqlplus: [password, (s) => `sqlplus -S system/${s}@//db:1521/XE @x.sql`],
  sqlUser: [password, (s) => `CREATE USER app WITH LOGIN PASSWORD '${s}';`],
  sqlIdentified: [password, (s) => `ALTER USER 'root'@'localhost' IDENTIFIED BY '${s}';`],
  nmcli: [password, (s) => `nmcli dev wifi connect Office password '${s}'`],
  wpa: [password, (s) => `network={\n  ssid="Office"\n  psk="${s}"\n}`],
  powershell: [password, (s) => `$p = ConvertTo-SecureString "${s}" -AsPlainText -Force`],
  redisConf: [password, (s) => `maxmemory 1gb\nrequirepass ${s}\n`],
  redisAuth: [password, (s) => `127.0.0.1:6379> AUTH default ${s}\nOK`],
  bindpw: [password, (s) => `binddn cn=ro,dc=x\nbindpw ${s}\n`],
  expect: [password, (s) => `expect "Password:"\nsend "${s}\\r"`],
  pgpassPort: [password, (s) => `pg1.host.dev:6543:*:svc:${s}\n`],
  wordpress: [
    (r) => pick(r, `${WORD}!@#$^&*()[]{}<>~+=,.;:/?| `, 64),
    (s) => `define('AUTH_KEY',         '${s}');\ndefine('DB_HOST', 'db');`,
  ],
  setPassword: [drawn, (s) => `ds.setPassword("${s}");`],
  authTuple: [password, (s) => `requests.get(url, auth=("svc", "${s}"))`],
  bearerJoined: [(r) => pick(r, URLSAFE, 44), (s) => `headers: { "Authorization": "Bearer " + "${s}" }`],
  keyOfBytes: [(r) => pick(r, HEX, 64), (s) => `const encryptionKey = Buffer.from("${s}", "hex")`],
  authPlain: [(r) => btoa(`\0svc\0${password(r)}`), (s) => `C: AUTH PLAIN ${s}\nS: 235 2.7.0 Accepted`],
  ifttt: [(r) => pick(r, URLSAFE, 22), (s) => `curl https://maker.ifttt.com/trigger/door/with/key/${s}`],
}

export type Wrap = (secret: string, name: string) => string
/** Where agents encounter them: commands, output, edits and calls. */
export const MORE_PLACES: Wrap[] = [
  (secret) => `diff --git a/.env b/.env\n@@ -1 +1 @@\n-X=1\n+${secret}\n`,
  (secret) => `{"type":"tool_result","content":"stdout:\\n${JSON.stringify(secret).slice(1, -1)}\\nexit 0"}`,
  (secret) => `git checkout -b ${secret}`,
  (secret) => `- item: '${secret}'\n- other: x`,
  (secret) => `<value>${secret}</value>`,
  (secret) => `| key | ${secret} |\n|---|---|`,
  (secret) => `(${secret})`,
  (secret) => `curl -X POST -d '{"k":"${secret}"}' localhost:80/x`,
]
