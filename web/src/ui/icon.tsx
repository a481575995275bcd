const PATHS = {
  home: "M3 11 12 4l9 7v9h-6v-6H9v6H3z",
  search: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM20 20l-4.8-4.8",
  teams:
    "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zm8 0a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2.5 19c0-3 2.5-5 5.5-5s5.5 2 5.5 5M15 14.2c3 0 6.5 1.6 6.5 4.8",
  chart: "M4 20V10m6 10V4m6 16v-7m4 7H3",
  pulse: "M3 12h4l3-8 4 16 3-8h4",
} as const
export type IconName = keyof typeof PATHS

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="20" height="20" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}

/** The program's own; drawn here, because a file more is a request more. */
export function Mark({ size }: { size: number }) {
  return (
    <svg class="icon" viewBox="0 0 32 32" width={size} height={size} aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#2f6f62" />
      <path d="M5 21c5 0 5-10 11-10s6 10 11 10" fill="none" stroke="#fff" stroke-width="3" stroke-linecap="round" />
      <circle cx="16" cy="11" r="2.6" fill="#fff" />
    </svg>
  )
}
