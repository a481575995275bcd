import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { type IntakeOptions, openIntake, type TestIntake } from "../../../test/fixtures/intake.ts"
import type { Person } from "../../../test/fixtures/telegram/person.ts"
import { startTelegram } from "../../../test/fixtures/telegram/start.ts"
import type { Telegram } from "../../../test/fixtures/telegram/telegram.ts"
import type { Room } from "../../../test/fixtures/telegram/world.ts"
import { transcriber } from "../../adapters/transcriber.ts"

let telegram: Telegram
let ada: Person
let group: Room
let intake: TestIntake
beforeEach(async () => {
  telegram = await startTelegram({ limits: false })
  ada = telegram.person("Ada")
  group = telegram.group("Work", { people: [ada] })
})
afterEach(async () => {
  await intake.dispose()
  await telegram.close()
})

const open = async (deps: IntakeOptions["deps"] = {}) => {
  intake = await openIntake({ telegram, group, users: [String(ada.id)], deps })
  intake.start()
  return intake.session("shop")
}
const inbox = () => join(intake.dir, "shop", ".throughline", "inbox")
const texts = async () => (await intake.messages()).map(({ text }) => text)
const LATE = { timeout: 60_000 }

test("a file is kept in the project for its owner alone, unseen by git, and the agent is told where", async () => {
  const { thread } = await open()
  const { id } = ada.sendDocument(group, Buffer.from("one"), {
    thread,
    name: "../../notes of May.txt",
    caption: "look",
  })
  ada.sendPhoto(group, Buffer.from("picture"), { thread })
  await intake.settled()
  const [first, second] = await texts()
  const [, path] = /^look\n\nThe file is (.+)$/.exec(first!)!
  expect(path).toMatch(/\/shop\/\.throughline\/inbox\/\d{4}-\d\d-\d\dT[\d-]+-notes-of-May\.txt$/)
  expect(readFileSync(path!, "utf8")).toBe("one")
  expect(statSync(path!).mode & 0o777).toBe(0o600)
  expect(statSync(inbox()).mode & 0o777).toBe(0o700)
  expect(readFileSync(join(inbox(), ".gitignore"), "utf8")).toBe("*\n")
  expect(second).toMatch(/^The file is \S+-photo\.\w+$/)
  expect(readdirSync(inbox()).filter((name) => name.startsWith(".part"))).toEqual([])
  ada.edit(group, id, "look twice")
  await expect.poll(texts).toEqual([first!.replace("look", "look twice"), second])
})

test("a file that is too big and a message without text are rejected with a reason", async () => {
  const { thread } = await open()
  ada.sendDocument(group, Buffer.from("x"), { thread, name: "film.mkv", size: 30_000_000 })
  ada.sendSticker(group, "🎉", { thread })
  await intake.settled()
  expect(await intake.answers()).toEqual([
    "film.mkv is too big: at most 20 MB.",
    "A sticker cannot be forwarded to the agent; text, pictures, files and voice messages can.",
  ])
  expect(telegram.accepted("getFile")).toEqual([])
  expect(await texts()).toEqual([])
})

test("a messenger that is away for a moment does not lose the file", async () => {
  const { thread } = await open()
  telegram.faults.next("getFile", { kind: "drop-before" })
  ada.sendDocument(group, Buffer.from("one"), { thread, name: "a.txt" })
  ada.write(group, "and then", { thread })
  await expect.poll(texts, LATE).toEqual([expect.stringContaining("a.txt"), "and then"])
})

test("pictures that are sent together are one message, in order", async () => {
  const { thread } = await open()
  const album = { thread, album: "77" }
  ada.sendPhoto(group, Buffer.from("p1"), { ...album, caption: "compare" })
  ada.sendPhoto(group, Buffer.from("p2"), album)
  ada.sendPhoto(group, Buffer.from("p3"), album)
  ada.write(group, "which is better?", { thread })
  await expect.poll(texts, LATE).toHaveLength(2)
  await intake.settled()
  const [pictures, question] = await texts()
  expect(question).toBe("which is better?")
  const paths = [...pictures!.matchAll(/^- (.+)$/gm)].map(([, path]) => path!)
  expect(pictures!.startsWith("compare\n\nThe files are:\n")).toBe(true)
  expect(paths.map((path) => readFileSync(path, "utf8"))).toEqual(["p1", "p2", "p3"])
})

describe("a voice message", () => {
  test("is written down by the command of the configuration, told back, and handed on", async () => {
    const script = 'test "$1" = --plain && echo "it says $(cat "$2")"'
    const { thread } = await open({
      transcribe: transcriber(["sh", "-c", script, "whisper", "--plain"], { PATH: "/usr/bin:/bin" }),
    })
    ada.sendVoice(group, Buffer.from("hello"), { thread })
    await expect.poll(texts, LATE).toEqual(["it says hello"])
    await intake.settled()
    expect(await intake.answers()).toEqual(["“it says hello”"])
    expect(readdirSync(intake.dir).filter((name) => name.startsWith("tl-voice"))).toEqual([])
  })

  test("without one leads to how to set one; one that fails says why", async () => {
    const { thread } = await open()
    ada.sendVoice(group, Buffer.from("hello"), { thread })
    await intake.settled()
    expect((await intake.answers())[0]).toContain("Set telegram.transcriber")
    await intake.dispose()
    const { thread: next } = await open({ transcribe: transcriber(["sh", "-c", "echo no model >&2; exit 3"], {}) })
    ada.sendVoice(group, Buffer.from("hello"), { thread: next })
    await intake.settled()
    expect((await intake.answers())[0]).toContain("no model")
    expect(await texts()).toEqual([])
  })
})
