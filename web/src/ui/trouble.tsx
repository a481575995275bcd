/** What went wrong, and what to do about it. */
export function Trouble({ text }: { text: string | undefined }) {
  return text === undefined ? null : (
    <p class="trouble" role="alert">
      {text}
    </p>
  )
}

/** Holds the place of what is still to come, so that nothing jumps when it is there. */
export function Loading({ lines = 3 }: { lines?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  )
}
