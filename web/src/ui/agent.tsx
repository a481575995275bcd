const LABELS: Record<string, string> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  "gemini-cli": "Gemini CLI",
  antigravity: "Antigravity CLI",
  "antigravity-ide": "Antigravity",
  opencode: "opencode",
  cursor: "Cursor",
  "cursor-cli": "Cursor CLI",
  cline: "Cline",
  roo: "Roo Code",
  kilo: "Kilo",
  "kilo-legacy": "Kilo Code",
  "copilot-vscode": "Copilot",
  "copilot-cli": "Copilot CLI",
  aider: "Aider",
  throughline: "Thoughts",
}

export const agentLabel = (platform: string) => LABELS[platform] ?? platform

/** The agent's name in a stable colour. */
export function Agent({ platform }: { platform: string }) {
  return <span class={`badge hue-${hueOf(platform)}`}>{agentLabel(platform)}</span>
}

/** Shown beside content that came from a file in a repository. */
export function Untrusted({ of: { untrusted } }: { of: { untrusted?: true | undefined } }) {
  return untrusted ? (
    <span class="badge badge-warn" title="From a file in the repository, not from an agent on this machine">
      ⚠ untrusted
    </span>
  ) : null
}

const HUES = 8

function hueOf(name: string): number {
  let sum = 0
  for (const char of name) sum = (sum * 31 + char.codePointAt(0)!) % 997
  return sum % HUES
}

/** The last segment of a project's path or URI. */
export function projectName(root: string | undefined): string {
  if (root === undefined) return ""
  const parts = decodeURIComponent(root.replace(/^file:\/\//, "")).split("/")
  return parts.filter((part) => part !== "").at(-1) ?? root
}
