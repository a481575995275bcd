import type { Turn } from "../../domain/turn.ts"

export interface TouchedFile {
  path: string
  times: number
  atMs: number
}

const CHANGES = /edit|write|patch|create|replace|insert|apply|diff|notebook|save|delete|move|rename/i
const SHELLS =
  /^(?:.*[._])?(?:bash|shell|exec|exec_command|execute_command|run_command|run_shell_command|run_terminal_cmd|local_shell|terminal|command)$/i
const LOOKS = /^(?:todo|write_todos|update_plan|update_todo)|todo/i
const PATH_KEY =
  /"(?:file_?path|filePath|path|notebook_path|target_file|targetFile|absolute_path|relative_workspace_path|uri|file)"\s*:\s*"((?:[^"\\]|\\.){1,500})"/g
const PATCHED = /\*\*\* (?:Update|Add|Delete) File: ([^\n"\\]+)|\*\*\* Move to: ([^\n"\\]+)/g
/** Files written by a shell command: a redirection, an in-place edit, tee. */
const WRITTEN = [
  /(?:^|[\s;&|])(?:\d?>{1,2}|tee(?: -a)?)\s*"?((?:[\w.@~/-])+\.\w+)/g,
  /\bsed\s+(?:-[a-zA-Z]*i|-i\S*)\s[^\n;|&]*?\s((?:[\w.@~/-])+\.\w+)(?=\s|$|["'\\;&|])/g,
]

/** Changed files, most recent first; paths inside the project are relative to it. */
export function filesTouched(
  calls: readonly Turn[],
  failedCallIds: ReadonlySet<string>,
  projectPath: string | null,
): TouchedFile[] {
  const files = new Map<string, TouchedFile>()
  for (const { toolName, toolCallId, text, atMs } of calls) {
    if (toolCallId !== null && failedCallIds.has(toolCallId)) continue
    for (const path of new Set(pathsIn(toolName ?? "", text).map((path) => shorten(path, projectPath)))) {
      const before = files.get(path)
      files.delete(path)
      files.set(path, { path, times: (before?.times ?? 0) + 1, atMs })
    }
  }
  return [...files.values()].reverse()
}

function pathsIn(toolName: string, text: string): string[] {
  const patched = [...text.replaceAll("\\n", "\n").matchAll(PATCHED)].map((match) => (match[1] ?? match[2])!.trim())
  if (patched.length > 0) return patched
  if (LOOKS.test(toolName)) return []
  if (SHELLS.test(toolName)) {
    const command = text.replaceAll("\\n", "\n").replaceAll('\\"', '"')
    return WRITTEN.flatMap((pattern) => [...command.matchAll(pattern)].map((match) => match[1]!)).filter(
      (path) => !path.startsWith("/dev/") && !path.startsWith("/tmp/"),
    )
  }
  if (!CHANGES.test(toolName)) return []
  return [...text.matchAll(PATH_KEY)].slice(0, 1).map((match) => unescaped(match[1]!))
}

function unescaped(inJson: string): string {
  try {
    return JSON.parse(`"${inJson}"`) as string
  } catch {
    return inJson
  }
}

function shorten(path: string, projectPath: string | null): string {
  const plain = path.replace(/^file:\/\//, "").replace(/^\.\//, "")
  return projectPath && plain.startsWith(`${projectPath}/`) ? plain.slice(projectPath.length + 1) : plain
}
