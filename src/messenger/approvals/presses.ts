import { Failure } from "../../domain/failure.ts"
import {
  BUTTON,
  type ButtonHandler,
  chatLane,
  type PressAnswer,
  type Subject,
  topicLane,
} from "../../domain/outgoing.ts"
import type { Decision, Permission, PermissionAnswers } from "../../domain/permission.ts"
import { plain } from "../../domain/rich-text.ts"
import type { Store } from "../../domain/store.ts"
import type { Clock } from "../../lib/clock.ts"
import { wholeInput } from "../render/approval.ts"
import { toShow } from "../to-show.ts"
import { chosenIn, openQuestion, STILL_CHOOSING } from "./buttons.ts"

export interface ApprovalDeps {
  store: Store
  clock: Clock
  channel: string
  permits: {
    decide(id: string, decision: Decision, by: string): Promise<{ isFirst: boolean; permission: Permission }>
    note(id: string, answers: PermissionAnswers): Promise<boolean>
  }
  /** Removes secrets: the text leaves this machine. */
  redact(text: string): string
}

export interface Presser {
  userId: string
  name: string
}

/** The place of the approval request. */
export interface ApprovalPlace {
  chatId: string
  threadId: number | null
}

/** The buttons of approval requests: the first answer counts, and whoever presses later sees the result. */
export function makePermissionButtons(deps: ApprovalDeps): ButtonHandler {
  const { store } = deps
  const answering = makeAnswering(deps)
  return {
    beginning: BUTTON.permission,
    about: async (rest) => subjectOf(await store.permissions.byId(rest.split(":")[0]!)),
    async press(rest, by, at) {
      const [id = "", verb = ""] = rest.split(":")
      const permission = await store.permissions.byId(id)
      if (!permission) return { text: "This request is no longer stored.", isAlert: true }
      if (verb === "full") return showAll(deps, permission, at)
      const [kind, ...places] = verb.split("-")
      const [first = -1, second = -1] = places.map(Number)
      if (kind === "option" || kind === "chosen") {
        const question = permission.questions[first]
        const option = question?.options[second]?.label
        if (!question || (kind === "option" && option === undefined)) return OLD
        const chosen = chosenIn(permission.answers, question.key)
        if (kind === "chosen" || !question.isMany)
          return answering.answer(permission, question.key, option === undefined ? chosen : [option], by, at)
        const others = chosen.filter((label) => label !== option)
        const words = [...(others.length < chosen.length ? others : [...chosen, option!]), STILL_CHOOSING]
        return answering.answer(permission, question.key, words, by, at)
      }
      const decision = Object.hasOwn(DECISIONS, kind!) ? DECISIONS[kind!]!(first) : undefined
      return decision ? answering.decide(permission, decision, by) : OLD
    },
  }
}

export const subjectOf = (permission: Permission | undefined): Subject | undefined =>
  permission && { sessionId: permission.sessionId, team: permission.team }

const OLD: PressAnswer = { text: "This button is outdated.", isAlert: true }

const DECISIONS: Record<string, (place: number) => Decision> = {
  allow: () => ({ kind: "allow" }),
  deny: () => ({ kind: "deny" }),
  stop: () => ({ kind: "deny", interrupt: true }),
  always: (which) => ({ kind: "always", which }),
}

/** How an approval request is answered, by a button press or by words. */
export function makeAnswering({ store, clock, channel, permits }: ApprovalDeps) {
  const decide = async ({ id }: Permission, decision: Decision, by: Presser): Promise<PressAnswer> => {
    try {
      const { isFirst, permission } = await permits.decide(id, decision, `${by.name} (${channel} ${by.userId})`)
      return isFirst ? { text: doneWords(permission) } : { text: lateWords(permission), isAlert: true }
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      return { text: error.message, isAlert: true }
    }
  }

  /** Shows the next question, or the options chosen so far. */
  const showNext = async ({ id }: Permission, { chatId }: ApprovalPlace) => {
    const approval = await store.approvalRequests.get(id, channel, chatId)
    const thread = approval?.threadId ?? null
    const inTopic = thread === null ? undefined : await store.topics.byThread(channel, chatId, thread)
    // In a chat without topics it is found by its message id.
    const topic = inTopic ?? (approval && (await store.topics.byMessage(channel, chatId, approval.messageId)))
    if (!approval) return
    const payload = { kind: "decided" as const, permissionId: id }
    const nowMs = clock.nowMs()
    const key = `${channel}:card:${id}:${nowMs}`
    const delivery = topic
      ? toShow(key, topicLane(topic, true), channel, { ...payload, topicId: topic.id })
      : toShow(key, chatLane(chatId), channel, { ...payload, chatId, threadId: thread })
    await store.deliveries.enqueue({ ...delivery, repeatable: true }, nowMs)
  }

  return {
    decide,
    /** Answers one question, or with the last one all. */
    async answer(
      permission: Permission,
      key: string,
      words: string[],
      by: Presser,
      at: ApprovalPlace,
    ): Promise<PressAnswer> {
      const answers = { ...permission.answers, [key]: words }
      const isLast = openQuestion({ ...permission, answers }) === undefined
      if (isLast || permission.state !== "waiting") return decide(permission, { kind: "answer", answers }, by)
      if (!(await permits.note(permission.id, answers)))
        return { text: lateWords((await store.permissions.byId(permission.id)) ?? permission), isAlert: true }
      await showNext(permission, at)
      return {}
    },
  }
}

function doneWords({ state, always, suggestions }: Permission): string {
  if (state === "denied") return "Denied."
  const rule = always === null ? undefined : suggestions[always]?.label
  return rule === undefined ? "Allowed." : `Allowed, and always: ${rule}`.slice(0, MOST_TOLD_UNITS)
}

/** What the messenger shows to whoever pressed. */
const MOST_TOLD_UNITS = 190

function lateWords({ state, answeredBy, reason }: Permission): string {
  if (state === "allowed" || state === "denied")
    return `It was ${state} already, by ${answeredBy}.`.slice(0, MOST_TOLD_UNITS)
  const why = reason ?? "nobody is waiting for this any longer"
  return `${why.slice(0, 1).toUpperCase()}${why.slice(1, MOST_TOLD_UNITS)}.`
}

const FILE_FROM_UNITS = 3_500

async function showAll(
  { store, clock, channel, redact }: ApprovalDeps,
  permission: Permission,
  at: ApprovalPlace,
): Promise<PressAnswer> {
  const { id, tool } = permission
  const text = wholeInput(permission, redact)
  const isFile = text.length > FILE_FROM_UNITS
  const about = `All of what is asked with ${tool}: ${text.length.toLocaleString("en")} characters`
  const payload = {
    kind: "answer" as const,
    chatId: at.chatId,
    threadId: at.threadId,
    body: isFile ? plain(about) : { text, marks: [{ kind: "pre" as const, offset: 0, length: text.length }] },
    ...(isFile && { file: { name: `${id}.txt`, text } }),
  }
  await store.deliveries.enqueue(
    toShow(`${channel}:full:${id}:${at.chatId}`, chatLane(at.chatId), channel, payload),
    clock.nowMs(),
  )
  return { text: "It comes below." }
}
