import { describe, expect, test } from "vitest"
import type { Store, WordsQuery } from "../../../src/domain/store.ts"
import type { Thought } from "../../../src/domain/thought.ts"
import { addProject, addSession, newThought } from "./examples.ts"

const HOSTILE = [
  ...["AND", "OR", "NOT", "NEAR", "NEAR(", "*", "(", ")", ":", "^", "-", "+", ",", "&", "|", "!", "<->", "{", "}"],
  ...['"', '""', '"zebra', "'", "''", "\\", "\\'", "%", "_", "$1", "?", ";", "--", "text:", "text : zebra", "zebra*"],
  ...["", " ", "\n", "\t", "\0", "ze\0bra", "\u00a0", "…", "🦓", "\ud800", "^zebra", "-zebra", "zebra OR quagga"],
]

export function wordsContract(store: () => Store): void {
  const write = async (texts: string[], sessionId?: Thought["sessionId"]) => {
    const id = sessionId ?? (await addSession(store())).id
    const thoughts: Thought[] = []
    for (const [index, text] of texts.entries()) {
      thoughts.push(await store().thoughts.add(newThought(id, index + 1, { text })))
    }
    await store().words.index(thoughts)
    return thoughts.map((thought) => thought.seq)
  }
  const match = async (terms: string[], query: Partial<WordsQuery> = {}) =>
    (await store().words.match({ terms, limit: 100, ...query })).map((hit) => hit.seq)

  test("a thought is found when it has every term, in any order and any case", async () => {
    const [both, one] = await write(["The Zebra meets a quagga", "The zebra is alone", "Nobody is here"])
    expect((await match(["zebra"])).toSorted()).toEqual([both, one].toSorted())
    expect(await match(["QUAGGA", "zebra"])).toEqual([both])
    expect(await match(["zebra", "unicorn"])).toEqual([])
  })

  test("a term finds the other forms of its word", async () => {
    const [running] = await write(["two migrations were running", "nothing"])
    expect(await match(["migration"])).toEqual([running])
    expect(await match(["run"])).toEqual([running])
  })

  test("a term with several words finds them side by side only", async () => {
    const [beside] = await write(["a slow zebra crossing", "crossing the road, a zebra"])
    expect(await match(["zebra crossing"])).toEqual([beside])
  })

  test("common words are words like others", async () => {
    const [not, other] = await write(["do not lock", "lock the door"])
    expect(await match(["not"])).toEqual([not])
    expect(await match(["the", "lock"])).toEqual([other])
  })

  test.each([
    ["see src/store/open.ts for it", ["open", "store", "src/store/open.ts"]],
    ["it needs node.js or example.com/a/b", ["node", "example", "node.js"]],
    ["mail jane.doe@example.org now", ["jane", "example", "jane.doe@example.org"]],
    ["call lease_until_ms and snake-case", ["lease", "lease_until_ms", "snake", "case", "snake-case"]],
    ["version v1.22.3 costs -17 or 3.5e2", ["22", "17", "v1.22.3"]],
    ["<tag attr='x'>body</tag> &amp; more", ["tag", "body", "amp"]],
    ["http://host.local:8080/path?query=1", ["host", "8080", "path", "query"]],
    ["das Café öffnet um 9", ["café", "cafe", "CAFÉ", "öffnet"]],
    ["ПРИВЕТ Мир, ŞEHİR", ["привет", "МИР", "şehir"]],
  ])("a part of %j is found", async (text, terms) => {
    const [seq] = await write([text, "something else"])
    for (const term of terms) expect([term, await match([term])]).toEqual([term, [seq]])
  })

  test("the better match comes first", async () => {
    const filler = "and many other words that have nothing to do with it at all"
    const [weak, strong] = await write([`zebra ${filler} ${filler}`, "zebra zebra zebra", filler, filler, filler])
    expect(await match(["zebra"])).toEqual([strong, weak])
    expect(await match(["zebra"], { limit: 1 })).toEqual([strong])
    const [best, second] = await store().words.match({ terms: ["zebra"], limit: 2 })
    expect(best!.score).toBeGreaterThan(second!.score)
  })

  test("a thought that is handed in twice is found once", async () => {
    const { id } = await addSession(store())
    const thought = await store().thoughts.add(newThought(id, 1, { text: "a zebra" }))
    await store().words.index([thought])
    const before = await store().words.match({ terms: ["zebra"], limit: 10 })
    await store().words.index([thought, thought])
    expect(before.map((hit) => hit.seq)).toEqual([thought.seq])
    expect(await store().words.match({ terms: ["zebra"], limit: 10 })).toEqual(before)
  })

  test("a session or a project narrows the search; a linked session is its project's too", async () => {
    const [a, b] = [await addProject(store(), "a"), await addProject(store(), "b")]
    const own = await addSession(store(), { projectId: a })
    const linked = await addSession(store(), { projectId: b })
    const foreign = await addSession(store(), { projectId: b })
    await store().sessions.link(linked.id, a)
    const [inOwn] = await write(["zebra"], own.id)
    const [inLinked] = await write(["zebra"], linked.id)
    const [inForeign] = await write(["zebra"], foreign.id)
    const sorted = async (query: Partial<WordsQuery>) => (await match(["zebra"], query)).toSorted((x, y) => x - y)
    expect(await sorted({})).toEqual([inOwn, inLinked, inForeign])
    expect(await sorted({ projectId: a })).toEqual([inOwn, inLinked])
    expect(await sorted({ projectId: b })).toEqual([inLinked, inForeign])
    expect(await sorted({ sessionId: linked.id })).toEqual([inLinked])
    expect(await sorted({ sessionId: foreign.id, projectId: a })).toEqual([])
  })

  test("a very long thought is indexed", async () => {
    const words = Array.from({ length: 250_000 }, (_, index) => `w${index.toString(36)}x`)
    const [seq] = await write([`zebra ${words.join(" ")}`])
    expect(await match(["zebra"])).toEqual([seq])
  })

  describe("terms that look like a query language", () => {
    test("they never fail, alone or beside a word", async () => {
      await write(["zebra"])
      for (const term of HOSTILE) {
        for (const terms of [[term], [term, "zebra"], ["zebra", term], [term, term]]) {
          await expect(match(terms), JSON.stringify(terms)).resolves.toBeInstanceOf(Array)
        }
      }
      await expect(match(HOSTILE)).resolves.toBeInstanceOf(Array)
    })

    test("they are words and not operators", async () => {
      const [zebra, quagga, all] = await write(["zebra", "quagga", "zebra AND OR NOT NEAR quagga"])
      for (const operator of ["AND", "OR", "NOT", "NEAR"]) {
        expect(await match(["zebra", operator, "quagga"]), operator).toEqual([all])
        expect(await match(["zebra", operator]), operator).toEqual([all])
      }
      expect(await match(["zebra OR quagga"])).toEqual([])
      expect((await match(["zebra*"])).toSorted()).toEqual([zebra, all].toSorted())
      expect(await match(["zeb*"])).toEqual([])
      expect((await match(["-quagga"])).toSorted()).toEqual([quagga, all].toSorted())
    })

    test("one without a word in it is as if it were not there", async () => {
      const [zebra] = await write(["zebra", "quagga"])
      for (const empty of ["", " ", "*", "(", ")", ":", "^", "-", ",", '"', "'", "&", "|", "!", "…", "\0"]) {
        expect(await match([empty, "zebra"]), JSON.stringify(empty)).toEqual([zebra])
        expect(await match([empty]), JSON.stringify(empty)).toEqual([])
      }
      expect(await match([])).toEqual([])
    })
  })
}
