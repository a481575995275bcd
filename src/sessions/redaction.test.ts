import { readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { generatedTexts, isMissed, plantedSecrets } from "../../bench/redaction.ts"
import { Failure } from "../domain/failure.ts"
import { makeRedactor, REDACTION_KINDS } from "./redaction.ts"

const redact = makeRedactor()

describe("secrets", () => {
  const planted = plantedSecrets(2)
  test("none of those planted is missed, whatever its kind and its surroundings", () => {
    expect(planted.length).toBeGreaterThanOrEqual(500)
    expect(new Set(planted.map(({ kind }) => kind)).size).toBeGreaterThanOrEqual(30)
    expect(planted.filter((secret) => isMissed(secret, redact(secret.text)))).toEqual([])
  })
  test("doing it again changes nothing", () => {
    const texts = [...planted.map(({ text }) => text), planted.map(({ text }) => text).join("\n"), ...mangled(planted)]
    for (const text of texts) {
      const once = redact(text)
      expect(redact(once)).toBe(once)
    }
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

describe("other text", () => {
  test("is left as it is: lock files, logs, hashes, ids, pictures, code and prose", () => {
    const lock = readFileSync(new URL("../../package-lock.json", import.meta.url), "utf8")
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
