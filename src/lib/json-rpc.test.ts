import { expect, test } from "vitest"
import { makeJsonRpc, RpcError, type RpcMessage, RpcTimeout } from "./json-rpc.ts"

function stage() {
  const sent: RpcMessage[] = []
  const heard: unknown[][] = []
  const rpc = makeJsonRpc({
    send: (message) => sent.push(message),
    onNotification: (...given) => heard.push(given),
    onRequest: (...given) => heard.push(given),
  })
  return { rpc, sent, heard }
}

test("answers find their calls by number, whatever their order", async () => {
  const { rpc, sent } = stage()
  const answers = [rpc.call("first", { a: 1 }), rpc.call("second", {})]
  expect(sent).toEqual([
    { id: 1, method: "first", params: { a: 1 } },
    { id: 2, method: "second", params: {} },
  ])
  rpc.receive({ id: 2, result: "two" })
  rpc.receive({ id: 7, result: "nobody asked" })
  rpc.receive({ id: 1, result: "one" })
  expect(await Promise.all(answers)).toEqual(["one", "two"])
})

test("an error comes back with its code and data, and a call without an answer in time is given up", async () => {
  const { rpc } = stage()
  const refused = rpc.call("x", {})
  rpc.receive({ id: 1, error: { code: -32601, message: "no such method", data: { method: "x" } } })
  await expect(refused).rejects.toThrow(new RpcError(-32601, 'no such method: {"method":"x"}'))
  await expect(rpc.call("slow", {}, 5)).rejects.toThrow(new RpcTimeout("did not answer slow within 5 ms"))
  rpc.receive({ id: 2, result: "too late" })
})

test("requests and notifications are heard apart, and a request is answered or refused", () => {
  const { rpc, sent, heard } = stage()
  rpc.receive({ method: "told", params: { a: 1 } })
  rpc.receive({ id: "r1", method: "asked" })
  expect(heard).toEqual([
    ["told", { a: 1 }],
    ["r1", "asked", {}],
  ])
  rpc.answer("r1", { ok: true })
  rpc.refuse("r2", new RpcError(-32601, "not here"))
  rpc.refuse("r3", new Error("broken"))
  rpc.notify("done")
  expect(sent).toEqual([
    { id: "r1", result: { ok: true } },
    { id: "r2", error: { code: -32601, message: "not here" } },
    { id: "r3", error: { code: -32603, message: "broken" } },
    { method: "done" },
  ])
})

test("the end rejects what waits and what is called later", async () => {
  const { rpc, sent } = stage()
  const waiting = rpc.call("x", {})
  rpc.end(new Error("gone"))
  rpc.end(new Error("again"))
  await expect(waiting).rejects.toThrow("gone")
  await expect(rpc.call("y", {})).rejects.toThrow("gone")
  expect(sent).toHaveLength(1)
})
