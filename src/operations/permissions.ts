import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import { type Decision, PERMISSION_STATES, type Permission, type PermissionAnswers } from "../domain/permission.ts"
import { present } from "../lib/defined.ts"
import { isoTime } from "../lib/time.ts"
import { AtTerminalView, atTerminals, atTerminalText } from "./at-terminal.ts"
import { OWNER } from "./invoke.ts"
import { ANYONE_READS, OWNER_WRITES, operation } from "./operation.ts"
import { clip, minute, table } from "./text.ts"

// None of these is a tool: an agent must not see what others ask, and must never approve itself.

export const PermissionView = z.object({
  id: z.string(),
  asker: z.string(),
  team: z.string().optional(),
  sessionId: z.string().optional(),
  tool: z.string(),
  title: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** The rules for `always`: the first is which = 1. */
  suggestions: z.array(z.string()),
  /** Its questions, answered together in this order. */
  questions: z.array(
    z.object({
      text: z.string(),
      options: z.array(z.string()),
      /** A description of each option, in the same order; empty if there is none. */
      details: z.array(z.string()),
      several: z.boolean(),
      ownWords: z.boolean(),
    }),
  ),
  state: z.enum(PERMISSION_STATES),
  rule: z.string().optional(),
  reason: z.string().optional(),
  answeredBy: z.string().optional(),
  askedAt: z.string(),
  answeredAt: z.string().optional(),
  expiresAt: z.string(),
})
export type PermissionView = z.output<typeof PermissionView>

export const permissionsList = operation({
  name: "permissions.list",
  summary: "List pending permission requests, in full",
  ...ANYONE_READS,
  command: ["permissions", "permissions list"],
  input: z.strictObject({
    all: z.boolean().default(false).describe("Also decided requests, newest first"),
    limit: z.int().min(1).max(1000).default(50).describe("With --all: maximum number of results"),
  }),
  output: z.object({
    permissions: z.array(PermissionView),
    /** Sessions with a question that only their own terminal can answer. */
    atTerminal: z.array(AtTerminalView),
  }),
  text: ({ permissions, atTerminal }, { all }) =>
    permissions.length + atTerminal.length === 0
      ? all
        ? "No permission requests yet."
        : "No pending permission requests."
      : [
          ...atTerminal.map(atTerminalText),
          ...permissions.map((each) => (each.state === "waiting" ? permissionText(each) : decidedText(each))),
        ].join("\n\n"),
  async run({ permits, live, sessions }, { all, limit }) {
    const waiting = await permits.waiting()
    const found = all ? await permits.recent(limit) : waiting
    return { permissions: found.map(viewPermission), atTerminal: await atTerminals({ live, sessions }, waiting) }
  },
})

export const permissionsAnswer = operation({
  name: "permissions.answer",
  summary: "Answer a permission request; the first answer wins",
  ...OWNER_WRITES,
  audited: "itself",
  positional: ["id", "answer"],
  input: z.strictObject({
    id: z.string().min(3).describe("The request's id, or the beginning of it"),
    answer: z
      .enum(["allow", "deny", "always", "answer"])
      .describe("allow; deny; always: allow by one of the offered rules; answer: reply to its questions"),
    which: z.int().min(1).optional().describe("With always: the number of the rule, if several are offered"),
    reason: z.string().min(1).max(2_000).optional().describe("Reason, passed on to a denied agent"),
    with: z
      .array(z.string().min(1).max(2_000))
      .optional()
      .describe(
        "With answer, one per question: an option by number or name (several separated by commas), or your own text",
      ),
    stop: z.boolean().default(false).describe("With deny: also end the agent's turn, where supported"),
  }),
  output: z.object({ accepted: z.boolean(), permission: PermissionView }),
  text: ({ accepted, permission }) => (accepted ? decidedText(permission) : `Too late. ${decidedText(permission)}`),
  async run({ permits }, { id, answer, which, reason, with: words = [], stop }) {
    if (which !== undefined && answer !== "always")
      throw new Failure("bad_input", "which names a rule, and goes with always", { parameter: "which" })
    if (words.length > 0 && answer !== "answer")
      throw new Failure("bad_input", "with holds answers, and goes with answer", { parameter: "with" })
    if (stop && answer !== "deny") throw new Failure("bad_input", "stop goes with deny", { parameter: "stop" })
    const decided = async (): Promise<Decision> => {
      if (answer === "always") return { kind: answer, which: which === undefined ? undefined : which - 1, reason }
      if (answer === "answer") return { kind: answer, answers: answersOf(await permits.named(id), words), reason }
      return answer === "deny" ? { kind: answer, reason, interrupt: stop } : { kind: answer, reason }
    }
    const decision = await decided()
    const { isFirst, permission } = await permits.decide(id, decision, OWNER)
    return { accepted: isFirst, permission: viewPermission(permission) }
  },
})

export const audit = operation({
  name: "audit",
  summary: "Show the audit log, newest first",
  ...ANYONE_READS,
  input: z.strictObject({
    limit: z.int().min(1).max(1000).default(50).describe("Maximum number of results"),
    before: z.int().min(1).optional().describe("Only entries before this number"),
  }),
  output: z.object({
    entries: z.array(
      z.object({
        seq: z.number(),
        at: z.string(),
        who: z.string(),
        what: z.string(),
        data: z.record(z.string(), z.unknown()),
      }),
    ),
    more: z.boolean(),
  }),
  text: ({ entries, more }) =>
    entries.length === 0
      ? "The audit log is empty."
      : `${table(
          ["NO", "AT", "WHO", "WHAT", "ABOUT"],
          entries.map(({ seq, at, who, what, data }) => [String(seq), minute(at), who, what, aboutOf(data)]),
        )}${more ? `\n(more available: use --before ${entries.at(-1)!.seq})` : ""}`,
  async run({ permits }, { limit, before }) {
    const found = await permits.audit({ limit: limit + 1, ...(before === undefined ? {} : { beforeSeq: before }) })
    const entries = found.slice(0, limit).map(({ atMs, ...rest }) => ({ ...rest, at: isoTime(atMs) }))
    return { entries, more: found.length > limit }
  },
})

/** A request in full: nothing is omitted, and nothing can hide. */
export function permissionText(view: PermissionView) {
  const { id, asker, tool, title, input, suggestions, questions, askedAt, expiresAt } = view
  const rules = suggestions.map((rule, place) => `  always (rule ${place + 1}): ${shown(rule)}`)
  return [
    `${id}  ${shown(asker)} wants ${shown(tool)} (asked ${minute(askedAt)}, expires ${minute(expiresAt)})`,
    ...(title === tool ? [] : [`  ${shown(title).replaceAll("\n", " ")}`]),
    ...Object.entries(input).flatMap(([key, value]) => inputLines(shown(key).replaceAll("\n", " "), value)),
    ...questions.flatMap(questionLines),
    ...rules,
    questions.length > 0
      ? `  → throughline permissions answer ${id} answer${questions.map(() => " --with …").join("")}|deny`
      : `  → throughline permissions answer ${id} allow${rules.length > 0 ? "|always" : ""}|deny`,
  ].join("\n")
}

function decidedText({ id, tool, title, asker, state, answeredBy, answeredAt, rule, reason }: PermissionView): string {
  const how = state === "waiting" ? "pending" : `${state.replace("_", " ")} by ${answeredBy}`
  const details = [rule && `with the rule: ${rule}`, reason].filter(Boolean).map((part) => ` (${part})`)
  const when = answeredAt === undefined ? "" : `, ${minute(answeredAt)}`
  return `${id}  ${how}${when}${details.join("")}: ${shown(asker)}, ${shown(tool)}, ${clip(shown(title), 120)}`
}

function questionLines({ text, options, several, ownWords }: PermissionView["questions"][number]): string[] {
  const how = [several && "several, separated by commas", ownWords && "or your own text"].filter(Boolean).join(", ")
  return [
    `  ? ${shown(text).replaceAll("\n", " ")}${how === "" ? "" : ` (${how})`}`,
    ...options.map((option, place) => `    ${place + 1}: ${shown(option).replaceAll("\n", " ")}`),
  ]
}

/** Marks each line, so that none can pass for another part of the request. */
function inputLines(key: string, value: unknown): string[] {
  const text = shown(typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""))
  if (!text.includes("\n")) return [`  ${key}: ${text}`]
  return [`  ${key}:`, ...text.split("\n").map((line) => `    | ${line}`)]
}

/** Escapes characters that a terminal would hide or move. */
const shown = (text: string) =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (letter) =>
    letter === "\n" || letter === "\t" ? letter : `\\u{${letter.codePointAt(0)!.toString(16)}}`,
  )

/** Fields of a permission without their names; all others as name and value. */
function aboutOf({ id, recordId: _, asker, tool, title, rule, reason, ...rest }: Record<string, unknown>): string {
  const named = Object.entries(rest).map(
    ([name, value]) => `${name}: ${typeof value === "object" ? JSON.stringify(value) : value}`,
  )
  const parts = [id, asker, tool, title, rule && `rule: ${rule}`, reason, ...named].filter(Boolean)
  return clip(parts.map(String).map(shown).join(", "), 160)
}

/** Maps typed answers to the questions. */
function answersOf({ questions }: Permission, words: string[]): PermissionAnswers {
  return Object.fromEntries(
    questions.map(({ key, options, isMany }, place) => {
      const word = words[place] ?? ""
      const named = (part: string) => (/^\d+$/.test(part) ? (options[Number(part) - 1]?.label ?? part) : part)
      const labels = options.map(({ label }) => label)
      return [key, isMany ? partsOf(word, labels).map(named) : [named(word.trim())]]
    }),
  )
}

/** Parts between commas; an option whose name has commas is one part. */
function partsOf(words: string, labels: readonly string[]): string[] {
  const text = words.trim()
  const label = labels
    .filter((one) => text === one || text.startsWith(`${one},`))
    .reduce((longest, one) => (one.length > longest.length ? one : longest), "")
  const first = label || text.split(",", 1)[0]!
  const rest = text.slice(first.length + 1)
  return [first.trim(), ...(rest === "" ? [] : partsOf(rest, labels))]
}

export function viewPermission(permission: Permission): PermissionView {
  const { id, asker, team, sessionId, tool, title, input, state, always, reason, answeredBy } = permission
  const suggestions = permission.suggestions.map(({ label }) => label)
  const rule = always === null ? undefined : suggestions[always]
  return {
    ...{ id, asker, tool, title, input, suggestions, state },
    questions: permission.questions.map(({ text, options, isMany, isOpen }) => ({
      ...{ text, several: isMany, ownWords: isOpen },
      options: options.map(({ label }) => label),
      details: options.map(({ detail = "" }) => detail),
    })),
    ...present({ team, sessionId, rule, reason, answeredBy, answeredAt: isoTime(permission.answeredAtMs) }),
    askedAt: isoTime(permission.askedAtMs),
    expiresAt: isoTime(permission.expiresAtMs),
  }
}
