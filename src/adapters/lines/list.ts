import type { AgentLine } from "../../domain/agent-line.ts"
import { codex } from "./codex.ts"

/** Platforms that offer a way into their sessions. To add one, write its file and name it here. */
export const lines: readonly AgentLine[] = [codex]
