import type { ComponentType } from "preact"
import { isKnown } from "./api.ts"
import { isConnected } from "./events.ts"
import { KeyHelp, useKeys } from "./keys.tsx"
import { Analytics } from "./pages/analytics.tsx"
import { Home } from "./pages/home.tsx"
import { Search } from "./pages/search.tsx"
import { Session } from "./pages/session.tsx"
import { Sources } from "./pages/sources.tsx"
import { Teams } from "./pages/teams.tsx"
import { follow, path } from "./router.ts"
import { Empty } from "./ui/empty.tsx"
import { Icon, type IconName } from "./ui/icon.tsx"

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
  if (!isKnown.value) return <Locked />
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: links are followed by the keyboard too; this only keeps them in the page.
    // biome-ignore lint/a11y/noStaticElementInteractions: as above.
    <div class="shell" onClick={follow}>
      <nav class="nav" aria-label="Pages">
        <a class="brand" href="/">
          <img src="/icon.svg" alt="" width="24" height="24" />
          <span>Throughline</span>
        </a>
        {PAGES.map(({ label, icon, path: to }) => (
          <a key={to} href={to} class="nav-link" aria-current={isAt(to) ? "page" : undefined}>
            <Icon name={icon} />
            <span>{label}</span>
          </a>
        ))}
        <span class="nav-end" role="status">
          {isConnected.value ? <span class="dot dot-good" /> : <span class="dot dot-wait" />}
          <span>{isConnected.value ? "live" : "connecting"}</span>
        </span>
      </nav>
      <main class="main">
        <Shown />
      </main>
      <KeyHelp />
    </div>
  )
}

function Shown() {
  if (path.value.startsWith("/sessions/"))
    return <Session key={path.value} id={path.value.slice("/sessions/".length)} />
  const page = PAGES.find((one) => one.path === path.value)
  return page ? <page.show /> : <Empty title="Nothing is here" hint="Go home by the mark in the corner." />
}

const isAt = (to: string) => path.value === to || (to === "/" && path.value.startsWith("/sessions/"))

function Locked() {
  return (
    <main class="locked">
      <img src="/icon.svg" alt="" width="48" height="48" />
      <h1>Open it from your terminal</h1>
      <p>
        This page shows your conversations, so it must know that it is you. Run <code>throughline dashboard</code>: it
        opens the page with the key in it.
      </p>
    </main>
  )
}
