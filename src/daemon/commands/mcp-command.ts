import { fstatSync } from "node:fs"
import { Socket } from "node:net"
import type { Caller } from "../../domain/caller.ts"
import { Failure } from "../../domain/failure.ts"
import { newKey } from "../../domain/ids.ts"
import { present } from "../../lib/defined.ts"
import { TOOL_SETS } from "../../operations/operation.ts"
import { intoOneBuffer } from "../../surfaces/http/socket.ts"
import { relay } from "../../surfaces/mcp/mcp-stdio.ts"
import type { Environment } from "../process/environment.ts"
import { fail } from "../process/fail.ts"
import { homeAt } from "../process/home.ts"
import { openStream } from "./connect.ts"

/** `throughline mcp`: a child of the agent that relays its MCP lines to the daemon. */
export function mcp(environment: Environment, argv: string[]): void {
  const tools = toolSets(argv)
  if (tools instanceof Failure) {
    fail(tools, false)
    return
  }
  const home = homeAt(environment.home, environment.tempDir)
  const { pair, nativeSession, projectDir } = environment.agent
  const connection = newKey()
  const caller: Caller = {
    surface: "mcp",
    key: nativeSession ? `${nativeSession.platform}:${nativeSession.id}` : `mcp:${connection}`,
    connection,
    cwd: environment.cwd,
    ...present({ pair, projectDir }),
    ...(nativeSession ? { nativeSession } : { agentPid: process.ppid }),
  }
  relay({
    listen,
    output: process.stdout,
    connect: (onBytes) => openStream(home, { caller, tools, onBytes }),
  })
}

function listen(onBytes: (bytes: Buffer) => void): void {
  const stdin = fstatSync(0)
  const input =
    stdin.isFIFO() || stdin.isSocket()
      ? new Socket({ fd: 0, readable: true, writable: false, onread: intoOneBuffer(onBytes) })
      : process.stdin.on("data", onBytes)
  // A pipe emits close; a file or /dev/null only end.
  for (const over of ["end", "close"]) input.once(over, () => process.exit(0))
  input.on("error", () => input.destroy())
  input.resume()
}

/** `--tools a,b` or `--tools=a,b`; nothing else is an option here. */
function toolSets(argv: string[]): string[] | Failure {
  const [flag, value, ...rest] = argv.flatMap((word) =>
    word.startsWith("--tools=") ? ["--tools", word.slice(8)] : [word],
  )
  if (flag === undefined) return []
  const refuse = (message: string) => new Failure("bad_input", message, { parameter: "tools" })
  if (flag !== "--tools") return refuse(`unknown option ${JSON.stringify(flag)}: throughline mcp takes --tools only`)
  if (value === undefined || rest.length > 0) return refuse("--tools takes one list, such as --tools recovery,recall")
  const sets = value.split(",").map((name) => name.trim())
  const unknown = sets.find((name) => !(TOOL_SETS as readonly string[]).includes(name))
  return unknown === undefined ? sets : refuse(`${JSON.stringify(unknown)} is not one of ${TOOL_SETS.join(", ")}`)
}
