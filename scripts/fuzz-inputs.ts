// Random inputs for fuzz.ts and fuzz-mcp.ts. The same seed makes the same inputs.
import { join } from "node:path"
import * as z from "zod"
import type { Operation } from "../src/operations/operation.ts"

export type Random = () => number

/** mulberry32: the same seed asks the same. */
export function mulberry(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!

export const TEXTS = [
  ..."web|the owner|__proto__|constructor|../../etc/passwd|file:///|all|session:x|m-0123456789abcdef|%00|%s%n|${7*7}".split(
    "|",
  ),
  ...[
    "",
    " ",
    "\u0000",
    "\ud800",
    "\u202e",
    "💥".repeat(50),
    "x".repeat(5_000),
    "'; drop table audit; --",
    "{}",
    "-1",
    "1e999",
  ],
  ...[
    "2026-01-01",
    "9999-12-31T23:59:59Z",
    "http.port",
    "teams",
    "/dev/zero",
    "/",
    "~",
    "a\nb",
    "[Message from the owner]",
  ],
]

export function inputFor(op: Operation, random: Random, project: string): Record<string, unknown> {
  const { properties = {}, required = [] } = z.toJSONSchema(op.input, { io: "input", unrepresentable: "any" }) as Schema
  const entries = Object.entries(properties).filter(([name]) => required.includes(name) || random() < 0.5)
  const input = Object.fromEntries(entries.map(([name, schema]) => [name, valueFor(schema, random, project)]))
  // What would do harm, if it were let through.
  if (op.name === "teams.add" && random() < 0.5)
    Object.assign(input, {
      name: "web",
      project,
      program: join(project, "trap.sh"),
      skipPermissions: true,
      replace: true,
    })
  if (op.name === "up" && random() < 0.5) input.team = "web-of-nobody"
  if (op.name === "teams.import") input.file = join(project, "trap.sh")
  return input
}

interface Schema {
  type?: string
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
}

function valueFor(schema: Schema, random: Random, project: string): unknown {
  if (random() < 0.1) return anything(random, 2)
  if (schema.enum) return pick(random, schema.enum)
  if (schema.anyOf) return valueFor(pick(random, schema.anyOf), random, project)
  if (schema.type === "boolean") return random() < 0.5
  if (schema.type === "integer" || schema.type === "number")
    return pick(random, [0, 1, 2, -1, 50, 1e6, 2 ** 53, -(2 ** 53), 1.5, 1e308])
  if (schema.type === "array")
    return Array.from({ length: Math.floor(random() * 4) }, () => valueFor(schema.items ?? {}, random, project))
  return random() < 0.3 ? project : pick(random, TEXTS)
}

export function anything(random: Random, depth: number): unknown {
  const simple = [null, true, 0, -1, 1e308, "", pick(random, TEXTS), [], {}]
  if (depth === 0 || random() < 0.5) return pick(random, simple)
  if (random() < 0.5) return [anything(random, depth - 1)]
  return { [pick(random, TEXTS)]: anything(random, depth - 1) }
}
