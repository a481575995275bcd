import { safeColour } from "./colour.ts"

/** A team's name, after a square in the colour that its owner chose. */
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
