import { createHash } from "node:crypto"
import { existsSync, readFileSync } from "node:fs"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { generatedTexts, isMissed, plantedSecrets } from "../../../bench/redaction.ts"
import { convert, INSTALLED_RULES, installedVersion, rulesModule } from "../../../scripts/secret-rules.ts"
import { Failure } from "../../domain/failure.ts"
import { GITLEAKS_RULES, GITLEAKS_SHA256, GITLEAKS_VERSION } from "./gitleaks.ts"
import { makeRedactor, REDACTION_KINDS } from "./redaction.ts"

const redact = makeRedactor()

describe("secrets", () => {
  const planted = plantedSecrets(2)
  test("none of those planted is missed, whatever its kind and its surroundings", () => {
    expect(planted.length).toBeGreaterThanOrEqual(500)
    expect(new Set(planted.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(200)
    expect(planted.filter((secret) => isMissed(secret, redact(secret.text)))).toEqual([])
  })
  test("others of the same kinds are not missed either, whatever is drawn", () => {
    fc.assert(
      fc.property(fc.integer(), (seed) => {
        const missed = plantedSecrets(1, seed).filter((secret) => isMissed(secret, redact(secret.text)))
        // One in a million looks like a word by chance; a rule that is wrong misses more than one of its kind.
        expect(missed.filter(({ kind }) => missed.filter((other) => other.kind === kind).length > 1)).toEqual([])
        expect(missed.length).toBeLessThanOrEqual(1)
      }),
      { numRuns: 2 },
    )
  })
  test("what stands around a text does not hide its secrets", () => {
    const [one, two] = [plantedSecrets(1, 5), plantedSecrets(1, 6)]
    for (let i = 0; i < one.length; i += 7) {
      const [before, after] = [one[i]!, two[(i * 31) % two.length]!]
      const text = redact(`${before.text}\n\n${after.text}\n`)
      expect(isMissed(before, text) || isMissed(after, text), `${before.text}\n${after.text}`).toBe(false)
    }
  })
  test("doing it again changes nothing", () => {
    const some = planted.filter((_, i) => i % 5 === 0)
    const texts = [...planted.map(({ text }) => text), some.map(({ text }) => text).join("\n"), ...mangled(some)]
    for (const text of texts) {
      const once = redact(text)
      expect(redact(once)).toBe(once)
    }
  })
  test("a command's password is found on any line of a script, also as JSON writes it", () => {
    const commands = planted.filter(({ text }) => redact(text).includes("[redacted:command-password]"))
    expect(new Set(commands.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(12)
    const scripts = commands.map((one) => ({ ...one, text: JSON.stringify({ command: `cd app\n${one.text}\n\tls` }) }))
    expect(scripts.filter((secret) => isMissed(secret, redact(secret.text)))).toEqual([])
  })
  test.each([
    ["JSON", (text: string) => JSON.stringify({ stdout: text })],
    ["a mail", (text: string) => eachLine(text, (line) => `> ${line}`)],
    ["a mail in a mail", (text: string) => eachLine(text, (line) => `> > ${line}`)],
    ["a diff", (text: string) => eachLine(text, (line) => `+${line}`)],
    ["a listing with arrows", (text: string) => eachLine(text, (line, n) => `     ${n}→${line}`)],
    ["a listing with tabs", (text: string) => eachLine(text, (line, n) => `     ${n}\t${line}`)],
    ["what grep prints", (text: string) => eachLine(text, (line, n) => `a/b.txt:${n}:${line}`)],
  ])("what %s puts before each line does not hide a secret", (where, within) => {
    // Other ones than elsewhere: some kinds have forms of which chance takes one.
    const whole = [...planted, ...plantedSecrets(1, 17), ...plantedSecrets(1, 18)].filter(
      ({ kind, text, secret }) => text.includes(secret) && kind !== "pemCut",
    )
    const shown = whole.map((one) => ({ ...one, secret: one.secret.split("\n")[0]!, text: within(one.text) }))
    expect(
      shown.filter((secret) => isMissed(secret, redact(secret.text))),
      where,
    ).toEqual([])
  })
  test("a text that is cut before the quotation mark at its end still has its secret found", () => {
    expect(redact("kubectl create secret generic db --from-literal=password='NABfNwVGLj1g0p")).toBe(
      "kubectl create secret generic db --from-literal=password='[redacted:password]",
    )
  })
  test("a colour before a secret does not hide it, even if its escape character was taken out", () => {
    const coloured = planted.filter(({ text }) => text.startsWith("\u001b["))
    expect(coloured.length).toBeGreaterThan(100)
    const shown = coloured.map((one) => ({ ...one, text: one.text.replaceAll("\u001b", "") }))
    expect(shown.filter((secret) => isMissed(secret, redact(secret.text)))).toEqual([])
  })
  test("what is around a secret stays, and its kind is named", () => {
    const key = `ghp_${"aB3dE6gH9jK2".repeat(3)}`
    expect(redact(`before ${key} after`)).toBe("before [redacted:github-token] after")
    expect(redact(`{"DB_PASSWORD":"k9#Lq2!vXz7p","port":1}`)).toBe(`{"DB_PASSWORD":"[redacted:password]","port":1}`)
    expect(redact("postgres://app:k9Lq2vXz7p@db:5432/app")).toBe("postgres://app:[redacted:database-url]@db:5432/app")
    expect(redact(`Authorization: Bearer ${key}`)).toBe("Authorization: Bearer [redacted:github-token]")
    expect(redact(`echo ${btoa(key)} | base64 -d`)).toBe("echo [redacted:github-token] | base64 -d")
  })
})

describe("one pass for all rules", () => {
  const pieces = plantedSecrets(1, 11).map(({ text }) => text)
  /** Secrets, whole and cut, between words, signs and what is no ASCII. */
  const texts = fc.sample(
    fc
      .array(
        fc.oneof(
          fc.constantFrom(...pieces),
          fc.tuple(fc.constantFrom(...pieces), fc.nat(60), fc.nat(60)).map(([text, from, to]) => text.slice(from, -to)),
          fc.string({ unit: "grapheme", maxLength: 30 }),
          fc.constantFrom(
            "return the token;\n",
            "index.ts: valid path\n",
            "\u4e41\u4e42",
            "→ ",
            "ñ",
            "secret ",
            "/* api_key */ ",
          ),
        ),
        { minLength: 1, maxLength: 4 },
      )
      .map((parts) => parts.join("")),
    { numRuns: 400, seed: 3 },
  )
  test("finds what each rule finds alone, and nothing else", () => {
    const foundAlone = texts.map(() => new Set<string>())
    for (const kind of REDACTION_KINDS) {
      const alone = makeRedactor({ off: REDACTION_KINDS.filter((other) => other !== kind) })
      for (const [n, text] of texts.entries()) {
        for (const secret of takenOut(text, alone(text))) foundAlone[n]!.add(secret)
      }
    }
    expect(foundAlone.filter(({ size }) => size > 0).length).toBeGreaterThan(150)
    for (const [n, text] of texts.entries()) {
      const clean = redact(text)
      expect(clean !== text, text).toBe(foundAlone[n]!.size > 0)
      for (const secret of foundAlone[n]!)
        expect(clean.split(secret).length, text).toBeLessThan(text.split(secret).length)
    }
  })
  test("finds a key without a prefix wherever it begins and whatever is before it", () => {
    const key = fc
      .shuffledSubarray(["mitJMo18KZ", "Q9x2LfR7vT", "b4WnZ8sYkD", "0uHc6EgPa3"], { minLength: 4 })
      .map((parts) => parts.join(""))
    const before = fc.array(fc.constantFrom("a", "word ", "=", " ", "é", "\u4e41", "→", "aB3dE6gH9 ", "/"), {
      maxLength: 60,
    })
    fc.assert(
      fc.property(before, fc.constantFrom(" ", '"', "\u4e42", ">"), key, (parts, sign, secret) => {
        const text = `${parts.join("")}${sign}`
        expect(redact(`${text}${secret}`)).toBe(`${text}[redacted:bare-key]`)
      }),
    )
  })
  test("a key that begins with a plus sign is no added line of a diff, and one on an added line is a key", () => {
    expect(redact("++vBPE1HVVGqhqv7zxngRxIElHLFu9Gx5M7ForbS")).toBe("[redacted:bare-key]")
    expect(redact("+mitJMo18KZC4pw43ruhhtlvPwawxbeofhweYU1bU\n")).toBe("+[redacted:bare-key]\n")
    expect(redact("rbNYCUDQKTTYBLMBUyGqBb7/KZGZxuy0XBFZJQRY")).toBe("[redacted:bare-key]")
  })
})

describe("the maintained rules", () => {
  const generated = readFileSync(new URL("./gitleaks.ts", import.meta.url), "utf8")
  test("are many, and the manual names their version", () => {
    expect(GITLEAKS_RULES.trim().split("\n").length).toBeGreaterThanOrEqual(150)
    const manual = readFileSync(new URL("../../../docs/privacy.md", import.meta.url), "utf8")
    expect(manual).toContain(`gitleaks ${GITLEAKS_VERSION}`)
    expect(manual).toContain(`${REDACTION_KINDS.length} kinds`)
  })
  test.skipIf(!existsSync(INSTALLED_RULES))("are not stale against what is installed", () => {
    const toml = readFileSync(INSTALLED_RULES, "utf8")
    expect(createHash("sha256").update(toml).digest("hex")).toBe(GITLEAKS_SHA256)
    expect(rulesModule(toml, installedVersion()!)).toBe(generated)
  })
  test("a rule that cannot be translated stops the script instead of being lost", () => {
    const rule = (regex: string) => `[[rules]]\nid = "new-one"\nregex = '''${regex}'''\n`
    const [converted] = convert(rule(String.raw`\b(acme_(?i)[a-z0-9]{20})(?:[\x60'"\s;]|\\[nr]|$)`)).rules
    expect(converted).toMatchObject({ form: "token", kind: "new-one", anchors: ["acme_"] })
    expect(new RegExp(`^${converted!.pattern}$`).test("acme_0123456789ABCDEfghij")).toBe(true)
    expect(() => convert(rule("[a-z]{40}"))).toThrowError(/new-one/)
  })
})

describe("other text", () => {
  test("is left as it is: lock files, logs, hashes, ids, pictures, code and prose", () => {
    const lock = readFileSync(new URL("../../../package-lock.json", import.meta.url), "utf8")
    expect(redact(lock)).toBe(lock)
    for (const text of generatedTexts(5_000_000)) expect(redact(text)).toBe(text)
  })
  test.each([
    "password: string",
    'const token = await getToken("access")',
    "postgres://user:password@localhost:5432/db",
    "postgres://postgres:postgres@localhost/app",
    "https://registry.example.org/@scope/name/-/name-1.0.0.tgz",
    "AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE",
    "OPENAI_API_KEY=sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "api_key=$" + "{API_KEY}",
    "api_key: <your-api-key>",
    "Authorization: Bearer $TOKEN",
    "task-management-for-risk-assessment-and-desk-research",
    "-----BEGIN CERTIFICATE-----\nMIIBkTCB+wIJAKHHCgVZU6T9MA0GCSqGSIb3DQEBCwUA\n-----END CERTIFICATE-----",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGm3xZ8Qe1v0Yk2n4T7u9w0PqRsTuVwXyZ012345678 a@b",
    "token_count: 128000, tokenizer: cl100k_base, max_tokens=4096",
    "bypass: nothing-to-see-Here1!",
    "pass: matchResult?.pass ?? false",
    "ownPass: !!ownPass",
    '{"pass": "Page has a heading-level-1 H1!"}',
    'values for all columns identified by "aOrderBy"',
    "Set requirepass before you expose it, and masterauth on the replicas.",
    "kind: ConfigMap\ndata:\n  mode: cHJvZHVjdGlvbg==\n",
    'use `setPassword("password")` and auth=("user", "password")',
  ])("%s", (text) => expect(redact(text)).toBe(text))
})

describe("hostile text takes time in proportion to its length", () => {
  const pieces = [
    "a",
    "=",
    "-",
    " ",
    "\n",
    "\\",
    '"',
    "://",
    "://:@",
    "://a:",
    "eyJ",
    "eyJa.",
    "-eyJaaaaaaaa.eyJaaaaaaaa.",
    "sk-",
    "sk-ant-",
    "password=",
    "password:",
    "password ",
    "secret",
    "secretkey",
    "token: ",
    "api_key",
    "--token ",
    "bearer ",
    "basic ",
    "curl ",
    "curl -u",
    "authorization: ",
    "heroku ",
    "heroku_",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\n-",
    "-----BEGIN RSA PRIVATE KEY-----aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
    "LS0tLS1CRUdJTiBQUklW",
    "c2st",
    "c2stYW50L/",
    "ghp_",
    "MTA",
    "MTAaaaaaaaaaaaaaaaaaaaaaa.",
    "1:AA",
    "11111111:AA",
    "8Q~",
    "SG.a",
    "AZDO",
    "Private-Lines: 1\n",
    "password\nvalue",
    "A3-",
    "xoxb-",
    "key-0",
    "AccountKey=",
    "sig=",
    "hooks.slack.com/services/",
    "dp.pt.a.",
    "pat0",
    "ghs_1_eyJ.eyJ.",
    "11111111:AAbot",
    "password: |\n",
    "pass: ",
    "kind: Secret\ndata:\n",
    "data:\n  a: YWRtaW4=\n",
    "user password '",
    "create user identified by ",
    "password\nsend ",
    "psk=",
    "auth=(",
    "_KEY', '",
    "sqlplus a/",
    "token(",
    "token=a(",
    ":*:a:",
    "requirepass ",
    "token\n",
    "login\n",
    "login\n> ",
    "password\n1→",
    "Private-Lines: 1\n> ",
    "-----BEGIN OpenVPN Static key V1-----\n0123456789abcdef\n",
    "\n> > ",
    "password\n  > value",
  ]
  test.each(pieces)("%j", (piece) => {
    const text = piece.repeat(1_000_000 / piece.length)
    const start = process.cpuUsage()
    redact(text)
    const { user, system } = process.cpuUsage(start)
    expect((user + system) / 1000).toBeLessThan(2000)
  })
})

describe("settings", () => {
  test("further patterns are redacted, also beside what is redacted already", () => {
    const mine = makeRedactor({
      extra: [
        { kind: "badge", pattern: "EMP-\\d{6}" },
        { kind: "word", pattern: "[a-z]{7,}" },
      ],
    })
    const once = mine("EMP-123456 hvs.CAESIJ3k9Lq2vXz7pQwErTyUiOpAsDf employee")
    expect(once).toBe("[redacted:badge] [redacted:vault-token] [redacted:word]")
    expect(mine(once)).toBe(once)
  })
  test.each([
    ["(unclosed", "x"],
    ["a)|(b", "x"],
    ["a*", "x"],
    ["fine", "no kind]"],
  ])("%s as %s is refused by name", (pattern, kind) => {
    expect(() => makeRedactor({ extra: [{ kind, pattern }] })).toThrowError(
      expect.objectContaining({ code: "config_invalid", message: expect.stringContaining(pattern) }),
    )
  })
  test("a kind can be turned off, and only one that there is", () => {
    const jwt = `${btoa('{"alg":"HS256"}')}.${btoa('{"sub":"ann.l"}')}.k9Lq2vXz7pQwErTyUiOpAsDf`
    expect(redact(jwt)).toBe("[redacted:jwt]")
    expect(makeRedactor({ off: ["jwt"] })(jwt)).toBe(jwt)
    expect(() => makeRedactor({ off: ["jwtt"] })).toThrowError(Failure)
    expect(REDACTION_KINDS.length).toBeGreaterThanOrEqual(40)
  })
})

const eachLine = (text: string, to: (line: string, n: number) => string) =>
  text
    .split("\n")
    .map((line, i) => to(line, i + 1))
    .join("\n")

/** Secrets run together, cut and doubled, as no one would write them. */
function mangled(planted: { text: string }[]): string[] {
  return planted.flatMap(({ text }, i) => {
    const next = planted[(i * 31 + 7) % planted.length]!.text
    return [
      text + next,
      text.slice(0, text.length / 2) + next,
      `password=${text}`,
      `https://a:${text}@b`,
      `Bearer ${text}${text}`,
    ]
  })
}

/** What stood where something is redacted now. */
function takenOut(text: string, clean: string): string[] {
  const kept = clean.split(/\[redacted:[\w-]+\]/)
  let at = kept[0]!.length
  return kept.slice(1).map((after, n) => {
    const end = n === kept.length - 2 ? text.length - after.length : text.indexOf(after, at + 1)
    const secret = text.slice(at, end)
    at = end + after.length
    return secret
  })
}
