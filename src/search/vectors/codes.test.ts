import { describe, expect, test } from "vitest"
import { makeCodes } from "./codes.ts"
import { cosine, quantise } from "./quantised.ts"
import { rotationOf } from "./rotation.ts"

let state = 1
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32 - 0.5
}
const randomVector = (dimension: number) => unit(Float32Array.from({ length: dimension }, random))
const unit = (vector: Float32Array) => {
  const norm = Math.hypot(...vector)
  return vector.map((value) => value / norm)
}
const product = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, at) => sum + value * b[at]!, 0)

describe("a rotation", () => {
  test.each([8, 384, 768, 1000])("of %d components keeps lengths and angles", (dimension) => {
    const rotate = rotationOf(dimension)
    const [a, b] = [randomVector(dimension), randomVector(dimension)]
    expect(product(rotate(a), rotate(a))).toBeCloseTo(1, 4)
    expect(product(rotate(a), rotate(b))).toBeCloseTo(product(a, b), 4)
  })

  test("spreads one component over all, and is the same every time", () => {
    const single = new Float32Array(384)
    single[17] = 1
    const turned = rotationOf(384)(single)
    expect(turned.filter((value) => Math.abs(value) > 0.001).length).toBeGreaterThan(300)
    expect(rotationOf(384)(single)).toEqual(turned)
    expect(Array.from(turned.slice(0, 4), (value) => Number(value.toFixed(4)))).toMatchInlineSnapshot(`
      [
        0.0273,
        -0.0527,
        -0.0352,
        0.0488,
      ]
    `)
  })
})

test("eight bits keep a cosine to the second digit, and the zero vector is near to nothing", () => {
  for (let round = 0; round < 50; round++) {
    const [a, b] = [randomVector(384), randomVector(384)]
    expect(cosine(a, quantise(b))).toBeCloseTo(product(a, b), 2)
  }
  expect(cosine(randomVector(4), quantise(new Float32Array(4)))).toBe(0)
})

describe("codes", () => {
  const filled = (count: number, dimension = 64) => {
    const codes = makeCodes(dimension)
    const vectors = Array.from({ length: count }, () => randomVector(dimension))
    vectors.forEach((vector, exchange) => {
      codes.put(exchange, quantise(vector).values)
    })
    return { codes, vectors }
  }
  const sorted = (numbers: number[]) => numbers.toSorted((a, b) => a - b)

  test.each([40, 64, 384])(
    "of %d bits find what is nearest among twenty thousand, over several chunks",
    (dimension) => {
      const { codes, vectors } = filled(20_000, dimension)
      expect(codes.size).toBe(20_000)
      for (const exchange of [0, 8_191, 8_192, 19_999]) expect(codes.best(vectors[exchange]!, 5)).toContain(exchange)
    },
  )

  test("the best by the scan are the best by the same score computed plainly", () => {
    const { codes, vectors } = filled(3_000)
    const query = randomVector(64)
    // Components of a random vector of 64 are 1/8 on average.
    const step = (value: number) => Math.sign(value) * (Math.abs(value) > 0.98 / 8 ? 1.51 : 0.45)
    const plain = vectors.map((vector) => vector.reduce((sum, value, at) => sum + step(value) * query[at]!, 0))
    const right = [...plain.keys()].sort((a, b) => plain[b]! - plain[a]!).slice(0, 100)
    const found = codes.best(query, 100)
    expect(found.filter((exchange) => right.includes(exchange)).length).toBeGreaterThanOrEqual(97)
  })

  test("a filter is asked of those only that would be among the best", () => {
    const { codes } = filled(20_000)
    let asked = 0
    codes.best(randomVector(64), 100, () => ++asked > 0)
    expect(asked).toBeLessThan(3_000)
  })

  test("a filter shortens no list", () => {
    const { codes } = filled(20_000)
    const query = randomVector(64)
    const wanted = (exchange: number) => exchange % 1_000 === 7
    expect(sorted(codes.best(query, 400, wanted))).toEqual(Array.from({ length: 20 }, (_, at) => at * 1_000 + 7))
    expect(codes.best(query, 400, (exchange) => exchange % 2 === 0)).toHaveLength(400)
    expect(codes.best(query, 400, () => false)).toEqual([])
  })

  test("what is removed is not found, and the others still are, down to none and up again", () => {
    const { codes, vectors } = filled(9_000)
    for (let exchange = 0; exchange < 9_000; exchange += 2) codes.remove(exchange)
    codes.remove(0)
    expect(codes.size).toBe(4_500)
    expect(codes.best(vectors[4_000]!, 4_500)).not.toContain(4_000)
    expect(codes.best(vectors[8_999]!, 3)).toContain(8_999)
    for (let exchange = 1; exchange < 9_000; exchange += 2) codes.remove(exchange)
    expect([codes.size, codes.best(vectors[1]!, 9)]).toEqual([0, []])
    codes.put(5, quantise(vectors[5]!).values)
    expect(codes.best(vectors[5]!, 9)).toEqual([5])
  })

  test("an exchange that is put again has one code, the new one", () => {
    const { codes, vectors } = filled(100)
    codes.put(3, quantise(vectors[4]!.map((value) => -value)).values)
    expect(codes.size).toBe(100)
    expect(
      codes.best(
        vectors[4]!.map((value) => -value),
        1,
      ),
    ).toEqual([3])
  })
})
