import { dirname } from "node:path"
import {
  ASK_PATH,
  HOOK_ENV,
  HOOK_PATH,
  MAX_HOOK_BYTES,
  MISSED_START,
  PROMPT_EVENTS,
  WAIT_PATH,
  WAITING_SINCE,
} from "../domain/hook.ts"

/** The daemon answers in a few milliseconds; one that hangs costs the agent this much, and the event goes to the spool. */
const MAX_SECONDS = "0.3"
/** Building a session's context takes longer. */
const MAX_START_SECONDS = "1.5"
/** A reply at the end of a turn is lost once the hook has gone. */
const MAX_STOP_SECONDS = "1.5"
/** Longer than the daemon lets a background hook wait before it has to ask again. */
const MAX_WAIT_SECONDS = "70"
/** The daemon accepts a question at once; if it hangs, the terminal asks. */
const MAX_ASK_SECONDS = "5"
/** How often a hook with an accepted question looks for a restarted daemon, once a second. */
const LOOK_TIMES = 60
/** Tenths of a second that the first prompt waits for a daemon that was just started. */
const FIRST_TRIES = 14
/** Together with that wait, less than the three seconds after which Codex kills a hook. */
const MAX_FIRST_SECONDS = "1.2"
/** Without a daemon the spool must not fill the disk. */
const MAX_SPOOLED = 10_000
/** How much of a payload is searched for the event's name. */
const MAX_MATCHED = 16_384

export interface ScriptPlaces {
  socket: string
  spoolDir: string
  /** Starts a daemon where the last one has crashed. */
  program: { node: string; entry: string }
}

/** The script that agents' hooks run: POSIX sh, because that starts ten times as fast as Node. */
export function hookScript({ socket, spoolDir, program }: ScriptPlaces): string {
  const isElsewhere = dirname(socket) !== dirname(spoolDir)
  return `#!/bin/sh
# Written by \`throughline setup\`. An agent's hook runs it with the name of the agent, and what happened on stdin.
# It hands that to Throughline's daemon, or leaves it in the spool, where the daemon finds it.
# It never disturbs the agent: no failure, and never longer than a moment. What it prints is what the daemon has to say to
# a session that begins or a turn that ends; of everything else there is no output.
# With the word "wait" it runs in the background of the agent until the daemon has something to wake it with.
# With the word "ask" it waits for a person's word, if the daemon knows of somebody who can be asked, and prints that. When
# there is nobody, or no daemon, it prints nothing, and the agent's own dialog stays as it is. It never allows anything on its own.
exec 3>&1 4>&2 >/dev/null 2>&1
[ -t 0 ] && exit 0
case \${2-} in wait | ask) ;; *) trap '' HUP INT TERM PIPE ;; esac
umask 077
socket=${quoted(socket)}${isElsewhere ? checkedFolder(dirname(socket)) : ""}
spool=${quoted(spoolDir)}
agent=\${1:-unknown} mode=\${2-}

now=$(date +%s%N)
case $now in '' | *[!0-9]*) now=\${now%%[!0-9]*}000000000 exact= ;; *) exact=1 ;; esac
# More than an agent sends is not read, so that a stream without an end does not keep the agent.
payload=$(head -c ${MAX_HOOK_BYTES})
set -- -H "throughline-key: $now-$$" -H "throughline-at: $now" -H "throughline-env-PPID: $PPID"
for name in ${HOOK_ENV.join(" ")}; do
  eval "value=\\\${$name-}"
  case $value in '' | *[[:cntrl:]]*) ;; *) set -- "$@" -H "throughline-env-$name: $value" ;; esac
done

if [ "$mode" = wait ]; then
  # In print mode nobody is there to be woken, and there, as in versions before ${WAITING_SINCE.join(".")}, the agent would wait for it.
  [ "\${CLAUDE_CODE_ENTRYPOINT-}" = cli ] && command -v curl || exit 0
  version=\${AI_AGENT#claude-code_} version=\${version%%_*} major=\${version%%-*} rest=\${version#*-}
  minor=\${rest%%-*} patch=\${rest#*-}
  [ "$major" -gt ${WAITING_SINCE[0]} ] || { [ "$major" -eq ${WAITING_SINCE[0]} ] && [ "$minor" -gt ${WAITING_SINCE[1]} ]; } ||
    { [ "$major.$minor" = ${WAITING_SINCE[0]}.${WAITING_SINCE[1]} ] && [ "$patch" -ge ${WAITING_SINCE[2]} ]; } || exit 0
  while kill -0 "$PPID"; do
    reply=$(printf '%s' "$payload" | curl -q -s --noproxy '*' --max-time ${MAX_WAIT_SECONDS} -w '\\n%{http_code}' \\
      --unix-socket "$socket" -H 'content-type: application/json' -H 'expect:' "$@" --data-binary @- \\
      "http://localhost${WAIT_PATH}/$agent")
    case $reply in
    *'
200') printf '%s' "\${reply%???}" >&4 && exit 2 ;;
    *'
204') exit 0 ;;
    *'
202') ;;
    *) sleep 1 ;;
    esac
  done
  exit 0
fi

if [ "$mode" = ask ]; then
  case \${CLAUDE_CODE_ENTRYPOINT-} in sdk*) exit 0 ;; esac
  [ -S "$socket" ] && command -v curl || exit 0
  set -- "$@" -H "throughline-env-HOOK_PID: $$"
  held= most=${MAX_ASK_SECONDS} left=${LOOK_TIMES}
  while kill -0 "$PPID" && [ $left -gt 0 ]; do
    reply=$(printf '%s' "$payload" | curl -q -s --noproxy '*' --max-time $most -w '\\n%{http_code}' \\
      --unix-socket "$socket" -H 'content-type: application/json' -H 'expect:' "$@" --data-binary @- \\
      "http://localhost${ASK_PATH}/$agent$held")
    case $reply in
    *'
200') # An agent that reads no longer ends this here; what it read is confirmed.
      printf '%s\\n' "\${reply%????}" >&3 && curl -q -s --noproxy '*' --max-time ${MAX_SECONDS} \\
        --unix-socket "$socket" -H 'expect:' "$@" -d '' "http://localhost${ASK_PATH}/$agent?taken"
      exit 0 ;;
    *'
202') held='?held' most=${MAX_WAIT_SECONDS} left=${LOOK_TIMES} ;;
    *'
000') [ "$held" ] || exit 0
      left=$((left - 1)) && sleep 1 ;;
    *) exit 0 ;;
    esac
  done
  exit 0
fi

begins= tries=1
# The event is named at the beginning; matching these patterns takes the square of the length.
seen=$payload
[ \${#payload} -gt ${MAX_MATCHED} ] && seen=$(printf '%.${MAX_MATCHED}s' "$payload")
case $seen in
*'"hook_event_name"'*[sS]essionStart* | *'"hook_event_name":"session.created"'* | *'"hook_event_name":"plugin.loaded"'*)
  begins=1 most=${MAX_START_SECONDS} ;;
*[sS]essionStart*) most=${MAX_START_SECONDS} ;;
*'"hook_event_name":"Stop"'*) most=${MAX_STOP_SECONDS} ;;
${PROMPT_EVENTS.map(patternOf).join(" | ")})
  # After a start that no daemon heard, the first prompt is answered with what that start would have been told.
  [ -f "$spool/${MISSED_START}" ] && rm -f "$spool/${MISSED_START}" && most=${MAX_FIRST_SECONDS} tries=${FIRST_TRIES} || most=${MAX_SECONDS} ;;
*) most=${MAX_SECONDS} ;;
esac
while [ -S "$socket" ] && [ $tries -gt 0 ]; do
  reply=$(printf '%s' "$payload" | curl -q -sf --noproxy '*' --max-time $most \\
    --unix-socket "$socket" -H 'content-type: application/json' -H 'expect:' "$@" --data-binary @- \\
    "http://localhost${HOOK_PATH}/$agent") && {
    [ -z "$reply" ] || printf '%s\\n' "$reply" >&3
    exit 0
  }
  # 7: nobody listens, so nothing was said twice. Anything else is not tried again.
  [ $? -eq 7 ] && tries=$((tries - 1)) || tries=0
  [ $tries -eq 0 ] || sleep 0.1 || tries=0
  # On a busy machine each try takes longer.
  [ $tries -eq 0 ] || [ -z "$exact" ] || [ "$(date +%s%N)" -lt $((now + ${FIRST_TRIES}00000000)) ] || tries=0
done

# Names sort by time. Where date does not know nanoseconds, perl does.
[ "$exact" ] || now=$(perl -MTime::HiRes=time -e 'printf "%.0f", time * 1e9') || now=$(date +%s)000000000
[ -d "$spool" ] || mkdir -p "$spool"
file=$now-$$
{
  printf 'throughline-hook 1\\nplatform: %s\\n' "$agent"
  for line in "$@"; do [ "$line" = -H ] || printf '%s\\n' "$line"; done
  printf '\\n%s' "$payload"
} >"$spool/.$file" || exit 0
set -- "$spool"/*
[ $# -gt ${MAX_SPOOLED} ] && rm -f "$spool/.$file" || mv "$spool/.$file" "$spool/$file.hook"

# A socket that nobody listens on is what a daemon leaves behind that was killed; one that was stopped takes it away.
if [ "$begins" ] && [ -S "$socket" ]; then
  : >"$spool/${MISSED_START}"
  detached=$(command -v setsid)
  (
    trap - HUP INT TERM PIPE
    THROUGHLINE_HOME=${quoted(dirname(spoolDir))}
    export THROUGHLINE_HOME
    exec $detached ${quoted(program.node)} ${quoted(program.entry)} start
  ) </dev/null >/dev/null 2>&1 3>&- 4>&- &
fi
exit 0
`
}

/** In the temporary directory another user could have made the folder first, and answer in the daemon's place. */
const checkedFolder = (dir: string) => `
folder=${quoted(dir)}
{ [ -O "$folder" ] && [ ! -L "$folder" ]; } || socket=/dev/null/none`

/** A name that could be words of a prompt is matched with its field. */
const patternOf = (event: string) => (/^\w+$/.test(event) ? `*${event}*` : `*'"hook_event_name":"${event}"'*`)

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
