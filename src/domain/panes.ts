/** A pane of tmux, and which one it was: numbers are given again by the next server, and a pane gets another program. */
export interface PaneAddress {
  socket: string
  serverPid: number
  /** When the server started, in seconds, as tmux tells it. */
  serverStart: number
  /** `%n`. */
  pane: string
  /** The program that tmux started in it. */
  panePid: number
}

export interface PaneLook {
  /** As on the screen now, without colours; blank lines at the end are there. */
  lines: string[]
  /** The same lines with blanks for what is faint: agents show hints so in an input line that is empty. */
  bright: string[]
  cursor: { column: number; row: number }
  /** Copy mode or another one: what is shown is not what the program draws, and tmux takes the keys. */
  isInMode: boolean
  isDead: boolean
  title: string
  /** What is in front in it: the name of the program that has the keyboard. */
  program: string
}

/** What must still be so in the very moment of writing. */
export interface PaneGuard {
  program: string
  cursor?: { column: number; row: number }
  /** In a mode, a key is written to the program without leaving the mode. */
  isInMode?: boolean
}

export type PaneKey = "Enter" | "Escape" | "C-s" | "C-u" | "C-c"

/** tmux. Each of these makes sure first that the pane is still the same, and says false or undefined when it is not. */
export interface Panes {
  /** Where a process says that it runs; undefined when there is no such server or pane. */
  identify(place: { socket: string; pane: string }): Promise<PaneAddress | undefined>
  /** Where the program runs that a session of this name was started with; undefined once it is gone. */
  find(place: { socket: string; name: string }): Promise<PaneAddress | undefined>
  look(address: PaneAddress): Promise<PaneLook | undefined>
  /** As one bracketed paste, byte for byte; nothing is submitted by it. */
  paste(address: PaneAddress, text: string, guard?: PaneGuard): Promise<boolean>
  key(address: PaneAddress, key: PaneKey, guard?: PaneGuard): Promise<boolean>
  /** A new session of tmux, in the server of this socket, with one program in it. */
  start(options: {
    socket: string
    name: string
    cwd: string
    argv: string[]
    env: Record<string, string>
  }): Promise<PaneAddress>
  /** Ends the session of tmux that the pane is in. */
  end(address: PaneAddress): Promise<boolean>
}
