import { existsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { Failure } from "../domain/failure.ts"
import type { Machine } from "../domain/platform.ts"
import type { FileEdit, FileSetup, Program } from "../domain/setup.ts"
import type { Clock } from "../lib/clock.ts"
import { defined } from "../lib/defined.ts"
import { diffText } from "../lib/diff-text.ts"
import type { Rules } from "../lib/path-rules.ts"
import { hashOf, readBytes, removeFile, writeWhole } from "./files.ts"
import { type AgentRecord, type FileRecord, readRecord, writeRecord } from "./record.ts"
import { hookScript } from "./script.ts"

/** Makes agents run our hooks and offer our tools, and undoes it. */
export interface Setup {
  agents(): AgentState[]
  /** What would change. Nothing is written. */
  plan(platform: string): Change[]
  planUndo(platform: string): Change[]
  apply(platform: string): Change[]
  undo(platform: string): Change[]
}

export interface AgentState {
  platform: string
  label: string
  /** Whether the agent was used on this machine. */
  found: boolean
  state: "ready" | "partly" | "not set up" | "unreadable"
  /** What is left to do in the agent once all files are ready. */
  awaits?: string
  afterwards?: string
  canAllowTools?: true
  onlyNamed?: true
}

export interface Change {
  path: string
  summary: string
  /** `restore` puts back the bytes that were there before setup. */
  kind: "create" | "change" | "delete" | "restore"
  diff: string
}

export interface SetupPlaces {
  hook: string
  spoolDir: string
  socket: string
  backupsDir: string
  record: string
}

interface Deps {
  agents: readonly FileSetup[]
  machine: Machine
  program: Program
  places: SetupPlaces
  clock: Clock
}

export function makeSetup({ agents, machine, program, places, clock }: Deps): Setup {
  const agentOf = (platform: string) => {
    const agent = agents.find((one) => one.platform === platform)
    if (agent) return agent
    const known = agents.map((one) => one.platform).join(", ")
    throw new Failure("bad_input", `agent must be one of ${known}, got ${JSON.stringify(platform)}`, {
      parameter: "agent",
    })
  }
  const recordOf = (platform: string): AgentRecord | undefined => readRecord(places.record).agents[platform]
  const undoSteps = (platform: string) => {
    const agent = agentOf(platform)
    const edits = agent.remove(machine, program)
    const files = recordOf(platform)?.files ?? []
    return stepsOf(
      edits,
      agent.onlyNamed ? files.filter(({ path }) => edits.some((edit) => edit.path === path)) : files,
      agent,
    )
  }

  return {
    agents: () => agents.map((agent) => stateOf(agent, machine, program)),
    plan: (platform) => agentOf(platform).plan(machine, program).map(changeOf),
    planUndo: (platform) => undoSteps(platform).map(({ change }) => change),

    apply(platform) {
      // Plan again: agents may have written these files while the person read the preview.
      const agent = agentOf(platform)
      const edits = agent.plan(machine, program)
      writeHookScript(places, program)
      if (edits.length === 0) return []
      const record = readRecord(places.record)
      const at = new Date(clock.nowMs()).toISOString()
      const files = new Map((record.agents[platform]?.files ?? []).map((file) => [file.path, file]))
      for (const [index, edit] of edits.entries()) {
        const name = `${index + 1}-${basename(edit.path)}`
        const backup = join(places.backupsDir, `${at.replaceAll(":", "-")}-${platform}`, name)
        files.set(edit.path, keepOriginal(edit, backup, files.get(edit.path), rulesOf(agent, edit.path)))
        // Recorded first: after a crash in between, undo removes our entries.
        record.agents[platform] = { at, files: [...files.values()] }
        writeRecord(places.record, record)
        write(edit.path, edit.after, rulesOf(agent, edit.path))
      }
      return edits.map(changeOf)
    },

    undo(platform) {
      const steps = undoSteps(platform)
      for (const { change, content } of steps) write(change.path, content, rulesOf(agentOf(platform), change.path))
      const record = readRecord(places.record)
      const { [platform]: own, ...rest } = record.agents
      // Instructions of one name may be in several projects, and only this one's were taken out.
      const left = own?.files.filter(({ path }) => agentOf(platform).onlyNamed && !steps.some(isOf(path))) ?? []
      const agents = own && left.length > 0 ? { ...rest, [platform]: { ...own, files: left } } : rest
      writeRecord(places.record, { ...record, agents })
      return steps.map(({ change }) => change)
    },
  }
}

/** Also called at every start of the daemon: a newer version may have another script. */
export function writeHookScript(
  { hook, socket, spoolDir }: Pick<SetupPlaces, "hook" | "socket" | "spoolDir">,
  { node, entry }: Pick<Program, "node" | "entry">,
): void {
  const script = hookScript({ socket, spoolDir, program: { node, entry } })
  if (readBytes(hook)?.toString("utf8") !== script) writeWhole(hook, script, 0o700)
}

function stateOf(agent: FileSetup, machine: Machine, program: Program): AgentState {
  const { platform, label, afterwards, onlyNamed, canAllowTools } = agent
  const found = existsSync(agent.folder(machine))
  const common = { platform, label, found, ...defined({ afterwards, onlyNamed, canAllowTools }) }
  try {
    const isReady = agent.plan(machine, program).length === 0
    const isBare = agent.remove(machine, program).length === 0
    const awaits = isReady ? agent.awaits?.(machine, program) : undefined
    const state = isReady ? "ready" : isBare ? "not set up" : "partly"
    return { ...common, state, ...defined({ awaits }) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return { ...common, state: "unreadable" }
  }
}

/** Restore the bytes from before our first edit, as long as nobody else wrote in between. */
function keepOriginal(edit: FileEdit, backup: string, before: FileRecord | undefined, rules?: Rules): FileRecord {
  const { path, after } = edit
  const original = readBytes(path, rules)
  const afterHash = hashOf(after ?? "")
  const isOurs = before !== undefined && original !== null && hashOf(original) === before.afterHash
  if (before && isOurs) return { ...before, afterHash }
  if (original !== null) writeWhole(backup, original)
  return { path, backup: original === null ? null : backup, afterHash, restorable: before === undefined }
}

interface Step {
  change: Change
  content: Buffer | string | null
}

const isOf = (path: string) => (step: Step) => step.change.path === path

function stepsOf(edits: FileEdit[], files: FileRecord[], agent: FileSetup): Step[] {
  const restored = files.flatMap((file) => restoring(file, rulesOf(agent, file.path)) ?? [])
  const others = edits.filter(({ path }) => !restored.some(({ change }) => change.path === path))
  return [...restored, ...others.map((edit) => ({ change: changeOf(edit), content: edit.after }))]
}

function restoring({ path, backup, afterHash, restorable }: FileRecord, rules?: Rules): Step | undefined {
  const now = readBytes(path, rules)
  if (!restorable || now === null || hashOf(now) !== afterHash) return undefined
  const original = backup === null ? null : readBytes(backup)
  if (backup !== null && original === null) return undefined
  const diff = diffText(now.toString("utf8"), original?.toString("utf8") ?? null)
  const change: Change = { path, summary: "as it was before setup", kind: original ? "restore" : "delete", diff }
  return { change, content: original }
}

function changeOf({ path, before, after, summary }: FileEdit): Change {
  const kind = before === null ? "create" : after === null ? "delete" : "change"
  return { path, summary, kind, diff: diffText(before, after) }
}

/** Instructions are in a project, whose links are not trusted; everything else is in the agent's own folder. */
const rulesOf = ({ onlyNamed }: FileSetup, path: string): Rules | undefined =>
  onlyNamed ? { within: dirname(path) } : undefined

function write(path: string, content: Buffer | string | null, rules?: Rules): void {
  if (content === null) removeFile(path, rules)
  else writeWhole(path, content, undefined, rules)
}
