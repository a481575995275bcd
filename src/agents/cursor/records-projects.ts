import { dirname, join } from "node:path"
import { asArray, asObject, asString, type Json } from "../shared/records/jsonl.ts"
import { folderIn, foldersByItem, workspaceFolder } from "../shared/records/vscode.ts"

/** Since 2026 a composer names its folder; before, workspaces list their composers. */
export function makeProjects(path: string): (composerId: string, data: Json, bubbles: Json[]) => string | undefined {
  const storage = join(dirname(dirname(path)), "workspaceStorage")
  let listed: Map<string, string> | undefined
  return (composerId, data, bubbles) => {
    const workspace = asObject(data.workspaceIdentifier)
    const named = asString(asObject(workspace?.uri)?.fsPath) ?? workspaceFolder(storage, asString(workspace?.id) ?? "")
    const open = bubbles.flatMap(({ workspaceUris }) => asArray(workspaceUris))[0]
    if (named ?? folderIn(open)) return named ?? folderIn(open)
    listed ??= foldersByItem(storage, "composer.composerData", ({ allComposers }) =>
      asArray(allComposers).map((composer) => String(asObject(composer)?.composerId)),
    )
    return listed.get(composerId)
  }
}
