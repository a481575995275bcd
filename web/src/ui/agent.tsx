const LABELS: Record<string, string> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  "gemini-cli": "Gemini CLI",
  opencode: "opencode",
  cursor: "Cursor",
  "cursor-cli": "Cursor CLI",
  cline: "Cline",
  roo: "Roo Code",
  kilo: "Kilo Code",
  "copilot-vscode": "Copilot",
  "copilot-cli": "Copilot CLI",
  aider: "Aider",
  throughline: "Thoughts",
}

export const agentLabel = (platform: string) => LABELS[platform] ?? platform

/** Which agent it is, in a colour that is always the same for it. */
export function Agent({ platform }: { platform: string }) {
  return <span class={`badge hue-${hueOf(platform)}`}>{agentLabel(platform)}</span>
}

const HUES = 8

function hueOf(name: string): number {
  let sum = 0
  for (const char of name) sum = (sum * 31 + char.codePointAt(0)!) % 997
  return sum % HUES
}

/** The last part of a project's path or URI: what people call it. */
export function projectName(root: string | undefined): string {
  if (root === undefined) return ""
  const parts = decodeURIComponent(root.replace(/^file:\/\//, "")).split("/")
  return parts.filter((part) => part !== "").at(-1) ?? root
}
