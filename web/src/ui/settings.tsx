import { useSignal } from "@preact/signals"
import { ask } from "../api.ts"
import { troubleOf, useAsk } from "./ask.ts"
import { Trouble } from "./trouble.tsx"

type Setting = Awaited<ReturnType<typeof ask<"config.show">>>["settings"][number]

/** The effective settings and where each value comes from. Saving writes to the configuration file. */
export function Settings() {
  const changed = useSignal(0)
  const { value, trouble } = useAsk(() => ask("config.show", {}), { again: [changed.value] }).value
  return (
    <section class="section" aria-label="Settings">
      <h2>Settings</h2>
      <Trouble text={trouble} />
      {value?.trouble && (
        <p class="trouble" role="alert">
          The file is invalid: {value.trouble}. The daemon keeps the settings it started with; fix the file before the
          next start.
        </p>
      )}
      {value && (
        <>
          <p class="muted">
            In <code>{value.file}</code>. Team changes apply immediately; everything else after a restart.
          </p>
          {[...Map.groupBy(value.settings, ({ key }) => key.split(".", 1)[0]!)].map(([part, settings]) => (
            <fieldset key={part} class="rows">
              <legend>{part}</legend>
              {settings.map((setting) => (
                <One key={setting.key} setting={setting} onChanged={() => changed.value++} />
              ))}
            </fieldset>
          ))}
        </>
      )}
    </section>
  )
}

function One({ setting, onChanged }: { setting: Setting; onChanged(): void }) {
  const { key, value, source, description, isSecret, isSet } = setting
  const draft = useSignal<string | undefined>(undefined)
  const trouble = useSignal<string | undefined>(undefined)
  const saved = useSignal<{ undo?: string | undefined; isUndone: boolean } | undefined>(undefined)
  const write = async (text: string, isUndone: boolean) => {
    try {
      const { undo } = await ask("config.set", { key, value: text })
      draft.value = undefined
      trouble.value = undefined
      saved.value = { undo, isUndone }
      onChanged()
    } catch (error) {
      saved.value = undefined
      trouble.value = troubleOf(error)
    }
  }
  const field = {
    id: `setting ${key}`,
    autoComplete: "off",
    value: draft.value ?? value ?? "",
    onInput(event: { currentTarget: HTMLInputElement }) {
      draft.value = event.currentTarget.value
      saved.value = undefined
    },
  }
  return (
    <form
      class="setting"
      onSubmit={(event) => {
        event.preventDefault()
        void write(draft.peek() ?? "", false)
      }}
    >
      <label for={`setting ${key}`}>
        <span class="setting-key">
          <strong>{key}</strong>
          <span class="muted" title={source}>
            {source.split("/").at(-1)}
          </span>
        </span>
        <span class="muted">{description}</span>
        {isSecret ? (
          <input type="password" placeholder={isSet ? "set (hidden)" : ""} {...field} />
        ) : (
          <input type="text" {...field} />
        )}
      </label>
      {draft.value !== undefined && (
        <span class="actions">
          <button type="submit" class="button main-action">
            Save
          </button>
          <button type="button" class="button" onClick={() => (draft.value = undefined)}>
            Cancel
          </button>
        </span>
      )}
      <span class="actions" role="status">
        {saved.value && (
          <>
            <span class="saved">{saved.value.isUndone ? "Undone" : "Saved"}</span>
            {!saved.value.isUndone && saved.value.undo !== undefined && (
              <button type="button" class="button" onClick={() => void write(saved.peek()?.undo ?? "", true)}>
                Undo
              </button>
            )}
          </>
        )}
      </span>
      <Trouble text={trouble.value} />
    </form>
  )
}
