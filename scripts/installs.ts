/** What a whole test run needs beyond `npm ci`. */
const SYSTEM_PACKAGES = ["chromium", "curl", "fish", "git", "tmux", "zsh"]
const AGENTS_SIZE = "1.6 GB"

export interface Surroundings {
  isOnPath(command: string): boolean
  mayInstallPackages: boolean
  /** The agents of the current lock file are installed. */
  hasAgents: boolean
}

export interface Install {
  /** Debian packages to install. */
  packages: string[]
  /** Programs that are missing and that we may not install. */
  unavailable: string[]
  agents: boolean
}

export function missingInstalls({ isOnPath, mayInstallPackages, hasAgents }: Surroundings): Install {
  const missing = SYSTEM_PACKAGES.filter((name) => !isOnPath(name))
  return {
    packages: mayInstallPackages ? missing : [],
    unavailable: mayInstallPackages ? [] : missing,
    agents: !hasAgents,
  }
}

/** One line per thing, or undefined when there is nothing to say. */
export function announcement({ packages, unavailable, agents }: Install): string | undefined {
  const lines = [
    ...(packages.length > 0 ? [`will install Debian packages system-wide: ${packages.join(", ")}`] : []),
    ...(agents ? [`will install the real coding agents into test/agents (${AGENTS_SIZE}, once per lock file)`] : []),
    ...(unavailable.length > 0
      ? [`missing: ${unavailable.join(", ")}; tests that need them will fail until you install them`]
      : []),
  ]
  return lines.length === 0 ? undefined : `this test run needs more than npm ci brought:\n  ${lines.join("\n  ")}`
}
