import { agents, claudeEnv } from "../fixtures/agents.ts"
import { restartStories } from "../fixtures/restart-stories.ts"

restartStories("the real Claude Code", (home, modelUrl, cwd) => ({
  argv: [agents.claude("claude-new"), "--permission-mode", "default"],
  env: claudeEnv(home, modelUrl, cwd),
  hasModel: true,
}))
