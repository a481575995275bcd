import * as z from "zod"

const INTERNAL = -32_603
const INVALID_PARAMS = -32_602
const MOST_SHOWN = 5

const ISSUES = z.array(z.object({ path: z.array(z.union([z.string(), z.number()])), message: z.string() })).min(1)
const INTERNAL_ERROR = z.looseObject({
  error: z.looseObject({ code: z.literal(INTERNAL), message: z.string().startsWith("[") }),
})

/** Parameters that break the SDK's schemas are answered by it as an internal error of ours, with the list of what is wrong for a text. */
export function blamingParams<Message>(message: Message): Message {
  const found = INTERNAL_ERROR.safeParse(message)
  if (!found.success) return message
  const issues = issuesIn(found.data.error.message)
  if (issues === undefined) return message
  const problems = issues.slice(0, MOST_SHOWN).map(({ path, message: why }) => `${path.join(".")}: ${why}`)
  return { ...message, error: { code: INVALID_PARAMS, message: problems.join("; ") } }
}

function issuesIn(text: string) {
  try {
    return ISSUES.safeParse(JSON.parse(text)).data
  } catch {
    return undefined
  }
}
