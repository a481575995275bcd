import { createServer } from "node:net"
import { extraRule } from "../../capture/watch/rules.ts"
import { Failure } from "../../domain/failure.ts"
import { makeRoster } from "../../teams/roster.ts"
import type { Config } from "./settings.ts"

/** A well-formed setting that a start would refuse or could not use. */
export interface ConfigProblem {
  key: string
  value: unknown
  why: string
}

export const LOOPBACK = ["127.0.0.1", "localhost", "[::1]"]

/** Rules over several settings. Checked with every load, so start-up, doctor and every change agree. */
export function ruleProblem({ http, capture }: Config): ConfigProblem | undefined {
  if (http.enabled && !LOOPBACK.includes(http.host) && !http.behindTls)
    return {
      key: "http.host",
      value: http.host,
      why: "an address that others can reach needs a TLS proxy in front; then set http.behindTls to true",
    }
  try {
    for (const text of capture.redactionExtra) extraRule(text)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { key: "capture.redactionExtra", value: capture.redactionExtra, why: error.message }
  }
  return undefined
}

/** Checks on this machine: the address is free, the database answers, the folders exist. */
export async function machineProblems(config: Config, now: { url?: string | undefined }): Promise<ConfigProblem[]> {
  const { http, database } = config
  const found = [
    ...(http.enabled && !isServedHere(http, now.url) ? [await listenProblem(http)] : []),
    database.url === undefined ? undefined : await databaseProblem(database.url),
    ...folderProblems(config),
  ]
  return found.filter((problem) => problem !== undefined)
}

/** The running daemon already has the port. */
const isServedHere = ({ host, port }: Config["http"], url: string | undefined) => url === `http://${host}:${port}`

const LISTEN_TROUBLES: Record<string, (http: Config["http"]) => Omit<ConfigProblem, "value">> = {
  EADDRINUSE: ({ port }) => ({ key: "http.port", why: `port ${port} is in use by another program` }),
  EACCES: ({ port }) => ({ key: "http.port", why: `only root may listen on port ${port}` }),
  ENOTFOUND: () => ({ key: "http.host", why: "the name cannot be resolved" }),
  EAI_AGAIN: () => ({ key: "http.host", why: "the name cannot be resolved at the moment" }),
  EADDRNOTAVAIL: () => ({ key: "http.host", why: "it is not an address of this machine" }),
}

function listenProblem(http: Config["http"]): Promise<ConfigProblem | undefined> {
  const server = createServer()
  return new Promise((resolve) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const trouble = LISTEN_TROUBLES[error.code ?? ""]?.(http) ?? { key: "http.host", why: error.message }
      resolve({ ...trouble, value: trouble.key === "http.port" ? http.port : http.host })
    })
    server.listen(http.port, http.host.replace(/^\[|\]$/g, ""), () => server.close(() => resolve(undefined)))
  })
}

async function databaseProblem(url: string): Promise<ConfigProblem | undefined> {
  const problem = (error: unknown) => ({ key: "database.url", value: "***", why: (error as Error).message })
  try {
    // Loaded on demand, to keep the command line fast.
    const { openPool } = await import("../../store/dialects/postgres.ts")
    const pool = await openPool({ url, poolSize: 1 })
    try {
      await pool.query("select 1")
    } finally {
      await pool.end()
    }
    return undefined
  } catch (error) {
    return problem(error)
  }
}

function folderProblems({ teams, settings }: Config): ConfigProblem[] {
  const roster = makeRoster({ read: () => teams, readAllowed: () => settings.allowedDirectories })
  return roster.troubles().map((trouble) => {
    const [, key = "teams", value = "", why = trouble] = /^(\S+) = (".*?"): (.*)$/s.exec(trouble) ?? []
    return { key, value: value === "" ? undefined : JSON.parse(value), why }
  })
}
