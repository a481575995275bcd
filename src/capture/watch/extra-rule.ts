import { Failure } from "../../domain/failure.ts"

/** Parses one rule of the setting capture.redactionExtra. */
export function extraRule(text: string): { kind: string; pattern: string } {
  const [, kind, pattern] = /^([a-z0-9-]+)=(.+)$/s.exec(text) ?? []
  const wrong = (why: string) =>
    new Failure("config_invalid", `capture.redactionExtra holds ${JSON.stringify(text)}: ${why}`, {
      key: "capture.redactionExtra",
    })
  if (kind === undefined || pattern === undefined) throw wrong("it must be kind=regular expression")
  try {
    new RegExp(pattern, "g")
  } catch (error) {
    throw wrong((error as Error).message)
  }
  return { kind, pattern }
}
