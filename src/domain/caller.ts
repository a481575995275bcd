import { claimedName } from "./framing.ts"

/** Who asks, as far as the surface can tell. Everything is optional: a caller that says nothing can still be served. */
export interface Caller {
  surface: "mcp" | "http" | "cli" | "local"
  /** What survives the connection: the agent's own session, or else the connection itself. */
  key?: string
  /** The agent's own name for its session, such as CLAUDE_CODE_SESSION_ID. */
  nativeSession?: { platform: string; id: string }
  /** The process that started the caller, where nothing else says which session it is in. */
  agentPid?: number
  /** The pair whose agent it is, as the program that started the agent says. */
  pair?: string
  /** What the program that calls says of itself, without what cannot be read. It grants nothing. */
  client?: Client
  /** On the command line: the agent in whose own shell it was typed. */
  agentShell?: string
  /** Over HTTP: it has signed in as the owner, as the guard has found. What a caller says of itself never sets this. */
  isOwner?: boolean
  /** It came over TCP, with the token: what it says of its session, folder or team is a claim. Set by the guard alone. */
  isRemote?: boolean
  /** The project folder that the agent's environment names. */
  projectDir?: string
  /** What the client answered to roots/list; absent when it was not asked yet. */
  roots?: NamedRoot[]
  /** True when the surface can ask the client for its roots and call again. */
  canAskRoots?: boolean
  cwd?: string
  /** Names a connection whose requests have ids of their own, so that each request has a key. */
  connection?: string
  /** Told how it goes while the call takes its time; where the surface has a way to pass that on. */
  onProgress?(message: string): void
  /** The sender's own key for this call; a write repeated under it is done once. */
  idempotencyKey?: string
}

/** A folder of the client's, and what the client calls it. */
export interface NamedRoot {
  uri: string
  name?: string
}

/** The person whose machine it is: at a shell that is no agent's, or at the dashboard. */
export const isOwner = ({ surface, agentShell, isOwner: hasKey }: Caller) =>
  (surface === "cli" || (surface === "http" && hasKey === true)) && agentShell === undefined

/** Who may call an operation, from the least trusted up: each one may also call what those before it may. */
export const ACCESS = ["anyone", "agent", "owner"] as const
export type Access = (typeof ACCESS)[number]

/** A client holds the token and speaks plain HTTP; an agent speaks MCP, or types in its own shell. */
export type CallerKind = "client" | "agent" | "owner"

export function callerKind(caller: Caller): CallerKind {
  if (isOwner(caller)) return "owner"
  return caller.surface === "http" ? "client" : "agent"
}

export function mayCall(access: Access, kind: CallerKind): boolean {
  return ACCESS.indexOf(access) <= RANK.indexOf(kind)
}

const RANK: readonly CallerKind[] = ["client", "agent", "owner"]

/** What a program that calls us says of itself. A claim: it grants nothing. */
export interface Client {
  name: string
  version: string
}

/** Programs that are known by what they call themselves over MCP. */
export interface KnownClient {
  label: string
  /** Upper and lower case, blanks, `-`, `_`, `/` and `.` make no difference; one that ends in `*` is a beginning. */
  clientNames: readonly string[]
}

export interface Clients {
  /** For people and agents to read: marked as unverified, and never a name that is somebody else's. */
  claimed(name: string | undefined, teams: readonly string[]): string
  /** For an agent on this machine: the id of an agent that is known, and anything else as a claim. */
  agent(name: string, teams: readonly string[]): string
  /** The agents that may have sent this name: a vendor's products can share one. */
  platformsOf(name: string | undefined): readonly string[]
}

const MAX_SAID_CHARS = 400
const MAX_NAME_CHARS = 60
const MAX_VERSION_CHARS = 40

/** A proxy of stdio clients adds itself to their names. */
const VIA_PROXY = / \(via mcp-remote[^()]*\)$/i

/** Undefined where nothing readable is left of the name. */
export function clientFrom(said: unknown): Client | undefined {
  const { name, version } = (said ?? {}) as { name?: unknown; version?: unknown }
  const plain = visible(name).replace(VIA_PROXY, "")
  if (plain === "") return undefined
  return { name: cut(plain, MAX_NAME_CHARS), version: cut(visible(version), MAX_VERSION_CHARS) }
}

/** Without what is not seen: control characters, and those that turn the direction of text. */
function visible(said: unknown): string {
  if (typeof said !== "string") return ""
  return said
    .slice(0, MAX_SAID_CHARS)
    .normalize("NFKC")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu, "")
    .trim()
}

const cut = (text: string, chars: number) => [...text].slice(0, chars).join("").trim()

export function makeClients({
  platforms,
  others,
  redact,
}: {
  platforms: readonly { id: string; label: string; clientNames?: readonly string[] }[]
  others: readonly KnownClient[]
  redact(text: string): string
}): Clients {
  const agents = platforms.map(({ id, label, clientNames = [] }) => ({ id, label, clientNames }))
  const claimed: Clients["claimed"] = (name, teams) => {
    // Names are kept with what the program sent, and a name that is a secret must not be.
    if (name === undefined || redact(name) !== name) return claimedName([], teams)
    const known = [...agents, ...others].find((one) => isNamed(one, name))
    return claimedName([known?.label, name], teams)
  }
  return {
    claimed,
    agent: (name, teams) =>
      agents.some(({ id }) => id === name) && !teams.includes(name) ? name : claimed(name, teams),
    platformsOf: (name) =>
      name === undefined ? [] : agents.filter((agent) => isNamed(agent, name)).map(({ id }) => id),
  }
}

function isNamed({ clientNames }: Pick<KnownClient, "clientNames">, name: string): boolean {
  const said = folded(name)
  return clientNames.some((known) =>
    known.endsWith("*") ? said.startsWith(folded(known.slice(0, -1))) : said === folded(known),
  )
}

const folded = (name: string) => name.toLowerCase().replaceAll(/[\s_/.-]+/g, "-")
