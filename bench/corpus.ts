// A mixed history in the formats that the agents themselves write, the same for the same options:
//   node bench/corpus.ts <folder> <megabytes> [sessions]
import { fileURLToPath } from "node:url"
import { claudeCode } from "./corpus/claude-code.ts"
import { cline } from "./corpus/cline.ts"
import { codex } from "./corpus/codex.ts"
import { copilotCli, copilotVscode } from "./corpus/copilot.ts"
import { geminiCli } from "./corpus/gemini-cli.ts"
import { opencode } from "./corpus/opencode.ts"
import { makeRandom } from "./corpus/random.ts"
import type { CorpusPlatform } from "./corpus/session.ts"
import { makeTexts } from "./corpus/text.ts"

export const corpusPlatforms: readonly CorpusPlatform[] = [
  claudeCode,
  codex,
  geminiCli,
  opencode,
  cline,
  copilotCli,
  copilotVscode,
]

export interface CorpusOptions {
  bytes: number
  sessions?: number
  seed?: number
  /** When the last session ended; the others lie in the half year before. */
  untilMs?: number
  platforms?: readonly CorpusPlatform[]
}

export interface Corpus {
  bytes: number
  files: number
  sessions: number
  /** The one that ended last. */
  newest: { platform: string; nativeId: string }
  byPlatform: Record<string, { bytes: number; sessions: number }>
}

const UNTIL_MS = Date.parse("2026-08-01T12:00:00.000Z")
const SPAN_MS = 180 * 24 * 60 * 60 * 1000
const SESSION_BYTES = 200_000
/** A tool's answer of 20 MB on one line comes about this often. */
const HUGE_EVERY_BYTES = 200_000_000
const HUGE_BYTES = 19_000_000

/** Writes below a home folder, where each agent would. */
export function writeCorpus(homeDir: string, options: CorpusOptions): Corpus {
  const { bytes, seed = 1, untilMs = UNTIL_MS, platforms = corpusPlatforms } = options
  const count = options.sessions ?? Math.max(platforms.length, Math.round(bytes / SESSION_BYTES))
  const random = makeRandom(seed)
  const texts = makeTexts(random)
  const projects = Array.from({ length: Math.ceil(Math.sqrt(count)) }, (_, index) => `/w/project-${index}`)
  const plans = planned(platforms, count, bytes, random)
  const corpus: Corpus = { bytes: 0, files: 0, sessions: count, newest: { platform: "", nativeId: "" }, byPlatform: {} }
  let [newestMs, sinceHuge] = [0, 0]
  for (const [index, plan] of plans.entries()) {
    const startMs = untilMs - SPAN_MS + Math.round((index / plans.length) * SPAN_MS)
    sinceHuge += plan.bytes
    const isHuge = sinceHuge > HUGE_EVERY_BYTES && plan.platform.share > 10
    if (isHuge) sinceHuge = 0
    const written = plan.platform.write({
      homeDir,
      random,
      texts,
      project: random.pick(projects),
      bytes: plan.bytes / plan.platform.growth,
      startMs,
      ...(isHuge ? { hugeResult: HUGE_BYTES } : {}),
    })
    corpus.bytes += written.bytes
    corpus.files += written.files
    corpus.byPlatform[plan.platform.id] ??= { bytes: 0, sessions: 0 }
    const sum = corpus.byPlatform[plan.platform.id]!
    sum.bytes += written.bytes
    sum.sessions++
    if (written.endMs <= newestMs) continue
    newestMs = written.endMs
    corpus.newest = { platform: plan.platform.id, nativeId: written.nativeId }
  }
  for (const platform of platforms) platform.finish?.(homeDir)
  return corpus
}

/** Each platform gets its share of the bytes, in sessions of very different sizes, mixed over time. */
function planned(
  platforms: readonly CorpusPlatform[],
  count: number,
  bytes: number,
  random: ReturnType<typeof makeRandom>,
): { platform: CorpusPlatform; bytes: number }[] {
  const shares = platforms.reduce((sum, { share }) => sum + share, 0)
  const wanted = platforms.map(({ share, weight }) => share / weight)
  const wantedSum = wanted.reduce((sum, value) => sum + value, 0)
  const plans = platforms.flatMap((platform, index) => {
    const sizes = Array.from({ length: Math.max(1, Math.round((count * wanted[index]!) / wantedSum)) }, () =>
      random.size(1, 1.2),
    ).map((size) => size + random.next())
    const sum = sizes.reduce((total, size) => total + size, 0)
    return sizes.map((size) => ({ platform, bytes: (((bytes * platform.share) / shares) * size) / sum }))
  })
  return plans
    .map((plan) => ({ plan, at: random.next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ plan }) => plan)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , folder, megabytes, sessions] = process.argv
  if (!folder || !megabytes) throw new Error("which folder, and how many megabytes?")
  const options = { bytes: Number(megabytes) * 1e6, ...(sessions === undefined ? {} : { sessions: Number(sessions) }) }
  console.log(JSON.stringify(writeCorpus(folder, options), null, 2))
}
