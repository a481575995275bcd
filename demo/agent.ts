import { randomUUID } from "node:crypto"
import { speakLines } from "./agent-lines.ts"
import { sitInTerminal } from "./agent-terminal.ts"

/** Mock agent of the demo: gives prepared answers, and runs no command, whatever it requests. */
const after = (name: string) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined)
const resumed = after("--resume")
const forkOf = process.argv.includes("--fork-session") ? resumed : undefined
const sessionId = (forkOf === undefined ? resumed : undefined) ?? after("--session-id") ?? randomUUID()

if (process.stdin.isTTY) sitInTerminal(sessionId, resumed === undefined ? "startup" : "resume")
else speakLines(sessionId, forkOf)
