import { describe, expect, test } from "vitest"
import { isMissed, plantedSecrets } from "../../../bench/redaction.ts"
import { Failure } from "../../domain/failure.ts"
import { makeRedactor, REDACTION_KINDS } from "./redaction.ts"

const redact = makeRedactor()
const KEY = `ghp_${"aB3dE6gH9jK2".repeat(3)}`
const VALUE = "k9Lq2vXz7pQwErTyUiOp"
const TOKEN = "[redacted:github-token]"

test("one secret of each kind is found wherever in a text it is, and what is before it stays", () => {
  for (const secret of plantedSecrets(1, 11)) {
    const alone = redact(secret.text)
    expect(isMissed(secret, alone), secret.text).toBe(false)
    expect(redact(alone)).toBe(alone)
    const within = redact(`Zuerst dies, é.\n\n${secret.text}\n\nThen that.`)
    expect(isMissed(secret, within), secret.text).toBe(false)
    expect(within.startsWith("Zuerst dies, é.\n\n")).toBe(true)
  }
})

describe("several secrets in a text", () => {
  test("are each taken out, and what is between them stays", () => {
    expect(redact(`${KEY} ${KEY}`)).toBe(`${TOKEN} ${TOKEN}`)
    expect(redact(`a ${KEY}, b ${btoa(KEY)}; password=${VALUE} end`)).toBe(
      `a ${TOKEN}, b ${TOKEN}; password=[redacted:password] end`,
    )
    expect(redact(`postgres://a:${KEY}@b password=k9#Lq2!vXz7p ${KEY}`)).toBe(
      `postgres://a:${TOKEN}@b password=[redacted:password] ${TOKEN}`,
    )
  })

  test("leave nothing of themselves where they touch", () => {
    const openai = `sk-${VALUE}T3BlbkFJ${VALUE}`
    for (const text of [
      KEY + KEY,
      `${KEY}.${openai}`,
      `${openai}.${KEY}`,
      `${btoa(KEY)},${KEY}`,
      `${KEY},${btoa(KEY)}`,
    ]) {
      const clean = redact(text)
      expect(clean).not.toMatch(/aB3dE6|k9Lq2v|Z2hwX2/)
      expect(redact(clean)).toBe(clean)
    }
  })
})

describe("a token", () => {
  test.each(["", " ", "_", "-", ".", "=", "é", '"', "@", "[", "`", "{", "/", ":"])("begins after %j", (before) => {
    expect(redact(before + KEY)).toBe(before + TOKEN)
  })

  test.each(["\\n", "\\r", "\\t", "\\b", "\\f", "\\v", "%3D", "%3d", "\\u0041", "\\u00aF", "\\x41", "a\\n"])(
    "begins after the escape %s",
    (before) => expect(redact(before + KEY)).toBe(before + TOKEN),
  )

  test.each(["\x1b[31m", "\x1b[m", "\\u001b[1;31m", "\\x1b[0m", "\\e[1m", "\\033[38;5;200m", "[31m"])(
    "begins after the colour %j",
    (before) => expect(redact(before + KEY)).toBe(before + TOKEN),
  )

  test.each(["a", "z", "A", "Z", "0", "9", "\\q", "%zz", "\\u00zz", "\\x4", "am", "100% m", "m"])(
    "does not begin in the middle of a word, such as after %j",
    (before) => expect(redact(before + KEY)).toBe(before + KEY),
  )

  test("is not in other letters: capitals, or those that share a byte with its own", () => {
    for (const text of [KEY.toUpperCase(), `ŧhp_${KEY.slice(4)}`, `ghpş${KEY.slice(4)}`, `Ghp_${KEY.slice(4)}`])
      expect(redact(text)).toBe(text)
  })

  test("that is a placeholder stays, also in base64", () => {
    for (const text of [`ghp_${"x".repeat(36)}`, btoa(`ghp_${"x".repeat(36)}`), `ghp_${"your-token-here".repeat(3)}`])
      expect(redact(text)).toBe(text)
  })

  test("of more than 400 characters is none, whatever its end looks like", () => {
    const long = `glpat-${VALUE.repeat(22)}${"x".repeat(20)}`
    expect(redact(long)).toBe("[redacted:gitlab-token]")
    const short = `glpat-${VALUE}${"x".repeat(20)}`
    expect(redact(short)).toBe(short)
  })

  test("that is drawn from few characters is no token where its maker draws from many", () => {
    const token = (part: string) => `dt0c01.${part.repeat(3)}.${part.repeat(8)}`
    expect(redact(token("a1B2c3D4"))).toBe(token("a1B2c3D4"))
    expect(redact(`dt0c01.${VALUE}Zx8b.${VALUE}MnBvCxZ1${VALUE}5hJgF3dS${VALUE.slice(0, 8)}`)).toMatch(/^\[redacted:/)
  })

  test("is not a word that stands for nothing", () => expect(redact("undefined null NaN")).toBe("undefined null NaN"))

  test("is known by what is in its middle or at its end", () => {
    expect(redact(`key: sk-${VALUE}T3BlbkFJ${VALUE}`)).toBe("key: [redacted:openai-key]")
    for (const digits of ["73519264", "735192648", "7351926480"])
      expect(redact(`bot ${digits}:AA${VALUE}${VALUE}`)).toBe("bot [redacted:telegram-bot-token]")
    expect(redact(`x-735192648:AA${VALUE}${VALUE}`)).toBe("x-[redacted:telegram-bot-token]")
  })
})

describe("in base64", () => {
  const wrapped = btoa(KEY)
  test("a secret is found where the run begins", () => {
    for (const before of ["", " ", "=", '"', "\\n", "%3D"]) expect(redact(before + wrapped)).toBe(before + TOKEN)
    expect(redact(`${wrapped} and more`)).toBe(`${TOKEN} and more`)
  })

  test("the middle of a run is something else", () => {
    for (const before of ["x", "+", "/", "A9"]) expect(redact(before + wrapped)).toBe(before + wrapped)
  })

  test("what begins like a secret and is none stays", () => {
    for (const text of [btoa("ghp_ is how they begin, see the manual"), wrapped.slice(0, 16)])
      expect(redact(text)).toBe(text)
  })
})

describe("a name before a value", () => {
  test.each(["password", "PASSWORD", "PassWord", "API_KEY", "api_key", "apiKey", "DB_PASSWORD", "SECRET"])(
    "is known in any case: %s",
    (name) => expect(redact(`${name}=${VALUE}`)).toMatch(new RegExp(`^${name}=\\[redacted:[\\w-]+\\]$`)),
  )

  test("AUTHORIZATION is known from A to Z", () => {
    expect(redact(`AUTHORIZATION: ${VALUE}`)).toBe("AUTHORIZATION: [redacted:authorization]")
  })

  test.each(["api?key", "api\rkey", "pass{word", "p@ssword", "passwor$"])(
    "is not %j, which only looks alike",
    (name) => {
      expect(redact(`${name}=${VALUE}`)).toBe(`${name}=${VALUE}`)
    },
  )

  test("is that of a function where a bracket follows", () => {
    expect(redact(`token = ${VALUE}(`)).toBe(`token = ${VALUE}(`)
    expect(redact(`token = ${VALUE})`)).toBe("token = [redacted:token])")
  })

  test("in front of a quotation is meant as it is, and without one it may be code", () => {
    const name = "serverName1Value2x"
    expect(redact(`token = ${name}`)).toBe(`token = ${name}`)
    for (const quote of ['"', "'", "`"])
      expect(redact(`token = ${quote}${name}${quote}`)).toBe(`token = ${quote}[redacted:token]${quote}`)
  })
})

describe("settings", () => {
  const failureOf = (options: Parameters<typeof makeRedactor>[0]) => {
    try {
      makeRedactor(options)
    } catch (error) {
      if (error instanceof Failure) return error
      throw error
    }
    throw new Error("it was taken")
  }

  test("a kind that is turned off is left alone in all its forms, and no other", () => {
    const some = makeRedactor({ off: ["github-token", "github-pat", "password"] })
    for (const text of [KEY, btoa(KEY), `password=${VALUE}`]) expect(some(text)).toBe(text)
    expect(some(`secret=${VALUE}`)).toBe("secret=[redacted:secret]")
    const bare = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYzQp8Vb2LkT"
    expect(redact(bare)).toBe("[redacted:bare-key]")
    expect(makeRedactor({ off: ["bare-key"] })(bare)).toBe(bare)
  })

  test("a kind that does not exist is refused by its name", () => {
    expect(failureOf({ off: ["github-token", "jwtt"] })).toMatchObject({
      code: "config_invalid",
      message: 'redaction: there is no kind "jwtt" to turn off',
      data: { kind: "jwtt" },
    })
  })

  test("the kinds are in order, each once, and a bare key is one of them", () => {
    expect(REDACTION_KINDS).toEqual([...new Set(REDACTION_KINDS)].toSorted())
    expect(REDACTION_KINDS).toEqual(expect.arrayContaining(["bare-key", "github-token", "database-url"]))
  })

  test.each([
    ["(unclosed", "x", "is no regular expression: Invalid regular expression: /(unclosed/: Unterminated group"],
    ["a)|(b", "x", "is no regular expression: Invalid regular expression: /a)|(b/: Unmatched ')'"],
    ["a*", "x", "matches nothing at all, that is, everywhere"],
    ["a|", "x", "matches nothing at all, that is, everywhere"],
    ["fine", "no kind]", "needs a kind of letters, digits and hyphens"],
    ["fine", "", "needs a kind of letters, digits and hyphens"],
    ["fine", "-x", "needs a kind of letters, digits and hyphens"],
    ["fine", "a".repeat(42), "needs a kind of letters, digits and hyphens"],
  ])("the pattern %s as %s is refused with the reason", (pattern, kind, why) => {
    const failure = failureOf({ extra: [{ kind, pattern }] })
    expect(failure).toMatchObject({
      code: "config_invalid",
      message: `redaction: the pattern "${pattern}" of "${kind}" ${why}`,
      data: { kind, pattern },
    })
    if (why.includes("regular expression")) expect(failure.cause).toBeInstanceOf(SyntaxError)
  })

  test("a pattern of one's own is used everywhere, alternatives and all, and steps over what is redacted", () => {
    const own = (kind: string, pattern: string) => makeRedactor({ extra: [{ kind, pattern }] })
    expect(own("a".repeat(41), "EMP-\\d+")("EMP-1 EMP-22 x")).toBe(
      `[redacted:${"a".repeat(41)}] [redacted:${"a".repeat(41)}] x`,
    )
    expect(own("Id_9", "cat|dog")("catdog cow")).toBe("[redacted:Id_9][redacted:Id_9] cow")
    expect(own("word", "redacted|token")(`redacted token ${KEY}`)).toBe(`[redacted:word] [redacted:word] ${TOKEN}`)
    expect(own("more", "x\\[redacted:\\w+\\]")("x[redacted:a]"), "with more than that it is its own").toBe(
      "[redacted:more]",
    )
    expect(own("bracket", "\\[redacted:x\\] y")("[redacted:x] y")).toBe("[redacted:x] y")
  })

  test("a pattern of one's own that lays a secret bare has it taken out as well", () => {
    const own = makeRedactor({ extra: [{ kind: "mark", pattern: "¤[a-z]+¤" }] })
    const clean = own(`x¤abc¤${KEY}`)
    expect(clean).toBe(`x[redacted:mark]${TOKEN}`)
    expect(own(clean)).toBe(clean)
    const letters = makeRedactor({ extra: [{ kind: "mark", pattern: "qq[a-z]{3}" }] })
    expect(letters(`qqabc${KEY}`)).toBe(`[redacted:mark]${TOKEN}`)
  })

  test("a pattern of one's own that never comes to rest is given up after nine rounds", () => {
    // Each round takes out one letter.
    const own = makeRedactor({ extra: [{ kind: "mark", pattern: "a\\[redacted:mark\\]" }] })
    expect(own(`${"a".repeat(9)}[redacted:mark]`)).toBe("[redacted:mark]")
    expect(own(`${"a".repeat(12)}[redacted:mark]`)).toBe("aaa[redacted:mark]")
  })
})
