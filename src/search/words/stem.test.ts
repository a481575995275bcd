import { expect, test } from "vitest"
import { IRREGULAR } from "./irregular.ts"
import { stem } from "./stem.ts"

test.each([
  "retry retries retried retrying",
  "connect connected connecting connection connections",
  "configure configured configuration configures configuring",
  "index indexes indexed indexing indices",
  "go went gone goes going",
  "write wrote written writing writes",
  "child children",
  "match matches matched matching",
  "hope hopes hoped hoping",
  "hop hopped hopping",
  "agree agreed agreeing",
  "happy happiness",
  "think thought thoughts thinking",
  "vary varied varies varying",
  "delete deleted deleting deletion deletes",
])("the forms meet: %s", (forms) => {
  expect(new Set(forms.split(" ").map(stem)).size).toBe(1)
})

test.each([
  ["internal", "international"],
  ["general", "generate"],
  ["news", "new"],
  ["universal", "universe"],
  ["organ", "organize"],
  ["past", "paste"],
  ["hop", "hope"],
])("%s and %s stay apart", (one, other) => {
  expect(stem(one)).not.toBe(stem(other))
})

// By the published rules: each line goes through another one of them.
test.each(
  Object.entries({
    skies: "sky",
    dying: "die",
    vying: "vie",
    caresses: "caress",
    ties: "tie",
    cries: "cri",
    gas: "gas",
    gaps: "gap",
    succeed: "succeed",
    luxuriated: "luxuri",
    add: "add",
    egging: "egg",
    toying: "toy",
    yes: "yes",
    rational: "ration",
    relational: "relat",
    vileli: "vile",
    analogously: "analog",
    biologist: "biolog",
    hopefulness: "hope",
    formalize: "formal",
    communicative: "communic",
    adoption: "adopt",
    rate: "rate",
    controll: "control",
    knack: "knack",
  }),
)("%s becomes %s", (word, expected) => {
  expect(stem(word)).toBe(expected)
})

test("what is not an English word stays as it is", () => {
  for (const word of ["", "is", "größe", "x2", "user.ts", "a".repeat(22), "running".repeat(4)])
    expect(stem(word)).toBe(word)
})

test("the table of irregular forms is small, and leads to its end in one step", () => {
  expect(IRREGULAR.size).toBeLessThanOrEqual(200)
  for (const base of IRREGULAR.values()) expect(IRREGULAR.get(base)).toBeUndefined()
})
