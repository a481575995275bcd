import type { Kysely } from "kysely"
import type { StoreDialect } from "../dialects/dialect.ts"
import type { Tables } from "../schema.ts"
import * as house from "./0001_house.ts"
import * as archive from "./0002_archive.ts"
import * as runs from "./0003_runs.ts"
import * as forgotten from "./0004_forgotten.ts"
import * as words from "./0005_words.ts"
import * as turnsByTime from "./0006_turns_by_time.ts"
import * as codexSources from "./0007_codex_sources.ts"
import * as queue from "./0008_queue.ts"
import * as pairs from "./0009_pairs.ts"
import * as channels from "./0010_channels.ts"
import * as aging from "./0011_aging.ts"
import * as thoughtsOnce from "./0012_thoughts_once.ts"
import * as topicMessages from "./0013_topic_messages.ts"
import * as origin from "./0014_origin.ts"
import * as ownSessions from "./0015_own_sessions.ts"
import * as teamChats from "./0016_team_chats.ts"
import * as waitNotices from "./0017_wait_notices.ts"
import * as fetched from "./0018_fetched.ts"
import * as loggedBy from "./0019_logged_by.ts"
import * as conversationFiles from "./0020_conversation_files.ts"
import * as sessionDomain from "./0021_session_domain.ts"
import * as indexLeavesPostgres from "./0022_index_leaves_postgres.ts"

export interface StoreMigration {
  up(db: Kysely<Tables>, dialect: StoreDialect): Promise<void>
}

/** Numbered and named for what they do; a released one is never edited. */
export const migrations: Record<string, StoreMigration> = {
  "0001_house": house,
  "0002_archive": archive,
  "0003_runs": runs,
  "0004_forgotten": forgotten,
  "0005_words": words,
  "0006_turns_by_time": turnsByTime,
  "0007_codex_sources": codexSources,
  "0008_queue": queue,
  "0009_pairs": pairs,
  "0010_channels": channels,
  "0011_aging": aging,
  "0012_thoughts_once": thoughtsOnce,
  "0013_topic_messages": topicMessages,
  "0014_origin": origin,
  "0015_own_sessions": ownSessions,
  "0016_team_chats": teamChats,
  "0017_wait_notices": waitNotices,
  "0018_fetched": fetched,
  "0019_logged_by": loggedBy,
  "0020_conversation_files": conversationFiles,
  "0021_session_domain": sessionDomain,
  "0022_index_leaves_postgres": indexLeavesPostgres,
}
