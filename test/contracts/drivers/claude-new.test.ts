import { claudeContract } from "./claude-code.ts"

claudeContract("claude-new")
