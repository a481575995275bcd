import { cutBlocks } from "../../../lib/blocks.ts"

/** Tags that agents put around text of hooks (ours included) and around their own reminders, inside a user's message. */
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

/** The person's words in a message; empty if all of it was injected. */
export function withoutInjected(text: string, isOwnTag: (name: string) => boolean = () => false): string {
  return text.includes("<") ? cutBlocks(text, (name) => INJECTED.has(name) || isOwnTag(name)) : text
}
