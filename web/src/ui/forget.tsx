import { useSignal } from "@preact/signals"
import { ask } from "../api.ts"
import { go } from "../router.ts"
import { troubleOf } from "./ask.ts"
import { Dialog } from "./dialog.tsx"
import { counted } from "./time.tsx"
import { Trouble } from "./trouble.tsx"

/** Deletes a session permanently, after saying how much that is. */
export function Forget({ sessionId }: { sessionId: string }) {
  const isOpen = useSignal(false)
  const isSent = useSignal(false)
  const plan = useSignal<{ turns: number; thoughts: number } | undefined>(undefined)
  const trouble = useSignal<string | undefined>(undefined)
  const open = async () => {
    isOpen.value = true
    plan.value = trouble.value = undefined
    try {
      plan.value = await ask("forget", { sessionId, dryRun: true })
    } catch (error) {
      trouble.value = troubleOf(error)
    }
  }
  const forget = async () => {
    isSent.value = true
    try {
      await ask("forget", { sessionId })
      // Replace, so Back does not lead to the deleted session.
      go("/", { replace: true })
    } catch (error) {
      trouble.value = troubleOf(error)
    }
    isSent.value = false
  }
  return (
    <>
      <button type="button" class="button danger" onClick={() => void open()}>
        Delete…
      </button>
      <Dialog title="Delete this session permanently?" isOpen={isOpen.value} onClose={() => (isOpen.value = false)}>
        <p role="status">
          {plan.value ? `${amount(plan.value)} will be deleted.` : trouble.value === undefined && "Counting…"}
        </p>
        <p class="muted">
          They are removed from the database, the search index and the logs, and messages still queued for the session
          are cancelled. The agent’s own file is not touched; what is read from it again is not stored.
        </p>
        <Trouble text={trouble.value} />
        <div class="actions">
          <button
            type="button"
            class="button danger"
            disabled={plan.value === undefined || isSent.value}
            onClick={() => void forget()}
          >
            Delete permanently
          </button>
          <button type="button" class="button" onClick={() => (isOpen.value = false)}>
            Cancel
          </button>
        </div>
      </Dialog>
    </>
  )
}

const amount = ({ turns, thoughts }: { turns: number; thoughts: number }) =>
  [counted(turns, "message"), ...(thoughts > 0 ? [counted(thoughts, "thought")] : [])].join(" and ")
