import { safeColour } from "./colour.ts"

/** A team's name with its colour swatch. */
export function Team({ name, color }: { name: string; color?: string | undefined }) {
  const backgroundColor = safeColour(color)
  return (
    <>
      {backgroundColor && (
        <span class="swatch" style={{ backgroundColor }} title={backgroundColor} aria-hidden="true" />
      )}
      {name}
    </>
  )
}
