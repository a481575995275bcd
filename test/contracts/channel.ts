import { afterEach, beforeEach, describe, expect, test } from "vitest"
import type { Channel, ChannelTrouble, Incoming, Place, Told, TopicPlace } from "../../src/domain/channel.ts"
import { plain, type RichText } from "../../src/domain/rich-text.ts"

/** A messenger with a group in which the bot may do everything, and somebody in it; and what can happen to them. */
export interface ChannelStage {
  channel: Channel
  botId: string
  chatId: string
  /** Who is in the group. */
  person: {
    userId: string
    write(place: Place, text: string, replyTo?: number): number
    writeAnonymously(place: Place, text: string): void
    edit(place: Place, messageId: number, text: string): void
    attach(place: Place, name: string, bytes: Uint8Array, caption: string): void
    /** Presses a button; what was answered, once it was. */
    press(place: Place, messageId: number, label: string): () => { text: string; isAlert: boolean } | undefined
    closeTopic(place: TopicPlace): void
    removeTopic(place: TopicPlace): void
  }
  /** What people see there, oldest first. */
  shown(place: Place): Shown[]
  topics(): { threadId: number; name: string; isClosed: boolean }[]
  take(away: "topics" | "rights" | "membership" | "token" | "network"): void
  /** The next call is done, and its answer is lost. */
  loseAnswer(): void
  /** Whoever writes to the chat is told to wait. */
  askToWait(seconds: number): void
  /** A secret that no text may have. */
  secret: string
  close(): Promise<void>
}

export interface Shown {
  messageId: number
  body: RichText
  buttons: string[][]
  file: { name: string; bytes: Uint8Array } | undefined
  isSilent: boolean
  replyTo: number | undefined
  isEdited: boolean
  /** How many marks there are on it. */
  marks: string[]
}

/** What every Channel means, whichever messenger it is of. */
export function channelContract(name: string, open: () => Promise<ChannelStage>): void {
  describe(`${name} fulfils the port`, () => {
    let stage: ChannelStage
    let channel: Channel
    let place: TopicPlace
    let general: Place
    beforeEach(async () => {
      stage = await open()
      channel = stage.channel
      general = { chatId: stage.chatId, threadId: null }
      place = { ...general, threadId: gotten(await channel.makeTopic(stage.chatId, "laptop • shop")).threadId }
    })
    afterEach(() => stage.close())

    /** What people did since the beginning, as it is read. */
    const heard = async (count: number): Promise<Incoming[]> => {
      const found = await polled(channel, null, count)
      return found.map(({ incoming }) => incoming).filter((incoming) => incoming.kind !== "topic")
    }

    test("it says who it is, and what it may do in a chat", async () => {
      const self = gotten(await channel.self())
      expect(self).toMatchObject({ botId: stage.botId, readsGroups: true })
      expect(Math.abs(self.clockSkewMs ?? 0)).toBeLessThan(5_000)
      const look = { kind: "group", hasTopics: true, isAdmin: true, mayManageTopics: true, mayDeleteMessages: true }
      expect(gotten(await channel.look(stage.chatId))).toMatchObject(look)
      stage.take("rights")
      const less = { hasTopics: true, isAdmin: true, mayManageTopics: false, mayDeleteMessages: false }
      expect(gotten(await channel.look(stage.chatId))).toMatchObject(less)
    })

    test("a text is shown as it is, with what is marked in it, whatever it looks like", async () => {
      const text = "🚀 *not bold* _x_ <b>&amp;</b> [a](b) `c` \\ code strike quote\nlink"
      const at = (word: string) => ({ offset: text.indexOf(word), length: word.length })
      const marks = [
        { kind: "bold", ...at("*not bold*") },
        { kind: "italic", ...at("_x_") },
        { kind: "code", ...at("code") },
        { kind: "strike", ...at("strike") },
        { kind: "link", url: "https://example.com/", ...at("link") },
      ] as const
      const { messageId } = gotten(await channel.send(place, { body: { text, marks } }))
      const [shown] = stage.shown(place).filter((one) => one.messageId === messageId)
      expect(shown!.body).toEqual({ text, marks })
      expect(shown).toMatchObject({ isSilent: false, replyTo: undefined, buttons: [] })
    })

    test("blocks of code, quotes and spoilers are marked; marks that reach too far are cut", async () => {
      const text = "const a = 1\nsaid\nhidden"
      const marks = [
        { kind: "pre", language: "ts", offset: 0, length: 11 },
        { kind: "quote", offset: 12, length: 4 },
        { kind: "spoiler", offset: 17, length: 99 },
      ] as const
      gotten(await channel.send(place, { body: { text, marks: [...marks, { kind: "bold", offset: 5, length: 0 }] } }))
      expect(stage.shown(place).at(-1)!.body).toEqual({
        text,
        marks: [...marks.slice(0, 2), { ...marks[2], length: 6 }],
      })
    })

    test("it goes to its topic, quietly if it is to, as an answer, also when what it answers is gone", async () => {
      const asked = stage.person.write(place, "what is it?")
      gotten(await channel.send(place, { body: plain("this"), isSilent: true, replyTo: asked }))
      expect(stage.shown(place).at(-1)).toMatchObject({ isSilent: true, replyTo: asked })
      gotten(await channel.send(place, { body: plain("that"), replyTo: 99_999 }))
      gotten(await channel.send(general, { body: plain("to all") }))
      expect(stage.shown(general).at(-1)!.body.text).toBe("to all")
      expect(stage.shown(place).map((one) => one.body.text)).toEqual(
        expect.arrayContaining(["what is it?", "this", "that"]),
      )
    })

    test("the longest text that it can is taken, and one unit more is refused", async () => {
      const longest = "🚀".repeat(channel.can.maxTextUnits / 2)
      gotten(await channel.send(place, { body: plain(longest) }))
      expect(troubleOf(await channel.send(place, { body: plain(`${longest}x`) })).kind).toBe("refused")
    })

    test("a file comes with its name, its bytes, and the words under it", async () => {
      const file = { name: "log of today.txt", bytes: Buffer.from("line\n".repeat(1_000)) }
      const body = { text: "All of it", marks: [{ kind: "bold", offset: 0, length: 3 }] } as const
      gotten(await channel.send(place, { body, file }))
      const shown = stage.shown(place).at(-1)!
      expect(shown.body).toEqual(body)
      expect(shown.file!.name).toBe(file.name)
      expect(Buffer.compare(shown.file!.bytes, file.bytes)).toBe(0)
      gotten(await channel.send(place, { body: plain(""), file }))
    })

    test("what was sent is edited, its buttons with it; the same again is unchanged; what is not there is gone", async () => {
      const buttons = [[{ label: "Allow", data: "p:1:allow" }], [{ label: "Deny", data: "p:1:deny" }]]
      const { messageId } = gotten(await channel.send(place, { body: plain("May it?"), buttons }))
      expect(stage.shown(place).at(-1)!.buttons).toEqual([["Allow"], ["Deny"]])
      gotten(await channel.edit(place, messageId, { body: plain("It may.") }))
      expect(stage.shown(place).at(-1)).toMatchObject({ body: plain("It may."), buttons: [], isEdited: true })
      expect(troubleOf(await channel.edit(place, messageId, { body: plain("It may.") }))).toEqual({ kind: "unchanged" })
      expect(troubleOf(await channel.edit(place, 99_999, { body: plain("x") })).kind).toBe("gone")
    })

    test("a message has one receipt: each mark takes the place of the one before", async () => {
      const messageId = stage.person.write(place, "go on")
      const seen = new Set<string>()
      for (const mark of ["queued", "submitted", "failed"] as const) {
        gotten(await channel.react(place, messageId, mark))
        const marks = stage.shown(place).at(-1)!.marks
        expect(marks).toHaveLength(1)
        seen.add(marks[0]!)
      }
      expect(seen.size).toBe(3)
      gotten(await channel.react(place, messageId, null))
      expect(stage.shown(place).at(-1)!.marks).toEqual([])
    })

    test("a button press comes with who pressed, and is answered once; later it is gone", async () => {
      const buttons = [[{ label: "Allow", data: "p:1:allow" }]]
      const { messageId } = gotten(await channel.send(place, { body: plain("May it?"), buttons }))
      const answer = stage.person.press(place, messageId, "Allow")
      const [press] = await heard(1)
      expect(press).toMatchObject({
        kind: "press",
        place,
        messageId,
        data: "p:1:allow",
        from: { userId: stage.person.userId },
      })
      if (press?.kind !== "press") return
      const long = `It may. ${"🚀".repeat(200)}`
      gotten(await channel.answerPress(press.pressId, { text: long, isAlert: true }))
      expect(answer()!.isAlert).toBe(true)
      expect(answer()!.text).toMatch(/^It may\. 🚀+…$/u)
      expect(troubleOf(await channel.answerPress("12345", {})).kind).toBe("gone")
    })

    test("what people write comes in order, with its place, its sender, what it answers, and that it was changed", async () => {
      const first = stage.person.write(place, "in the topic")
      const ours = gotten(await channel.send(place, { body: plain("an answer") })).messageId
      stage.person.write(place, "on that", ours)
      const other = stage.person.write(general, "in general")
      stage.person.write(general, "on the other", other)
      stage.person.edit(place, first, "in this topic")
      stage.person.writeAnonymously(place, "from nobody")
      const from = { userId: stage.person.userId, isBot: false }
      expect(await heard(6)).toMatchObject([
        { kind: "message", place, text: "in the topic", isEdit: false, replyTo: null, from, chatKind: "group" },
        { place, text: "on that", replyTo: { messageId: ours, text: "an answer", isOurs: true } },
        { place: general, text: "in general", replyTo: null },
        { place: general, text: "on the other", replyTo: { messageId: other, isOurs: false } },
        { place, messageId: first, text: "in this topic", isEdit: true },
        { place, text: "from nobody", from: { userId: null } },
      ])
    })

    test("a file that somebody sent is fetched to the byte; one that is not there is gone", async () => {
      const bytes = Uint8Array.from({ length: 5_000 }, (_, index) => index % 251)
      stage.person.attach(place, "data.bin", bytes, "look at this")
      const [message] = await heard(1)
      expect(message).toMatchObject({
        text: "look at this",
        files: [{ kind: "document", name: "data.bin", bytes: 5_000 }],
        otherKind: null,
      })
      const { fileId } = (message as Incoming & { kind: "message" }).files[0]!
      expect(Buffer.compare(gotten(await channel.fetchFile(fileId)).bytes, bytes)).toBe(0)
      expect(troubleOf(await channel.fetchFile("nothing")).kind).toBe("gone")
    })

    test("what was not confirmed comes again, and what was confirmed does not; reading it twice says the same", async () => {
      stage.person.write(place, "one")
      stage.person.write(place, "two")
      const found = await polled(channel, null, 2)
      const again = await polled(channel, null, 2)
      expect(again.map(({ updateId }) => updateId)).toEqual(found.map(({ updateId }) => updateId))
      expect(again.map(({ incoming }) => incoming)).toEqual(found.map(({ incoming }) => incoming))
      stage.person.write(place, "three")
      const later = await polled(channel, found.at(-1)!.updateId + 1, 1)
      expect(later).toMatchObject([{ incoming: { text: "three" } }])
    })

    test("waiting for what people do ends when it is told to, and when its time is over", async () => {
      const [last] = (await polled(channel, null, 1, true)).slice(-1)
      const offset = (last?.updateId ?? -1) + 1
      expect(gotten(await channel.poll({ offset, seconds: 1, signal: new AbortController().signal }))).toEqual([])
      const stop = new AbortController()
      const waiting = channel.poll({ offset, seconds: 30, signal: stop.signal })
      setTimeout(() => stop.abort(), 50)
      expect(troubleOf(await waiting).kind).toBe("away")
    })

    test("of two that ask for the updates one is told of the conflict", async () => {
      const [last] = (await polled(channel, null, 1, true)).slice(-1)
      const request = { offset: last!.updateId + 1, seconds: 2, signal: new AbortController().signal }
      const first = channel.poll(request)
      await new Promise((resolve) => setTimeout(resolve, 100))
      const second = channel.poll(request)
      expect(troubleOf(await first).kind).toBe("conflict")
      expect((await second).ok).toBe(true)
    })

    test("topics are made, renamed, closed, reopened and removed; each again is unchanged or gone", async () => {
      const is = (isClosed: boolean, name: string) =>
        expect(stage.topics()).toEqual([{ threadId: place.threadId, name, isClosed }])
      is(false, "laptop • shop")
      gotten(await channel.changeTopic(place, { name: "laptop • shop • done" }))
      expect(troubleOf(await channel.changeTopic(place, { name: "laptop • shop • done" })).kind).toBe("unchanged")
      gotten(await channel.changeTopic(place, { isClosed: true }))
      is(true, "laptop • shop • done")
      expect(troubleOf(await channel.changeTopic(place, { isClosed: true })).kind).toBe("unchanged")
      gotten(await channel.changeTopic(place, { isClosed: false }))
      is(false, "laptop • shop • done")
      gotten(await channel.removeTopic(place))
      expect(stage.topics()).toEqual([])
      expect(troubleOf(await channel.removeTopic(place)).kind).toBe("topic_gone")
    })

    test("that a topic is closed, gone, or that there are none, is said as such", async () => {
      const post = { body: plain("x") }
      stage.person.closeTopic(place)
      expect(troubleOf(await channel.send(place, post)).kind).toBe("topic_closed")
      stage.person.removeTopic(place)
      expect(troubleOf(await channel.send(place, post)).kind).toBe("topic_gone")
      stage.take("topics")
      expect(troubleOf(await channel.makeTopic(stage.chatId, "another")).kind).toBe("no_topics")
    })

    test("that it may not, or is not there, or is not let in, is said as such", async () => {
      const post = { body: plain("x") }
      stage.take("rights")
      expect(troubleOf(await channel.makeTopic(stage.chatId, "another")).kind).toBe("no_rights")
      expect(troubleOf(await channel.removeTopic(place)).kind).toBe("no_rights")
      stage.take("membership")
      expect(troubleOf(await channel.send(place, post)).kind).toBe("no_chat")
      expect(troubleOf(await channel.look("-100999")).kind).toBe("no_chat")
      stage.take("token")
      const poll = { offset: null, seconds: 0, signal: new AbortController().signal }
      for (const told of [await channel.self(), await channel.send(place, post), await channel.poll(poll)])
        expect(troubleOf(told).kind).toBe("unauthorised")
    })

    test("how long to wait is said exactly", async () => {
      stage.askToWait(7)
      expect(troubleOf(await channel.send(place, { body: plain("x") }))).toEqual({ kind: "wait", forMs: 7_000 })
    })

    test("a send of which no answer came is unclear, and is not tried again", async () => {
      stage.loseAnswer()
      const before = stage.shown(place).length
      expect(troubleOf(await channel.send(place, { body: plain("once") })).kind).toBe("unclear")
      expect(stage.shown(place)).toHaveLength(before + 1)
    })

    test("where nobody answers it is away, and nothing happened; no text has the token", async () => {
      await stage.close()
      const told = [
        await channel.self(),
        await channel.look(stage.chatId),
        await channel.poll({ offset: null, seconds: 1, signal: new AbortController().signal }),
        await channel.send(place, { body: plain("x") }),
        await channel.send(place, { body: plain("x"), file: { name: "a.txt", bytes: Buffer.from("a") } }),
        await channel.makeTopic(stage.chatId, "x"),
        await channel.fetchFile("x"),
      ]
      expect(told.map((one) => troubleOf(one as Told<unknown>).kind)).toEqual(told.map(() => "away"))
      expect(JSON.stringify(told)).not.toContain(stage.secret)
    })

    test("commands are offered", async () => {
      gotten(await channel.offerCommands([{ name: "status", summary: "What runs here" }]))
    })

    test("what is no update, or says nothing to us, is read as nothing", () => {
      for (const raw of [undefined, null, 1, "x", [], {}, { update_id: 1 }, { update_id: 2, poll_answer: {} }])
        expect(channel.read(raw)).toBeUndefined()
    })
  })
}

export function gotten<T>(told: Told<T>): T {
  if (!told.ok) throw new Error(`it was refused: ${JSON.stringify(told.trouble)}`)
  return told.value
}

export function troubleOf(told: Told<unknown>): ChannelTrouble {
  if (told.ok) throw new Error(`it was done: ${JSON.stringify(told.value)}`)
  return told.trouble
}

/** Asks, without confirming, until so many of what people did are there. */
async function polled(channel: Channel, offset: number | null, count: number, withTopics = false) {
  const endsAtMs = Date.now() + 5_000
  for (;;) {
    const updates = gotten(await channel.poll({ offset, seconds: 0, signal: AbortSignal.timeout(60_000) }))
    const found = updates
      .map(({ updateId, raw }) => ({ updateId, incoming: channel.read(raw)! }))
      .filter(({ incoming }) => incoming && (withTopics || incoming.kind !== "topic"))
    if (found.length >= count) return found
    if (Date.now() > endsAtMs) throw new Error(`${found.length} of ${count} came: ${JSON.stringify(found)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
