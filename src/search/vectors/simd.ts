/** The part of WebAssembly used here; its types come only with the DOM's. */
declare const WebAssembly: {
  Module: new (bytes: Uint8Array) => object
  Instance: new (module: object) => { exports: Simd }
  validate(bytes: Uint8Array): boolean
}

export interface Simd {
  memory: { readonly buffer: ArrayBuffer; grow(pages: number): number }
  /** All but the last two are addresses. At least one block and one byte. */
  add(codes: number, tables: number, scores: number, blocks: number, codeBytes: number): void
}

/** The loop of `Scan`, sixteen codes at a time, on its own memory; undefined without SIMD. */
export function startSimd(): Simd | undefined {
  const bytes = Uint8Array.from(assembled())
  return WebAssembly.validate(bytes) ? new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports : undefined
}

// Parameters of `add`, then locals.
const [codes, tables, scores, blocks, codeBytes] = [0, 1, 2, 3, 4]
const [table, bytesLeft, bytes, sum, firstEight, lastEight] = [5, 6, 7, 8, 9, 10]

/**
 * do {
 *   firstEight = lastEight = 0; table = tables; bytesLeft = codeBytes
 *   do {
 *     bytes = sixteen of `codes`
 *     sum = table[bytes & 15] + table[16 + bytes >> 4]
 *     firstEight += its first eight, as sixteen bits; lastEight += its last
 *     codes += 16; table += 32
 *   } while (--bytesLeft)
 *   scores = firstEight, lastEight; scores += 32
 * } while (--blocks)
 */
const body = () => [
  ...op.loop,
  ...[...op.zeros, ...op.set(firstEight), ...op.zeros, ...op.set(lastEight)],
  ...[...op.get(tables), ...op.set(table), ...op.get(codeBytes), ...op.set(bytesLeft)],
  ...op.loop,
  ...[...op.get(table), ...op.load(0)],
  ...[...op.get(codes), ...op.load(0), ...op.tee(bytes), ...op.lowHalves, ...op.and, ...op.lookUp],
  ...[...op.get(table), ...op.load(16)],
  ...[...op.get(bytes), ...op.number(4), ...op.shiftRight8, ...op.lookUp],
  ...[...op.add8, ...op.tee(sum)],
  ...[...op.firstAs16, ...op.get(firstEight), ...op.add16, ...op.set(firstEight)],
  ...[...op.get(sum), ...op.lastAs16, ...op.get(lastEight), ...op.add16, ...op.set(lastEight)],
  ...[...moveOn(codes, 16), ...moveOn(table, 32), ...againUnlessZero(bytesLeft)],
  ...op.end,
  ...[...op.get(scores), ...op.get(firstEight), ...op.store(0)],
  ...[...op.get(scores), ...op.get(lastEight), ...op.store(16)],
  ...[...moveOn(scores, 32), ...againUnlessZero(blocks)],
  ...op.end,
]

const moveOn = (local: number, by: number) => [...op.get(local), ...op.number(by), ...op.plus, ...op.set(local)]
const againUnlessZero = (local: number) => [
  ...[...op.get(local), ...op.number(1), ...op.minus, ...op.tee(local)],
  ...op.againIf,
]

/** LEB128 of numbers that fit seven bits, or six and a sign. */
const vector = (code: number) => [0xfd, ...(code < 128 ? [code] : [code, 1])]
const ALIGNED_TO_16 = 4
const op = {
  loop: [0x03, 0x40],
  againIf: [0x0d, 0],
  end: [0x0b],
  get: (local: number) => [0x20, local],
  set: (local: number) => [0x21, local],
  tee: (local: number) => [0x22, local],
  number: (value: number) => [0x41, value],
  plus: [0x6a],
  minus: [0x6b],
  load: (offset: number) => [...vector(0x00), ALIGNED_TO_16, offset],
  store: (offset: number) => [...vector(0x0b), ALIGNED_TO_16, offset],
  zeros: [...vector(0x0c), ...Array<number>(16).fill(0)],
  lowHalves: [...vector(0x0c), ...Array<number>(16).fill(15)],
  and: vector(0x4e),
  shiftRight8: vector(0x6d),
  lookUp: vector(0x0e),
  add8: vector(0x6e),
  add16: vector(0x8e),
  firstAs16: vector(0x87),
  lastAs16: vector(0x88),
}

function assembled(): number[] {
  const [int32, v128, takes, aFunction, aMemory] = [0x7f, 0x7b, 0x60, 0, 2]
  const locals = [2, 2, int32, 4, v128]
  const code = [...locals, ...body(), ...op.end]
  return [
    ...[...named("\0asm").slice(1), 1, 0, 0, 0],
    ...section(1, [1, takes, 5, int32, int32, int32, int32, int32, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, ...named("add"), aFunction, 0, ...named("memory"), aMemory, 0]),
    ...section(10, [1, ...size(code.length), ...code]),
  ]
}

const section = (id: number, content: number[]) => [id, ...size(content.length), ...content]
const named = (name: string) => [name.length, ...Buffer.from(name)]
const size = (value: number) => (value < 128 ? [value] : [(value & 127) | 128, value >> 7])
