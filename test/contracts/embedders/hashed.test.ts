import { expect, test } from "vitest"
import { hashed } from "../../../src/adapters/embedders/hashed.ts"
import { embedderContract } from "../embedder.ts"

const open = () => hashed.open(hashed.settings.parse({ kind: "hashed" }))

embedderContract("hashed", open)

const cosine = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * b[at]!, 0)

test("a text is nearer to one with misspelt and inflected forms of its words than to another", async () => {
  const embedder = await open()
  const [asked, alike, other] = await embedder.embed(
    ["database migration failed", "the databse migrations are failing", "render the sidebar in dark colours"],
    "query",
  )
  expect(cosine(asked!, alike!)).toBeGreaterThan(cosine(asked!, other!) + 0.2)
})

test("its vectors do not change from version to version without a new id", async () => {
  const embedder = await open()
  const [vector] = await embedder.embed(["the lock is taken by SQLite"], "document")
  const places = [...vector!.keys()].filter((at) => vector![at] !== 0)
  expect([
    embedder.id,
    places.length,
    places.slice(0, 8),
    Number(vector![places[0]!]!.toFixed(4)),
  ]).toMatchInlineSnapshot(`
    [
      "hashed:1:384",
      49,
      [
        0,
        4,
        5,
        15,
        18,
        26,
        34,
        41,
      ],
      -0.067,
    ]
  `)
})

test("the dimension can be chosen, and is part of the id", async () => {
  const embedder = await hashed.open(hashed.settings.parse({ kind: "hashed", dimension: 1024 }))
  expect([embedder.id, (await embedder.embed(["x y"], "query"))[0]!.length]).toEqual(["hashed:1:1024", 1024])
})
