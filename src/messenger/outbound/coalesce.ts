import type { ChannelCan } from "../../domain/channel.ts"
import type { Delivery } from "../../domain/delivery.ts"
import type { Outgoing } from "../../domain/outgoing.ts"
import { cutText, plain, type RichText } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import { isFresh, outgoingOf, type Progress } from "./progress.ts"
import { type Job, MOST_TOGETHER } from "./queue.ts"
import type { RenderedPart, Rendering } from "./rendering.ts"
import { HEAD_UNITS, joined } from "./words.ts"

/** How a job is sent: alone or coalesced with those behind it, so that nothing is dropped at the rate limit. */
export interface Coalesced extends Pick<Progress, "as" | "with"> {
  /** Undefined where nothing is left to send. A progress message consists of `lines` instead. */
  parts: RenderedPart[] | undefined
  /** The first turns of a progress message. */
  lines: number[]
}

/** More messages than that become one file. */
const MOST_MERGED = 3
const MOST_OF_THE_LAST = 600
const FEW = 5

export interface CoalescerDeps {
  store: Store
  can: ChannelCan
  rendering: Rendering
}

export function makeCoalescer({ store, can, rendering }: CoalescerDeps) {
  /** The job's own delivery and those behind it. */
  const waitingWith = async ({ delivery: { lane, seq } }: Job) =>
    (await store.deliveries.ofLanes([lane], { states: ["queued"], first: MOST_TOGETHER })).filter(
      (one) => one.seq >= seq,
    )

  /** The text of a line, or the parts of anything else. */
  const pieceOf = async (outgoing: Outgoing): Promise<RenderedPart[]> => {
    if (outgoing.kind !== "line") return (await rendering.parts(outgoing)) ?? []
    const line = await rendering.line(outgoing.seq)
    return line === undefined ? [] : [{ body: plain(line), isSilent: true }]
  }

  const again = async (job: Job): Promise<Coalesced> => {
    const { as, with: others } = job.progress
    if (as === "one") return { ...ALONE, parts: await rendering.parts(job.outgoing) }
    const members = (await waitingWith(job)).filter(({ seq }) => seq === job.delivery.seq || others.includes(seq))
    if (as === "progress") return { as, with: others, parts: [], lines: members.flatMap(seqOfLine) }
    const pieces: Piece[] = []
    for (const member of members) {
      const outgoing = outgoingOf(member)
      pieces.push({ seq: member.seq, outgoing, parts: await pieceOf(outgoing) })
    }
    const part = as === "merged" ? merged(pieces) : asFile(pieces)
    return { as, with: others, parts: part && [part], lines: [] }
  }

  return {
    /** `left` messages may be sent in this minute. */
    async coalesce(job: Job, left: number): Promise<Coalesced> {
      if (!isFresh(job.progress)) return again(job)
      const { outgoing } = job
      const alone = async (): Promise<Coalesced> => ({ ...ALONE, parts: await rendering.parts(outgoing) })
      // It only ends the progress message.
      if (outgoing.kind === "progress_end") return { ...ALONE, parts: undefined }
      if (!canCoalesce(outgoing)) return alone()
      const run = until(await waitingWith(job), (one) => !canCoalesce(outgoingOf(one)))
      const lines = until(run, (one) => outgoingOf(one).kind !== "line")
      const progressMessage = (): Coalesced => ({
        as: "progress",
        with: lines.slice(1).map(({ seq }) => seq),
        parts: [],
        lines: lines.flatMap(seqOfLine),
      })
      const isAllLines = lines.length === run.length
      if (isAllLines || messagesOf(run) <= left) return outgoing.kind === "line" ? progressMessage() : alone()

      const pieces: Piece[] = []
      for (const one of run) {
        const said = outgoingOf(one)
        const parts = await pieceOf(said)
        // A message with a file or buttons is sent alone.
        if (parts.some((part) => part.file ?? part.buttons)) break
        pieces.push({ seq: one.seq, outgoing: said, parts })
      }
      if (pieces.length <= 1) return outgoing.kind === "line" ? progressMessage() : alone()
      const { count, first } = packed(pieces, can.maxTextUnits - HEAD_UNITS)
      const isFile = count > MOST_MERGED
      const taken = isFile ? pieces : first
      if (!isFile && taken.length <= 1) return outgoing.kind === "line" ? progressMessage() : alone()
      const part = isFile ? asFile(taken) : merged(taken)
      return {
        as: isFile ? "file" : "merged",
        with: taken.slice(1).map(({ seq }) => seq),
        parts: part && [part],
        lines: [],
      }
    },
    /** The lines at the head of the lane. */
    async lines(job: Job): Promise<{ others: number[]; seqs: number[] }> {
      const lines = until(await waitingWith(job), (one) => outgoingOf(one).kind !== "line")
      return { others: lines.slice(1).map(({ seq }) => seq), seqs: lines.flatMap(seqOfLine) }
    },
    /** Whether other messages than lines are at the end of the lane. Called often, so it reads few. */
    async isMoreThanLines({ delivery: { lane } }: Job): Promise<boolean> {
      const last = await store.deliveries.ofLanes([lane], { states: ["queued"], last: FEW })
      return last.some((one) => outgoingOf(one).kind !== "line")
    },
    /** Whether a later delivery of the lane updates the same message. */
    async isOutdated(job: Job): Promise<boolean> {
      const { outgoing, delivery } = job
      if (outgoing.kind === "waited")
        return (await waitingWith(job)).some(({ seq, payload }) => seq > delivery.seq && payload.kind === "waited")
      if (outgoing.kind !== "receipt") return false
      return (await waitingWith(job)).some((one) => {
        const other = outgoingOf(one)
        return one.seq > delivery.seq && other.kind === "receipt" && other.messageId === outgoing.messageId
      })
    },
  }
}

const ALONE = { as: "one" as const, with: [], lines: [] }

interface Piece {
  seq: number
  outgoing: Outgoing
  parts: RenderedPart[]
}

const canCoalesce = (outgoing: Outgoing) =>
  outgoing.kind === "turn" || outgoing.kind === "line" || (outgoing.kind === "note" && !outgoing.buttons)

const seqOfLine = (delivery: Delivery) => {
  const outgoing = outgoingOf(delivery)
  return outgoing.kind === "line" ? [outgoing.seq] : []
}

/** The number of messages if each were sent alone; neighbouring lines are one. */
const messagesOf = (run: Delivery[]) =>
  run.filter((one, index) => {
    const isLine = (at: Delivery | undefined) => at !== undefined && outgoingOf(at).kind === "line"
    return !(isLine(one) && isLine(run[index - 1]))
  }).length

/** The number of messages when each is filled, and the pieces of the first. */
function packed(pieces: Piece[], maxUnits: number): { count: number; first: Piece[] } {
  let [count, units] = [1, 0]
  let first = pieces
  for (const [index, { parts }] of pieces.entries()) {
    const length = parts.reduce((sum, { body }) => sum + body.text.length, 0)
    const isOver = parts.length > 1 || (units > 0 && units + 2 + length > maxUnits)
    if (isOver && index > 0) {
      if (count === 1) first = pieces.slice(0, index)
      count += Math.max(1, parts.length)
      units = length
    } else {
      if (parts.length > 1) count += parts.length - 1
      units += length + 2
    }
  }
  return { count, first }
}

function merged(pieces: Piece[]): RenderedPart | undefined {
  const said = pieces.filter(({ parts }) => parts.length > 0)
  if (said.length === 0) return undefined
  let body: RichText | undefined
  for (const [index, piece] of said.entries()) {
    const own = joined(bodiesOf(piece), "\n")
    const areLines = piece.outgoing.kind === "line" && said[index - 1]?.outgoing.kind === "line"
    body = body ? joined([body, own], areLines ? "\n" : "\n\n") : own
  }
  return { body: body!, isSilent: said.every(({ parts }) => parts.every(({ isSilent }) => isSilent)) }
}

/** A file with everything in order, and the last message below it. */
function asFile(pieces: Piece[]): RenderedPart | undefined {
  const all = merged(pieces)
  if (!all) return undefined
  const tools = pieces.filter(({ outgoing }) => outgoing.kind === "line").length
  const last = pieces.findLast(({ outgoing, parts }) => outgoing.kind !== "line" && parts.length > 0)
  const summary = `More was said than could be sent: ${pieces.length - tools} messages and ${tools} tools, in order, are in the file.`
  const preview = last ? `\nThe last one:\n\n${cutText(bodiesOf(last)[0]!.text, MOST_OF_THE_LAST)}` : ""
  return {
    body: plain(summary + preview),
    file: { name: "meanwhile.md", bytes: Buffer.from(`${all.body.text}\n`) },
    isSilent: all.isSilent,
  }
}

const bodiesOf = ({ parts }: Piece) => parts.map(({ body }) => body)

function until<T>(list: T[], isOver: (one: T) => boolean): T[] {
  const at = list.findIndex(isOver)
  return at < 0 ? list : list.slice(0, at)
}
