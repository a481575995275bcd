/** An error and how to fix it. */
export function Trouble({ text }: { text: string | undefined }) {
  return text === undefined ? null : (
    <p class="trouble" role="alert">
      {text}
    </p>
  )
}

/** Placeholder of about the final height, so that the page does not jump. */
export function Loading({ lines = 3 }: { lines?: number }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} />
      ))}
    </div>
  )
}
