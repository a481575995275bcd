import type { Client } from "./clients.ts"

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
