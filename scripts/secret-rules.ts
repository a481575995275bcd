// Makes src/capture/redact/gitleaks.ts and seed-words.ts from maintained sources.
//
//   node scripts/secret-rules.ts                         # gitleaks.toml of an installed golang-github-gitleaks-gitleaks-dev
//   node scripts/secret-rules.ts --rules gitleaks.toml --version 8.26.0
//   node scripts/secret-rules.ts --words english.txt --words-version 2.4.0
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { parse } from "smol-toml"
import { alternativesOf, parsePattern, prefixesOf, toSource } from "./secret-rules/go-pattern.ts"

/** Where Debian's golang-github-gitleaks-gitleaks-dev puts the rules, and where its changelog tells the version. */
export const INSTALLED_RULES = "/usr/share/gocode/src/github.com/zricethezav/gitleaks/config/gitleaks.toml"
export const RULES_FILE = new URL("../src/capture/redact/gitleaks.ts", import.meta.url)
const WORDS_FILE = new URL("../src/capture/redact/seed-words.ts", import.meta.url)

/** Rules that are not taken, each with its reason. A rule that cannot be converted and is not listed stops the script. */
const SKIPPED: Record<string, string> = {
  "adobe-client-id": "an id, not a secret",
  "asana-client-id": "an id, not a secret",
  "bitbucket-client-id": "an id, not a secret",
  "discord-client-id": "an id, not a secret",
  "linkedin-client-id": "an id, not a secret",
  "linkedin-client-secret": "the name is a common word; ours looks for linkedin",
  "lob-api-key": "the name is part of common words; ours looks for lob_api",
  "lob-pub-api-key": "an id, not a secret",
  "messagebird-api-token": "the name is a common word; ours looks for messagebird",
  "messagebird-client-id": "an id, not a secret",
  "new-relic-user-api-id": "an id, not a secret",
  "plaid-client-id": "an id, not a secret",
  "privateai-api-token": "the name is a common word; ours looks for private_ai",
  "sendbird-access-id": "an id, not a secret",
  "sumologic-access-id": "an id, not a secret",
  "facebook-access-token": "no literal to look for; ours finds it by its context",
  "freemius-secret-key": "bound to a file name",
  "generic-api-key": "ours judges names and values with fewer false positives",
  "hashicorp-tf-api-token": "the literal is in the middle; ours finds it",
  "hashicorp-tf-password": "ours finds assigned passwords",
  "azure-ad-client-secret": "the literal is in the middle; ours finds it",
  "curl-auth-header": "our own rule covers the header",
  "curl-auth-user": "ours finds it, and redacts the password alone",
  jwt: "ours also finds encrypted ones",
  "jwt-base64": "ours finds every token in base64",
  "kubernetes-secret-yaml": "bound to a file name; ours finds the block",
  "maxmind-license-key": "the literal is at the end; ours finds it",
  "microsoft-teams-webhook": "begins with any host; ours finds it by the path",
  "nuget-config-password": "bound to a file name; ours finds the attribute",
  "openai-api-key": "ours also finds keys of other lengths",
  "pkcs12-file": "a file name",
  "private-key": "ours also finds a block that is cut off",
  "sidekiq-sensitive-url": "ours finds passwords in URLs",
  "slack-webhook-url": "begins with any scheme; ours finds it",
  "sourcegraph-access-token": "a bare git hash would match; ours finds the prefixes",
  "twilio-api-key": "a prefix of two characters; ours finds it",
  "telegram-bot-api-token": "the literal is in the middle; ours finds it",
  "vault-service-token": "one form has a prefix of two characters; ours finds both",
}

interface GitleaksRule {
  id: string
  regex?: string
  path?: string
  entropy?: number
  keywords?: string[]
}

export interface Converted {
  /** `token`: anchored by a literal prefix. `near`: a value after a provider's name. */
  form: "token" | "near"
  kind: string
  anchors: string[]
  pattern: string
  entropy: number
}

/** The shape that gitleaks gives to every rule that goes by a provider's name: name, link, value, end. */
const NEAR =
  /^(?:\(\?i\))?\[\\w\.-\]\{0,50\}\?(?:\(\?i:\[\\w\.-\]\{0,50\}\?)?(\(\?:.+?\))\(\?:\[ \\t\\w\.-\]\{0,20\}\)\[\\s'"\]\{0,3\}\)?\(\?:=\|.+?\|,\)\[\\x60'"\\s=\]\{0,5\}(.+)\(\?:\[\\x60'"\\s;\]\|\\\\\[nr\]\|\$\)$/s
const END = /(?:\(\?:\[\\x60'"\\s;\]\|\\\\\[nr\]\|\$(?:\|\\b)?\)|\\b|\(\?:\[\^[^\]]+\]\|\\z\))$/

export function convert(toml: string): { rules: Converted[]; skipped: string[] } {
  const { rules } = parse(toml) as unknown as { rules: GitleaksRule[] }
  const converted: Converted[] = []
  const skipped: string[] = []
  for (const rule of rules) {
    if (SKIPPED[rule.id] !== undefined) {
      skipped.push(rule.id)
      continue
    }
    try {
      for (const regex of alternativesOf(rule.regex ?? "")) converted.push(convertRule({ ...rule, regex }))
    } catch (error) {
      throw new Error(`gitleaks' rule ${rule.id}: ${(error as Error).message}. Convert it, or list it with a reason.`)
    }
  }
  return { rules: converted, skipped }
}

function convertRule({ id, regex, entropy = 0 }: GitleaksRule & { regex: string }): Converted {
  const [, names, value] = NEAR.exec(regex) ?? []
  if (names !== undefined && value !== undefined) {
    const anyCase = regex.startsWith("(?i)")
    const anchors = [...new Set(prefixesOf(parsePattern(names)).map((name) => name.toLowerCase()))]
    return { form: "near", kind: id, anchors: usable(anchors), pattern: source(value, anyCase), entropy }
  }
  const bare = regex.replace(END, "").replace(/^((?:\(\?i\))?)\\b/, "$1")
  const node = parsePattern(bare)
  return { form: "token", kind: id, anchors: usable(prefixesOf(node)), pattern: toSource(node), entropy }
}

const source = (pattern: string, anyCase: boolean) => toSource(parsePattern(anyCase ? `(?i)${pattern}` : pattern))

function usable(anchors: string[]): string[] {
  if (anchors.length === 0 || anchors.some((anchor) => anchor.length < 3))
    throw new Error("it begins with no literal of three characters")
  return anchors
}

export function rulesModule(toml: string, version: string): string {
  const { rules, skipped } = convert(toml)
  const rows = rules.map(({ form, kind, anchors, pattern, entropy }) =>
    [form, kind, entropy, anchors.join(" "), pattern].join("\t"),
  )
  const body = rows.join("\n").replaceAll("`", "\\x60").replaceAll("${", "\\x24{")
  return `// Generated by scripts/secret-rules.ts: do not edit. Patterns of gitleaks ${version} (config/gitleaks.toml), translated.
// MIT License, Copyright (c) 2019 Zachary Rice. The licence's text is in THIRD_PARTY_NOTICES.
export const GITLEAKS_VERSION = "${version}"
/** Of the file that this was made from. */
export const GITLEAKS_SHA256 = "${createHash("sha256").update(toml).digest("hex")}"
/** ${rules.length} rules are taken; ${skipped.length} are not, each for a reason that the script names. Columns: form, kind, entropy, anchors, pattern. */
export const GITLEAKS_RULES = String.raw\`
${body}
\`
`
}

function wordsModule(list: string, version: string): string {
  const words = list.split(/\s+/).filter((word) => /^[a-z]{3,8}$/.test(word))
  if (words.length !== 2048) throw new Error(`the list has ${words.length} words instead of 2,048`)
  const lines: string[] = []
  for (let at = 0; at < words.length; at += 12) lines.push(words.slice(at, at + 12).join(" "))
  return `// Generated by scripts/secret-rules.ts: do not edit. The English word list of BIP-39, as in @scure/bip39 ${version} (MIT).
export const SEED_WORDS: ReadonlySet<string> = new Set(
  \`
${lines.join("\n")}
\`
    .trim()
    .split(/\\s+/),
)
`
}

export function installedVersion(): string | undefined {
  const status = "/var/lib/dpkg/status"
  if (!existsSync(INSTALLED_RULES) || !existsSync(status)) return undefined
  const found = /\nPackage: golang-github-gitleaks-gitleaks-dev\n(?:.+\n)*?Version: ([\w.]+)/.exec(
    `\n${readFileSync(status, "utf8")}`,
  )
  return found?.[1]
}

function main(): void {
  const { values } = parseArgs({
    options: {
      rules: { type: "string" },
      version: { type: "string" },
      words: { type: "string" },
      "words-version": { type: "string" },
    },
  })
  if (values.words !== undefined) {
    const text = readFileSync(values.words, "utf8")
    writeFileSync(WORDS_FILE, wordsModule(text, values["words-version"] ?? "unknown"))
    console.log(`wrote ${fileURLToPath(WORDS_FILE)}`)
    return
  }
  const version = values.version ?? installedVersion()
  if (version === undefined) throw new Error("say which version this is: --version 8.26.0")
  writeFileSync(RULES_FILE, rulesModule(readFileSync(values.rules ?? INSTALLED_RULES, "utf8"), version))
  console.log(`wrote ${fileURLToPath(RULES_FILE)}`)
}

if (import.meta.main) main()
