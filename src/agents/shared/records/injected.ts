import { cutBlocks } from "../../../lib/blocks.ts"

/**
 * What agents put around text that hooks gave them, ours among it, and around reminders of their own. It stands in a
 * user's message and is none of the user's words.
 */
const INJECTED = new Set([
  "hook_context",
  "session_context",
  "hook_prompt",
  "system-reminder",
  "system_reminder",
  "user-prompt-submit-hook",
  "session-start-hook",
  "additional_context",
])

/** What a person said in a message of theirs; empty where all of it was injected. */
export function withoutInjected(text: string, isOwnTag: (name: string) => boolean = () => false): string {
  return text.includes("<") ? cutBlocks(text, (name) => INJECTED.has(name) || isOwnTag(name)) : text
}
