import { randomUUID } from "node:crypto"
import { Failure } from "../../domain/failure.ts"
import type { PaneAddress, PaneGuard, PaneKey, PaneLook, Panes } from "../../domain/panes.ts"
import { sleep } from "../../lib/clock.ts"
import { makeTmuxRunner, type TmuxTool } from "./tmux-shell.ts"

/** Panes of tmux. The server checks that it is still the same pane in the command that writes, without a race. */
export function tmuxPanes(tool: TmuxTool): Panes {
  const run = makeTmuxRunner(tool)

  /** The command's output; undefined if it is another pane or none, and then nothing was done. */
  const inPane = async (address: PaneAddress, command: string, more: More = {}) => {
    if (!PANE.test(address.pane)) return undefined
    const { guard, first = [], otherwise = "", stdin } = more
    const yes = `${command} ; display-message -p ${SAME}`
    const check = ["if-shell", "-F", "-t", address.pane, condition(address, guard), yes, otherwise]
    const { code, stdout } = await run(address.socket, [...first, ...check], stdin)
    return code === 0 && stdout.endsWith(`${SAME}\n`) ? stdout.slice(0, -SAME.length - 1) : undefined
  }

  const identify: Panes["identify"] = async ({ socket, pane }) => {
    if (!PANE.test(pane)) return undefined
    const { code, stdout } = await run(socket, ["display-message", "-p", "-t", pane, IDENTITY])
    const [serverPid, serverStart, found, panePid] = stdout.trim().split(" ")
    // If the pane is gone, tmux may answer for another one, or with nothing.
    if (code !== 0 || found !== pane) return undefined
    return { socket, serverPid: Number(serverPid), serverStart: Number(serverStart), pane, panePid: Number(panePid) }
  }

  const pasteRaw = async (address: PaneAddress, text: string, { guard, isBracketed = false }: PasteMore) => {
    const buffer = `throughline-${randomUUID()}`
    const flags = isBracketed ? "-p -r -d" : "-r -d"
    const done = await inPane(address, `paste-buffer ${flags} -b ${buffer} -t ${address.pane}`, {
      ...(guard === undefined ? {} : { guard }),
      first: ["load-buffer", "-b", buffer, "-", ";"],
      otherwise: `delete-buffer -b ${buffer}`,
      stdin: text,
    })
    return done !== undefined
  }

  return {
    identify,
    async find({ socket, name }) {
      // Panes that a person splits off have no start command and a higher id.
      const filter = `#{&&:#{==:#{session_name},${formatWord(name)}},#{&&:#{!=:#{pane_start_command},},#{==:#{pane_dead},0}}}`
      const { code, stdout } = await run(socket, ["list-panes", "-a", "-f", filter, "-F", "#{pane_id}"])
      const numbers = stdout
        .trim()
        .split("\n")
        .map((pane) => Number(pane.slice(1)))
      const first = Math.min(...numbers)
      return code === 0 && first >= 0 && stdout !== "" ? identify({ socket, pane: `%${first}` }) : undefined
    },
    async look(address) {
      const { pane } = address
      const seen = await inPane(address, `display-message -p -t ${pane} "${LOOK}" ; capture-pane -p -e -t ${pane}`)
      return seen === undefined ? undefined : lookOf(seen)
    },
    paste: (address, text, guard) => pasteRaw(address, text, { ...(guard && { guard }), isBracketed: true }),
    async key(address, key, guard) {
      const more = guard === undefined ? {} : { guard }
      if (!guard?.isInMode) return (await inPane(address, `send-keys -t ${address.pane} ${key}`, more)) !== undefined
      // In a mode, tmux would interpret the key; pasted text goes to the program.
      return pasteRaw(address, BYTES[key], more)
    },
    async start({ socket, name, cwd, argv, env }) {
      const place = ["-s", literal(name), "-x", "160", "-y", "50", "-c", literal(cwd)]
      const variables = Object.entries(env).flatMap(([key, value]) => ["-e", `${key}=${value}`])
      // tmux passes a single word to a shell; `env` would take one with a "=" for a variable.
      const words = argv.length === 1 ? ["sh", "-c", 'exec "$0"', ...argv] : argv
      const args = ["new-session", "-d", "-P", "-F", "#{pane_id}", ...place, ...variables, "--", ...words].map(whole)
      for (let left = STARTS; ; left--) {
        // A server that this starts is ours: don't load a person's settings, such as remain-on-exit.
        const { code, stdout, stderr } = await run(socket, ["-f", "/dev/null", ...args])
        const address = code === 0 ? await identify({ socket, pane: stdout.trim() }) : undefined
        if (address) return address
        // The server stops with its last session: for a moment the socket exists without a server.
        if (left === 1 || code === 0 || !/server exited|lost server|connect/i.test(stderr)) {
          const why = stderr.trim() || "it ended at once"
          throw new Failure("terminal_failing", `${argv[0]} could not be started in tmux: ${why}`, { socket, name })
        }
        await sleep(RETRY_MS)
      }
    },
    end: async (address) => (await inPane(address, `kill-session -t ${address.pane}`)) !== undefined,
  }
}

type PasteMore = { guard?: PaneGuard; isBracketed?: boolean }

const BYTES: Record<PaneKey, string> = { Enter: "\r", Escape: "\x1b", "C-s": "\x13", "C-u": "\x15", "C-c": "\x03" }

interface More {
  guard?: PaneGuard
  /** Commands to run first. */
  first?: string[]
  /** The command for another pane. */
  otherwise?: string
  stdin?: string
}

const PANE = /^%\d+$/
const SAME = "throughline-same-pane"
const IDENTITY = "#{pid} #{start_time} #{pane_id} #{pane_pid}"
const LOOK = "#{cursor_x} #{cursor_y} #{pane_in_mode} #{pane_dead}\t#{pane_current_command}\t#{pane_title}"
const STARTS = 5
const RETRY_MS = 200

/** A tmux format that compares. A missing pane has no id, so it is never equal. */
function condition({ serverPid, serverStart, pane, panePid }: PaneAddress, guard?: PaneGuard): string {
  const { cursor } = guard ?? {}
  const pairs = [
    [IDENTITY, `${serverPid} ${serverStart} ${pane} ${panePid}`],
    ...(guard
      ? [["#{pane_dead} #{?pane_in_mode,1,0} #{pane_current_command}", `0 ${guard.isInMode ? 1 : 0} ${guard.program}`]]
      : []),
    ...(cursor ? [["#{cursor_x} #{cursor_y}", `${cursor.column} ${cursor.row}`]] : []),
  ] as [string, string][]
  return pairs.map(([is, should]) => `#{==:${is},${formatWord(should)}}`).reduce((both, one) => `#{&&:${both},${one}}`)
}

const formatWord = (text: string) => text.replace(/[#,}]/g, "#$&")

function lookOf(seen: string): PaneLook {
  const end = seen.indexOf("\n")
  const [numbers = "", program = "", title = ""] = seen.slice(0, end).split("\t")
  const [column = 0, row = 0, mode, dead] = numbers.split(" ").map(Number)
  const screen = readScreen(seen.slice(end + 1))
  return { ...screen, cursor: { column, row }, isInMode: mode !== 0, isDead: dead !== 0, title, program }
}

/** tmux expands formats in names and folders. */
const literal = (text: string) => text.replaceAll("#", "##")
/** A trailing semicolon would end the command. */
const whole = (word: string) => (word.endsWith(";") ? `${word.slice(0, -1)}\\;` : word)

/** Parses a screen that tmux captured with colours: its text, and the text that is not faint. */
export function readScreen(captured: string): { lines: string[]; bright: string[] } {
  const lines: string[] = []
  const bright: string[] = []
  let look: Look = { isFaint: false, isReversed: false }
  for (const row of captured.replace(/\n$/, "").split("\n")) {
    const pieces: (Look & { text: string })[] = []
    for (const [piece, codes] of row.matchAll(PIECES)) {
      if (codes !== undefined) look = lookAfter(codes, look)
      else if (piece.charCodeAt(0) >= 0x20) pieces.push({ text: piece, ...look })
    }
    lines.push(
      pieces
        .map(({ text }) => text)
        .join("")
        .trimEnd(),
    )
    bright.push(pieces.map(brightOnly).join("").trimEnd())
  }
  return { lines, bright }
}

/** Escape sequences, control characters, and text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what screens are made of
const PIECES = /\x1b\[([\d;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[^@-~]*[@-~]|\x1b.|[\x00-\x1f]|[^\x00-\x1f]+/g

interface Look {
  isFaint: boolean
  isReversed: boolean
}

/** Skip the colour numbers behind 38, 48 and 58: they are no attributes. */
function lookAfter(codes: string, before: Look): Look {
  const parts = codes.split(";")
  let { isFaint, isReversed } = before
  for (let at = 0; at < parts.length; at++) {
    const code = parts[at]
    if (code === "38" || code === "48" || code === "58") at += parts[at + 1] === "2" ? 4 : 2
    else if (code === "" || code === "0") isFaint = isReversed = false
    else if (code === "2") isFaint = true
    else if (code === "22") isFaint = false
    else if (code === "7") isReversed = true
    else if (code === "27") isReversed = false
  }
  return { isFaint, isReversed }
}

/** The agent's drawn cursor covers the first letter of a hint, which is reversed instead of faint. */
function brightOnly(
  { text, isFaint, isReversed }: Look & { text: string },
  at: number,
  all: (Look & { text: string })[],
) {
  const isHint = isFaint || (isReversed && [...text].length === 1 && all[at + 1]?.isFaint === true)
  return isHint ? " ".repeat(text.length) : text
}
