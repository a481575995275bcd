import { utimesSync } from "node:fs"
import { describe, expect, onTestFinished, test } from "vitest"
import { platforms } from "../../../src/agents/list.ts"
import { unrecognisedFiles } from "../../../src/capture/read/unrecognised.ts"
import type { Platform } from "../../../src/domain/platform.ts"
import type { Services } from "../../../src/operations/services.ts"
import { sources, sourceViews } from "../../../src/operations/sources.ts"
import { makeTestArchive, type TestArchive } from "../../fixtures/archive.ts"
import { type Sample, samples } from "../../fixtures/platform-samples.ts"

async function archived(platform: Platform): Promise<TestArchive> {
  const kept = await makeTestArchive({ platforms: [platform] })
  onTestFinished(() => kept.close())
  return kept
}

/** What `sources` says of the platform. */
async function shown(platform: Platform, kept: TestArchive) {
  const machine = { os: "linux" as const, homeDir: kept.homeDir, env: {} }
  const capture = {
    platforms: [platform],
    capturing: { progress: () => ({ waiting: {} }) },
    sources: () => kept.store.sources.summaries(),
    unrecognised: () => unrecognisedFiles(platform, machine),
  } as unknown as Services["capture"]
  const [view] = await sourceViews(capture)
  return view!
}

const progress = {
  importing: false,
  ...{ sourcesDone: 0, sourcesLeft: 0, bytesDone: 0, bytesLeft: 0, turns: 0, startedAt: "", platforms: [] },
}
const PROMPTS = 300

describe.each(Object.keys(samples))("records of a kind that nobody has heard of, of %s", (name) => {
  const platform = platforms.find(({ id }) => id === name.split("@")[0])!
  const read = async (sample: Sample) => {
    const kept = await archived(platform)
    samples[name]!(kept.homeDir, sample)
    await kept.read()
    return shown(platform, kept)
  }
  const prompts = Array.from({ length: PROMPTS }, (_, i) => `Paint plank ${i}`)

  test("below one in a hundred are counted, and no more", async () => {
    const view = await read({ prompts, unknown: 2 })
    expect(view.unknown).toBe(2)
    expect(view.warning).toBeUndefined()
  })

  test("above one in a hundred are warned of, with their kind, the version that is known, and what to do", async () => {
    // An exchange is two turns in some of them.
    const view = await read({ prompts, unknown: 8 })
    expect(view.unknown).toBe(8)
    expect(view.warning).toContain(`Throughline was verified with ${platform.verified}`)
    expect(view.warning).toMatch(/^8 of \d{3} records/)
    const text = sources.text({ sources: [view], progress, repositoryFiles: [], trusted: [] }, {})
    expect(text).toContain(`${platform.label}: 8 of `)
    expect(text).toContain("Update Throughline")
  })
})

const claude = platforms.find(({ id }) => id === "claude-code")!

test("unknown records in a short conversation are warned of, too", async () => {
  const kept = await archived(claude)
  samples["claude-code"]!(kept.homeDir, { prompts: ["Paint"], unknown: 2 })
  await kept.read()
  expect((await shown(claude, kept)).warning).toMatch(/^2 of 3 records/)
})

test("a long history does not hide what an agent writes since its last update", async () => {
  const kept = await archived(claude)
  const line = (id: string, more: object) =>
    `${JSON.stringify({ uuid: id, sessionId: id.split(":")[0], timestamp: "2026-08-01T10:00:00.000Z", ...more })}\n`
  const said = (session: string, count: number) =>
    Array.from({ length: count }, (_, i) =>
      line(`${session}:${i}`, { type: "user", message: { role: "user", content: `Plank ${i}` } }),
    ).join("")
  const [old, fresh] = ["5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2001", "5f0c1d9e-5d2c-4a3e-9d60-0a8f6f1b2002"]
  kept.write(`.claude/projects/-w/${old}.jsonl`, said(old!, 3_000))
  await kept.read()
  expect((await shown(claude, kept)).warning).toBeUndefined()
  const strange = Array.from({ length: 10 }, (_, i) => line(`x${i}`, { type: "hologram" })).join("")
  const path = kept.write(`.claude/projects/-w/${fresh}.jsonl`, said(fresh!, 50) + strange)
  const laterS = 1_800_000_000 + 30 * 24 * 3600
  utimesSync(path, laterS, laterS)
  await kept.read()
  expect((await shown(claude, kept)).warning).toMatch(/^10 of 60 records of the last week \(16\.7 %\).*\(hologram\)/)
})

test("an agent whose files are all under other names is reported, not passed over", async () => {
  const kept = await archived(claude)
  kept.write(".claude/settings.json", "{}")
  await kept.read()
  expect((await shown(claude, kept)).warning).toBeUndefined()
  kept.write(".claude/projects/-w/conversation.v3/0001.jsonl", "{}\n")
  await kept.read()
  const view = await shown(claude, kept)
  expect([view.found, view.warning]).toEqual([
    false,
    expect.stringMatching(/^files exist, but none looks like .*0001\.jsonl\).*verified with 2\.1\.325/),
  ])
})

test("every adapter says up to which version it is known to read its agent", () => {
  for (const { id, verified } of platforms) expect(verified, id).toMatch(/\d/)
})
