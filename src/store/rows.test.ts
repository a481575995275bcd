import { expect, test } from "vitest"
import { rowDecoder, toColumns } from "./rows.ts"

interface Example {
  chatId: string
  isMuted: boolean
  data: { n: number }
  endedAtMs: number | null
}

test("a value has the same fields after it was stored and read", () => {
  const decode = rowDecoder<Example>({ json: ["data"], flags: ["isMuted"] })
  const value: Example = { chatId: "c", isMuted: true, data: { n: 1 }, endedAtMs: null }
  const columns = toColumns(value)
  expect(columns).toEqual({ chat_id: "c", is_muted: 1, data: '{"n":1}', ended_at_ms: null })
  expect(decode(columns)).toEqual(value)
})

test("fields that are undefined set no column", () => {
  expect(toColumns({ chatId: undefined, isMuted: false })).toEqual({ is_muted: 0 })
})
