import type { ComponentType } from "preact"
import { isConnected } from "./events.ts"
import { KeyHelp, useKeys } from "./keys.tsx"
import { Home } from "./pages/home.tsx"
import { Search } from "./pages/search.tsx"
import { follow, path } from "./router.ts"
import { isKnown } from "./session.ts"
import { Empty } from "./ui/empty.tsx"
import { Icon, type IconName, Mark } from "./ui/icon.tsx"
import { lazily } from "./ui/lazily.tsx"
import { useWaits, waitingCount } from "./ui/waits.ts"

const Analytics = lazily(async () => (await import("./pages/analytics.tsx")).Analytics)
const Session = lazily(async () => (await import("./pages/session.tsx")).Session)
const Sources = lazily(async () => (await import("./pages/sources.tsx")).Sources)
const Teams = lazily(async () => (await import("./pages/teams.tsx")).Teams)

interface Page {
  label: string
  icon: IconName
  path: string
  show: ComponentType
}

export const PAGES: readonly Page[] = [
  { label: "Home", icon: "home", path: "/", show: Home },
  { label: "Search", icon: "search", path: "/search", show: Search },
  { label: "Teams", icon: "teams", path: "/teams", show: Teams },
  { label: "Analytics", icon: "chart", path: "/analytics", show: Analytics },
  { label: "Health", icon: "pulse", path: "/health", show: Sources },
]

export function App() {
  useKeys()
  return isKnown.value ? <Frame /> : <Locked />
}

function Frame() {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: links are followed by the keyboard too; this only keeps them in the page.
    // biome-ignore lint/a11y/noStaticElementInteractions: as above.
    <div class="shell" onClick={follow}>
      <nav class="nav" aria-label="Pages">
        <a class="brand" href="/">
          <Mark size={24} />
          <span>Throughline</span>
        </a>
        {PAGES.map(({ label, icon, path: to }) => (
          <a key={to} href={to} class="nav-link" aria-current={isAt(to) ? "page" : undefined}>
            <Icon name={icon} />
            <span>{label}</span>
            {to === "/" && waitingCount.value > 0 && (
              <span class="count">
                {waitingCount.value}
                <span class="sr-only"> pending</span>
              </span>
            )}
          </a>
        ))}
        <span class="nav-end" role="status">
          {isConnected.value ? <span class="dot dot-good" /> : <span class="dot dot-wait" />}
          <span>{isConnected.value ? "Live" : "Reconnecting"}</span>
        </span>
      </nav>
      <main class="main">
        <Shown />
      </main>
      <KeyHelp />
      <Watch />
    </div>
  )
}

function Watch() {
  useWaits()
  return null
}

function Shown() {
  if (path.value.startsWith("/sessions/"))
    return <Session key={path.value} id={path.value.slice("/sessions/".length)} />
  const page = PAGES.find((one) => one.path === path.value)
  return page ? <page.show /> : <Empty title="Page not found" hint={<a href="/">Go to Home</a>} />
}

const isAt = (to: string) => path.value === to || (to === "/" && path.value.startsWith("/sessions/"))

function Locked() {
  return (
    <main class="locked">
      <Mark size={48} />
      <h1>Sign in from your terminal</h1>
      <p>
        This page shows your conversations, so it needs your key. Run <code>throughline dashboard</code> to open it
        signed in. The key is valid until the daemon stops.
      </p>
    </main>
  )
}
