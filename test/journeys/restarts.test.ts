import { type FakeAgents, makeFakeAgents } from "../fixtures/fake-agents.ts"
import { restartStories } from "../fixtures/restart-stories.ts"

restartStories("the fake agent", (home) => {
  const fakes: FakeAgents = makeFakeAgents(home)
  return {
    argv: [fakes.program, "--permission-mode", "default"],
    env: { ...home.env, LANG: "C.UTF-8", TERM: "xterm-256color" } as Record<string, string>,
    hasModel: false,
    end: () => fakes.end(),
  }
})
