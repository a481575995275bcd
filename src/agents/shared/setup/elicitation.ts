import type { PermissionAnswers, PermissionQuestion } from "../../../domain/permission.ts"

/** The flat schema that MCP allows in elicitations. */
export interface Schema {
  properties?: Record<string, Field>
  required?: string[]
}

interface Field {
  type?: string
  title?: string
  description?: string
  enum?: string[]
  enumNames?: string[]
  oneOf?: { const: string; title?: string }[]
}

const YES_NO = ["yes", "no"]

/** Its required fields as questions; undefined if one cannot be answered in a line. */
export function fieldsOf({ properties = {}, required = [] }: Schema = {}): PermissionQuestion[] | undefined {
  const asked = Object.entries(properties).filter(([key]) => required.includes(key))
  if (asked.some(([, { type = "string" }]) => !["string", "number", "integer", "boolean"].includes(type)))
    return undefined
  return asked.map(([key, field]) => {
    const options = optionsOf(field).map(({ label }) => ({ label }))
    const text = [field.title ?? key, field.description].filter(Boolean).join(": ")
    return { key, text, options, isMany: false, isOpen: options.length === 0 }
  })
}

/** The answers in the types of the schema. */
export function contentOf({ properties = {} }: Schema = {}, answers: PermissionAnswers): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(answers).map(([key, [said = ""]]) => {
      const field = properties[key] ?? {}
      if (field.type === "boolean") return [key, said === YES_NO[0]]
      if (field.type === "number" || field.type === "integer") return [key, Number(said)]
      return [key, optionsOf(field).find(({ label }) => label === said)?.value ?? said]
    }),
  )
}

function optionsOf({ type, enum: values, enumNames = [], oneOf }: Field): { label: string; value: string }[] {
  if (type === "boolean") return YES_NO.map((label) => ({ label, value: label }))
  if (oneOf) return oneOf.map(({ const: value, title = value }) => ({ label: title, value }))
  return (values ?? []).map((value, at) => ({ label: enumNames[at] ?? value, value }))
}
