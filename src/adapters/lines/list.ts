import type { AgentLine, LineAsking } from "../../domain/agent-line.ts"
import { codex } from "./codex.ts"
import { codexAsking } from "./codex-asking.ts"

/** Platforms that offer a way into their sessions. To add one, write its file and name it here. */
export const lines: readonly AgentLine[] = [codex]

/** Platforms whose sessions can be heard asking, and answered, beside their terminals. */
export const linesAsking: readonly LineAsking[] = [codexAsking]
