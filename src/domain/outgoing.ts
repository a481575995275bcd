import type { DeliveryState } from "./delivery.ts"
import type { SessionId } from "./ids.ts"
import type { RichText } from "./rich-text.ts"
import type { Topic } from "./topic.ts"

/**
 * What is still to be shown in a chat: the payload of a delivery on the messenger's channel. What was said in a session is
 * named by its turn and rendered when it is sent, so that what is forgotten meanwhile is not sent any more.
 */
export type Outgoing =
  /** A prompt or a reply. */
  | { kind: "turn"; topicId: string; seq: number; isPing: boolean }
  /** A tool that ran: one line of the topic's progress message. */
  | { kind: "line"; topicId: string; seq: number }
  /** Something about the session, in our own words. */
  | { kind: "note"; topicId: string; body: RichText; isPing: boolean; buttons?: OutgoingButton[][] }
  /** A permission that waits for a person. */
  | ({ kind: "approval"; permissionId: string } & ApprovalPlace)
  /** It was decided: the approval request says so, and its buttons go. */
  | ({ kind: "decided"; permissionId: string } & ApprovalPlace)
  /** What became of a message that somebody wrote. */
  | {
      kind: "receipt"
      chatId: string
      threadId: number | null
      messageId: number
      state: DeliveryState
      why: string | null
    }
  /** Why messages that somebody wrote wait, as a reply to the first; what it says is made when it is sent. */
  | { kind: "waiting"; topicId: string; noticeId: string; replyTo: number }
  /** It says what became of them. */
  | { kind: "waited"; topicId: string; noticeId: string }
  /** What a command, or a button press, is answered with. */
  | {
      kind: "answer"
      chatId: string
      threadId: number | null
      body: RichText
      replyTo?: number
      /** It makes a sound. */
      isPing?: boolean
      buttons?: OutgoingButton[][]
      file?: { name: string; text: string }
    }
  /** The progress message ends here: lines that no longer fit into it come as a file. */
  | { kind: "progress_end"; topicId: string }
  /** The topic takes this name, is closed, or is removed there. */
  | { kind: "topic"; topicId: string; change: { name?: string; isArchived?: boolean; isRemoved?: boolean } }

/** In its session's topic, or a copy of it in private. */
type ApprovalPlace = { topicId: string } | { chatId: string; threadId: number | null }

/** The key of the copy of an approval request that somebody got in private. */
export const approvalCopyKey = (permissionId: string, chatId: string) => `card-copy:${permissionId}:${chatId}`

export interface OutgoingButton {
  label: string
  data: string
}

/** Of one topic, in order. What waits for a person does not wait behind what was said. */
export const topicLane = ({ id }: Pick<Topic, "id">, isFirst = false) => (isFirst ? `topic:${id}!first` : `topic:${id}`)
/** Answers to commands in a chat. */
export const chatLane = (chatId: string) => `chat:${chatId}`
/** What is said of messages that wait, and what became of them. */
export const waitingLane = (noticeId: string) => `waiting:${noticeId}`
export const receiptLane = (chatId: string) => `receipts:${chatId}`

/** Where a message of a person came from, kept with it: so that it is not told back, and its receipt finds it. */
export interface MessageOrigin {
  channel: string
  chatId: string
  threadId: number | null
  messageId: number
  /** Who wrote it. */
  userId: string
  name: string
  /** The messages that it was sent as, and where their words are in the text. */
  parts?: MessagePart[]
}

export interface MessagePart {
  messageId: number
  /** -1 where the text is composed of more than words, as with files. */
  offset: number
  length: number
  /** Of the message's own words, so that an edit that changes nothing is known. */
  digest: string
}

/** What people may do by pressing a button, by how its data begins. Ids only: a button carries 64 bytes. */
export const BUTTON = {
  /** permission:<id>:<allow|deny|always-n|full|option-n…> */
  permission: "p",
  /** resume:<sessionId> */
  resume: "r",
} as const

export interface PressAnswer {
  /** Shown to the one who pressed. */
  text?: string
  /** It must be closed by hand: for what would be a surprise. */
  isAlert?: boolean
}

/** What a button press, or a reply to an approval request, is about: by its session or its team it is known who may do it. */
export interface Subject {
  sessionId: SessionId | null
  team: string | null
}

/** What a button press of somebody who may press leads to. `rest` is what follows the beginning. */
export interface ButtonHandler {
  beginning: string
  /** What it is about; undefined where that is kept no longer. Clients can send any data they like. */
  about(rest: string): Promise<Subject | undefined>
  press(
    rest: string,
    by: { userId: string; name: string },
    at: { chatId: string; threadId: number | null; messageId: number },
  ): Promise<PressAnswer>
}
