import { analytics } from "./analytics.ts"
import { resumeSessionContext } from "./brief.ts"
import { configSet, configShow } from "./config.ts"
import { extractSessionHistory, logConversationExchange, syncConversationHistory } from "./conversations.ts"
import { dashboardKey } from "./dashboard.ts"
import { forget } from "./forget.ts"
import { handoff } from "./handoff.ts"
import { init } from "./init.ts"
import { sessionsLive } from "./live.ts"
import { noticesDismiss, noticesList, noticesShow } from "./notices.ts"
import type { Operation } from "./operation.ts"
import { audit, permissionsAnswer, permissionsList } from "./permissions.ts"
import { projectsList } from "./projects.ts"
import { queueCancel, queueSettle, queueShow, queueStatus, queueStuck, sendMessage } from "./queue.ts"
import { reindex } from "./reindex.ts"
import { resume } from "./resume.ts"
import { search, searchConversationHistory } from "./search.ts"
import {
  sessionsArchive,
  sessionsExport,
  sessionsLink,
  sessionsList,
  sessionsOutline,
  sessionsPin,
  sessionsRename,
  sessionsShow,
  sessionsTurns,
} from "./sessions.ts"
import { importNow, sources, sourcesTrust, sourcesUntrust } from "./sources.ts"
import { doctor, status } from "./system.ts"
import { taskState } from "./task-state.ts"
import { down, teamsAdd, teamsImport, teamsList, teamsRemove, up } from "./teams.ts"
import { teamsAsk, teamsFollow, teamsNotify, teamsSendMessage } from "./teams-ask.ts"
import { teamsAdopt, teamsControl, teamsStatus, teamsThreads } from "./teams-status.ts"
import { telegramPair, telegramStatus, telegramTest, telegramUsers, telegramUsersRemove } from "./telegram.ts"
import { thought } from "./thought.ts"
import { pullUpdates, teamsRestarts } from "./updates.ts"
import { waiting } from "./waiting.ts"

/** To add an operation, write it in its noun's file and name it here. */
const all = [
  init,
  thought,
  searchConversationHistory,
  resumeSessionContext,
  taskState,
  search,
  resume,
  reindex,
  logConversationExchange,
  syncConversationHistory,
  extractSessionHistory,
  sources,
  sourcesTrust,
  sourcesUntrust,
  importNow,
  forget,
  handoff,
  sendMessage,
  queueStatus,
  queueShow,
  queueCancel,
  queueStuck,
  queueSettle,
  projectsList,
  sessionsList,
  sessionsShow,
  sessionsLive,
  sessionsOutline,
  sessionsTurns,
  sessionsRename,
  sessionsPin,
  sessionsArchive,
  sessionsLink,
  sessionsExport,
  pullUpdates,
  teamsList,
  teamsRestarts,
  teamsAdd,
  teamsRemove,
  teamsImport,
  up,
  down,
  teamsAsk,
  teamsSendMessage,
  teamsNotify,
  noticesList,
  noticesShow,
  noticesDismiss,
  teamsStatus,
  teamsThreads,
  teamsControl,
  teamsAdopt,
  teamsFollow,
  permissionsList,
  permissionsAnswer,
  waiting,
  audit,
  analytics,
  telegramStatus,
  telegramTest,
  telegramPair,
  telegramUsers,
  telegramUsersRemove,
  status,
  doctor,
  configShow,
  configSet,
  dashboardKey,
] as const

/** The exact types, for the typed client. */
export type Operations = { [Op in (typeof all)[number] as Op["name"]]: Op }

export const operations = all as unknown as readonly Operation[]
