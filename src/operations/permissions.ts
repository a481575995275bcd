import * as z from "zod"
import { Failure } from "../domain/failure.ts"
import { PERMISSION_STATES, type Permission } from "../domain/permission.ts"
import { personOf } from "./caller.ts"
import { operation } from "./operation.ts"
import { clip, table } from "./text.ts"

// None of these is a tool: an agent must not see what others ask, and must never approve itself.
const on = ["cli", "http"] as const

const PermissionView = z.object({
  id: z.string(),
  asker: z.string(),
  team: z.string().optional(),
  sessionId: z.string().optional(),
  tool: z.string(),
  title: z.string(),
  input: z.record(z.string(), z.unknown()),
  /** The rules that `always` can choose from: the first is which = 1. */
  suggestions: z.array(z.string()),
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
  summary: "Show what agents ask to be allowed, whole, as it would be run",
  effect: "read",
  on,
  command: ["permissions", "permissions list"],
  input: z.strictObject({
    all: z.boolean().default(false).describe("Also what was decided, newest first"),
    limit: z.int().min(1).max(1000).default(50).describe("With --all: how many at the most"),
  }),
  output: z.object({ permissions: z.array(PermissionView) }),
  text: ({ permissions }, { all }) =>
    permissions.length === 0
      ? all
        ? "No agent has asked for anything yet."
        : "Nothing waits for an answer."
      : permissions.map((each) => (each.state === "waiting" ? permissionText(each) : decidedText(each))).join("\n\n"),
  async run({ permits }, { all, limit }) {
    const found = all ? await permits.recent(limit) : await permits.waiting()
    return { permissions: found.map(viewPermission) }
  },
})

export const permissionsAnswer = operation({
  name: "permissions.answer",
  summary: "Allow or deny what an agent asks; the first answer counts",
  effect: "write",
  on,
  positional: ["id", "answer"],
  input: z.strictObject({
    id: z.string().min(3).describe("The permission's id, or the beginning of it"),
    answer: z.enum(["allow", "deny", "always"]).describe("allow, deny, or always: with a rule that was offered"),
    which: z.int().min(1).optional().describe("Which rule, by its number; needed if several are offered"),
    reason: z.string().min(1).max(2_000).optional().describe("Why; a denied agent is told"),
  }),
  output: z.object({ accepted: z.boolean(), permission: PermissionView }),
  text: ({ accepted, permission }) =>
    accepted ? decidedText(permission) : `This came too late. ${decidedText(permission)}`,
  async run({ permits }, { id, answer, which, reason }, caller) {
    const by = personOf(caller)
    if (which !== undefined && answer !== "always")
      throw new Failure("bad_input", "which names a rule, and goes with always", { parameter: "which" })
    const decision =
      answer === "always"
        ? { kind: answer, which: which === undefined ? undefined : which - 1, reason }
        : { kind: answer, reason }
    const { isFirst, permission } = await permits.decide(id, decision, by)
    return { accepted: isFirst, permission: viewPermission(permission) }
  },
})

export const audit = operation({
  name: "audit",
  summary: "Show who decided what, and when, newest first",
  effect: "read",
  on,
  input: z.strictObject({
    limit: z.int().min(1).max(1000).default(50).describe("How many at the most"),
    before: z.int().min(1).optional().describe("Only those before this number"),
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
      ? "Nothing was decided yet."
      : `${table(
          ["NO", "AT", "WHO", "WHAT", "ABOUT"],
          entries.map(({ seq, at, who, what, data }) => [String(seq), shortTime(at), who, what, aboutOf(data)]),
        )}${more ? `\n(there are more: --before ${entries.at(-1)!.seq})` : ""}`,
  async run({ permits }, { limit, before }) {
    const found = await permits.audit({ limit: limit + 1, ...(before === undefined ? {} : { beforeSeq: before }) })
    const entries = found.slice(0, limit).map(({ atMs, ...rest }) => ({ ...rest, at: new Date(atMs).toISOString() }))
    return { entries, more: found.length > limit }
  },
})

/** A question as a person has to judge it: nothing is left out, and nothing can hide. */
export function permissionText({ id, asker, tool, title, input, suggestions, askedAt, expiresAt }: PermissionView) {
  const rules = suggestions.map((rule, place) => `  always ${place + 1}: ${shown(rule)}`)
  return [
    `${id}  ${shown(asker)} asks for ${shown(tool)}, since ${shortTime(askedAt)}, until ${shortTime(expiresAt)}`,
    ...(title === tool ? [] : [`  ${shown(title).replaceAll("\n", " ")}`]),
    ...Object.entries(input).flatMap(([key, value]) => inputLines(shown(key).replaceAll("\n", " "), value)),
    ...rules,
    `  → throughline permissions answer ${id} allow${rules.length > 0 ? "|always" : ""}|deny`,
  ].join("\n")
}

function decidedText({ id, tool, title, asker, state, answeredBy, answeredAt, rule, reason }: PermissionView): string {
  const how = state === "waiting" ? "waits" : `${state.replace("_", " ")} by ${answeredBy}`
  const details = [rule && `with the rule: ${rule}`, reason].filter(Boolean).map((part) => ` (${part})`)
  const when = answeredAt === undefined ? "" : `, ${shortTime(answeredAt)}`
  return `${id}  ${how}${when}${details.join("")}: ${shown(asker)}, ${shown(tool)}, ${clip(shown(title), 120)}`
}

/** Each line of a text is marked, so that none can pass for another part of the question. */
function inputLines(key: string, value: unknown): string[] {
  const text = shown(typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? ""))
  if (!text.includes("\n")) return [`  ${key}: ${text}`]
  return [`  ${key}:`, ...text.split("\n").map((line) => `    | ${line}`)]
}

/** What a terminal would not show, or would show elsewhere, is written out. */
const shown = (text: string) =>
  text.replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (letter) =>
    letter === "\n" || letter === "\t" ? letter : `\\u{${letter.codePointAt(0)!.toString(16)}}`,
  )

const aboutOf = ({ id, asker, tool, title, rule, reason }: Record<string, unknown>) =>
  clip([id, asker, tool, title, rule && `rule: ${rule}`, reason].filter(Boolean).map(String).map(shown).join(", "), 160)

const shortTime = (iso: string) => iso.slice(0, 16).replace("T", " ")
const iso = (ms: number) => new Date(ms).toISOString()

function viewPermission(permission: Permission): PermissionView {
  const { id, asker, team, sessionId, tool, title, input, state, always, reason, answeredBy } = permission
  const suggestions = permission.suggestions.map(({ label }) => label)
  const rule = always === null ? undefined : suggestions[always]
  return {
    ...{ id, asker, tool, title, input, suggestions, state },
    ...(team !== null && { team }),
    ...(sessionId !== null && { sessionId }),
    ...(rule !== undefined && { rule }),
    ...(reason !== null && { reason }),
    ...(answeredBy !== null && { answeredBy }),
    askedAt: iso(permission.askedAtMs),
    ...(permission.answeredAtMs !== null && { answeredAt: iso(permission.answeredAtMs) }),
    expiresAt: iso(permission.expiresAtMs),
  }
}
