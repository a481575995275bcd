import { Failure } from "./failure.ts"

interface NamedAgent {
  id: string
  label: string
}

/** The agent that a person or an agent means: by its id, its label, or the id without what distinguishes products of a vendor. */
export function agentNamed(agents: readonly NamedAgent[], name: string): string | undefined {
  const said = name.trim().toLowerCase()
  const exact = agents.find(({ id, label }) => id === said || label.toLowerCase() === said)
  if (exact) return exact.id
  // `claude` is claude-code and `gemini` gemini-cli; a name that fits two is none.
  const [first, other] = agents.filter(({ id }) => id.startsWith(`${said}-`))
  return other ? undefined : first?.id
}

export function neededAgent(agents: readonly NamedAgent[], name: string, parameter: string): string {
  const found = agentNamed(agents, name)
  if (found !== undefined) return found
  const known = agents.map(({ id }) => id).join(", ")
  throw new Failure("bad_input", `${parameter}: unknown agent ${JSON.stringify(name)}. Choose from ${known}`, {
    parameter,
  })
}
