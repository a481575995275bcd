import { useSignal } from "@preact/signals"
import { ask } from "../api.ts"
import { agentLabel } from "./agent.tsx"
import { troubleOf } from "./ask.ts"
import { Copy } from "./copy.tsx"
import { Dialog } from "./dialog.tsx"
import { Trouble } from "./trouble.tsx"

const AGENTS = ["claude-code", "codex"]

/** Continues a session in another agent. */
export function Handoff({ sessionId }: { sessionId: string }) {
  const isOpen = useSignal(false)
  const made = useSignal<{ to: string; command?: string | undefined; file?: string | undefined } | undefined>(undefined)
  const trouble = useSignal<string | undefined>(undefined)
  const handOff = async (to: string) => {
    try {
      const { command, path, promptFile } = await ask("handoff", { sessionId, to })
      made.value = { to, command, file: path ?? promptFile }
      trouble.value = undefined
    } catch (error) {
      trouble.value = troubleOf(error)
    }
  }
  return (
    <>
      <button type="button" class="button" onClick={() => (isOpen.value = true)}>
        Continue in…
      </button>
      <Dialog title="Continue in another agent" isOpen={isOpen.value} onClose={() => (isOpen.value = false)}>
        <div class="actions">
          {AGENTS.map((to) => (
            <button key={to} type="button" class="button" onClick={() => handOff(to)}>
              {agentLabel(to)}
            </button>
          ))}
        </div>
        <Trouble text={trouble.value} />
        {made.value && (
          <p>
            Continue in {agentLabel(made.value.to)}:{" "}
            {made.value.command ? (
              <Copy text={made.value.command} label="Copy command" />
            ) : (
              <code>{made.value.file}</code>
            )}
          </p>
        )}
      </Dialog>
    </>
  )
}
