import { describe, expect, test } from "vitest"
import { parseLocomo } from "../../bench/locomo.ts"
import { ndcgAt, qualityOf, recallAt } from "../../bench/metrics.ts"

const sample = JSON.stringify([
  {
    sample_id: "conv-1",
    conversation: {
      speaker_a: "Ann",
      speaker_b: "Bo",
      session_10_date_time: "12:05 am on 3 March, 2024",
      session_10: [{ speaker: "Bo", dia_id: "D10:1", text: "The boat sank." }],
      session_2_date_time: "1:56 pm on 8 May, 2023",
      session_2: [
        { speaker: "Ann", dia_id: "D2:1", text: "Look at this.", blip_caption: "a red boat" },
        { speaker: "Bo", dia_id: "D2:2", text: "Nice." },
      ],
    },
    qa: [
      { question: "What did Ann show?", answer: "a boat", evidence: ["D2:1", "D2:1"], category: 1 },
      { question: "Nothing to go by", answer: "", evidence: [], category: 4 },
      { question: "Two in one", answer: "", evidence: ["D2:1; D2:2"], category: 4 },
      { question: "Not there", answer: "", evidence: ["D2:1", "D9:9"], category: 2 },
      { question: "What sank?", answer: "the boat", evidence: ["D10:1"], category: 5 },
    ],
  },
])

describe("a LoCoMo file", () => {
  const [conversation] = parseLocomo(sample)

  test("has its sessions in the order of their numbers, with their times", () => {
    expect(conversation!.sessions.map(({ atMs }) => new Date(atMs).toISOString())).toEqual([
      "2023-05-08T13:56:00.000Z",
      "2024-03-03T00:05:00.000Z",
    ])
    expect(conversation!.sessions[0]!.turns[0]).toEqual({
      id: "D2:1",
      speaker: "Ann",
      text: "Ann: Look at this.\n[a red boat]",
    })
  })

  test("loses the questions without evidence and those whose evidence names no turn", () => {
    expect(conversation!.questions).toEqual([
      { text: "What did Ann show?", wanted: ["D2:1"], category: "multi" },
      { text: "What sank?", wanted: ["D10:1"], category: "adversarial" },
    ])
    expect(conversation!.dropped).toBe(3)
  })
})

describe("figures", () => {
  const wanted = new Set([3, 9])

  test("recall is the share of what is wanted", () => {
    expect(recallAt([1, 3, 2, 9], wanted, 3)).toBe(0.5)
    expect(recallAt([1, 3, 2, 9], wanted, 4)).toBe(1)
  })

  test("nDCG is 1 only when all that is wanted comes first", () => {
    expect(ndcgAt([9, 3, 1], wanted, 10)).toBe(1)
    expect(ndcgAt([1, 3], wanted, 10)).toBeCloseTo(1 / Math.log2(3) / (1 + 1 / Math.log2(3)), 9)
  })

  test("are averaged over the questions, in per cent", () => {
    const quality = qualityOf(
      [
        { found: [3, 9], wanted },
        { found: [], wanted },
      ],
      [1, 5],
    )
    expect(quality).toEqual({ n: 2, ndcg10: 50, r1: 25, r5: 50 })
  })
})
