import { pathToFileURL } from "node:url"

/**
 * A folder's file:// URI, without a slash at its end. Trap: URLs drop control characters at their end, so that the folder
 * "app\x01" would count as "app"; the slash behind the name keeps them.
 */
export function folderUri(path: string): string {
  return pathToFileURL(path.endsWith("/") ? path : `${path}/`).href.replace(/(?<=.)\/$/, "")
}
