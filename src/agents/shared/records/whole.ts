import { readBytes } from "../../../lib/untrusted-file.ts"

/** More than any real conversation in one file; parsed, it takes several times as much memory. */
const MAX_WHOLE_BYTES = 128 * 1024 * 1024

/** Reads a whole file. Links among an agent's files are not followed. */
export const wholeBytes = (path: string) => readBytes(path, { maxBytes: MAX_WHOLE_BYTES })
export const wholeText = (path: string) => wholeBytes(path).toString("utf8")
