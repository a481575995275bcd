import { COMMAND_RULES } from "./commands.ts"
import { GAP, NEXT_LINE } from "./lines.ts"
import type { Rule } from "./rules.ts"

/** Word start, also after a line break in JSON. */
const START = "(?:\\b|(?<=\\\\[nrt]))"
const QUOTE = "(?:\\\\{0,3}[\"'])?"
/** The line or bracket that opens a block. */
const BLOCK = `[ \\t]{0,4}\\{?${GAP}{0,16}`
/** A name with a base64 value. */
const ENTRY = `${QUOTE}(?!kind\\b)[\\w.-]{1,60}${QUOTE}:[ \\t]?${QUOTE}[A-Za-z0-9+/]{4,8000}={0,2}${QUOTE}`
/** Atomic group, to prevent backtracking. */
const ENTRIES = `(?=(${ENTRY}(?:,?${GAP}{1,20}${ENTRY}|,${ENTRY}){0,30}))\\1`
const BLANK = `${GAP}{1,12}`

/** Secrets recognised by the file, header or sentence around them. */
const PLACED: readonly Rule[] = [
  {
    kind: "netrc-password",
    anchors: ["login", "account"],
    pattern: new RegExp(
      `(?:login|account)${BLANK}\\S{1,100}?${BLANK}(?:account${BLANK}\\S{1,60}?${BLANK})?password${BLANK}([^\\s\\\\"']{4,200})`,
      "y",
    ),
    looks: "password",
  },
  {
    kind: "netrc-password",
    anchors: ["machine"],
    pattern: new RegExp(`machine${BLANK}\\S{1,100}?${BLANK}password${BLANK}([^\\s\\\\"']{4,200})`, "y"),
    looks: "password",
  },
  {
    kind: "pgpass",
    anchors: [":5432:", ":5433:", ":5434:", ":6432:", ":26257:", ":*:"],
    pattern: /:(?:\d{4,5}|\*):[\w*$.-]{1,63}:[\w*$.@-]{1,63}:((?:[^\s:\\"']|\\[:\\]){4,200})(?=$|\s|\\{1,3}[nr]|["'])/y,
    looks: "password",
  },
  {
    kind: "cookie",
    anchors: ["cookie"],
    pattern: /cookie["']?\s{0,3}[:,]\s{0,3}\\{0,3}["']?[\w.%-]{1,60}=\\{0,3}["']?([^\s;"'\\,]{8,4000})/iy,
    looks: "cookie",
  },
  {
    kind: "cookie",
    anchors: ["cookie:"],
    pattern: /cookie:\s{0,3}((?:[\w.%-]{1,60}=[^;\s"'\\]{0,4000}(?:;\s?|(?=$|["'\\\s]))){2,60})/iy,
    looks: "cookie",
  },
  {
    kind: "session-cookie",
    anchors: [
      "phpsessid=",
      "jsessionid=",
      "connect.sid=",
      "sessionid=",
      "session_id=",
      "session-token=",
      "_session=",
      "aspxauth=",
      "asp.net_sessionid=",
      "laravel_session=",
      "csrftoken=",
      "xsrf-token=",
    ],
    pattern: /[\w.-]{4,20}=((?:[\w.~+/-]|%[0-9a-f]{2}){16,4000}={0,2})/iy,
    looks: "cookie",
  },
  {
    kind: "passphrase",
    anchors: ["passphrase", "password", "pass_phrase", "pass-phrase"],
    pattern:
      /pass(?:[_-]?phrase|word)[\\"'\]]{0,8}\s{0,4}[:=]\s{0,4}\\{0,7}(["'])([A-Za-z]{3,12}(?:[ ._-][A-Za-z0-9]{3,15}){3,11})(?=\\{0,7}\1|$)/iy,
    looks: "passphrase",
  },
  {
    kind: "passphrase",
    anchors: ["passphrase", "pass_phrase", "pass-phrase"],
    pattern:
      /pass[_-]?phrase[\\"'\]]{0,8}\s{0,4}(?:[:=]|\sis\s)\s{0,4}([A-Za-z]{3,12}(?:[ ._-][A-Za-z0-9]{3,15}){3,11})(?=$|["'\\]|\s{0,4}(?:[\n\r#,;}]|\\[nr]|$))/iy,
    looks: "passphrase",
  },
  {
    kind: "passphrase",
    anchors: ["passphrase", "pass_phrase", "pass-phrase"],
    pattern: /pass[_-]?phrase[\\"'\]]{0,8}\s{0,4}[:=]\s{0,4}\\{0,7}["']?([\w!@#%^*+~.?$&-]{8,200})/iy,
    looks: "anyPassword",
  },
  {
    kind: "docker-auth",
    anchors: ['auth":', 'auth\\":', "auth':", "_auth=", "_auth ="],
    pattern: /_?auth\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}["']?([A-Za-z0-9+/]{12,}={0,2})/iy,
    looks: "userAndPassword",
  },
  {
    kind: "kubernetes-secret",
    anchors: ["kind: secret", 'kind":"secret', 'kind": "secret'],
    pattern: new RegExp(
      `kind${QUOTE}:\\s?${QUOTE}secret\\b[\\s\\S]{0,400}?${START}data${QUOTE}:${BLOCK}${ENTRIES}`,
      "iy",
    ),
    looks: "encodedEntries",
  },
  {
    // kubectl sorts fields: `data` comes before `kind`.
    kind: "kubernetes-secret",
    anchors: ["data:\n", "data:\r\n", "data:\\n", "data:\\\\n", 'data":{', 'data": {', 'data\\":{', 'data\\": {'],
    pattern: new RegExp(
      `${START}data${QUOTE}:${BLOCK}${ENTRIES}(?=[\\s\\S]{0,200}?${START}kind${QUOTE}:\\s?${QUOTE}secret\\b)`,
      "iy",
    ),
    looks: "encodedEntries",
  },
  {
    kind: "password",
    anchors: ['password" value=', "password' value=", "cleartextpassword"],
    pattern: /password["']\s{0,4}value=\\{0,3}["']([^"'\\\s]{4,200})/iy,
    looks: "password",
  },
  {
    kind: "password",
    anchors: ["<password>", "<passphrase>", "<secret>", "<apikey>", "<token>"],
    pattern: /<(?:password|passphrase|secret|apikey|token)>([^<>\s]{4,400})(?=<\/)/iy,
    looks: "anyPassword",
  },
  {
    kind: "password",
    anchors: ["pass=", "pass:", "pass =", 'pass"', "pass'", "pass\\"],
    // In quotes; the next rule takes unquoted values, alone on their line.
    pattern:
      /(?:(?<![A-Za-z])pass|PASS|(?<=[a-z])Pass)[\\"'\]]{0,4}\s{0,4}(?:=>|[:=])[ \t]{0,8}\\{0,3}(["'`])([!#-&(-[\]-_a-~]{8,200})(?=\\{0,3}\1)/y,
    looks: "strong",
  },
  {
    kind: "password",
    anchors: ["pass=", "pass:", "pass ="],
    pattern:
      /(?:(?<![A-Za-z])pass|PASS)\s?[:=][ \t]{0,8}([\w~!@#%^*+=/.?$-]{8,200})(?=[ \t]*(?:$|[\r\n#"'`]|\\{1,3}[nr]))/y,
    looks: "strong",
  },
  {
    kind: "password",
    anchors: ["requirepass", "masterauth", "bindpw", "rootpw"],
    pattern:
      /(?:(?<![\w-])|(?<=\\[nr]))(?:requirepass|masterauth|(?:olc)?(?:bindpw|rootpw))\s{1,8}\\{0,3}["']?([^\s"'\\]{6,200})/iy,
    looks: "anyPassword",
  },
  {
    kind: "password",
    anchors: ["> auth "],
    pattern: /(?<=:\d{4,5})> auth (?:\S{1,60} )?([^\s"'\\]{6,200})/iy,
    looks: "anyPassword",
  },
  {
    kind: "sql-password",
    anchors: ["password '", 'password \\"', 'password "'],
    pattern: /(?<=(?:user|role)\s[^;\n]{0,200}?)password\s\\{0,3}["']([^"'\n\\]{4,200})(?=\\{0,3}["'])/iy,
    looks: "password",
  },
  {
    kind: "sql-password",
    anchors: ["identified "],
    pattern:
      /(?<=\b(?:user|grant)\s[^;\n]{0,200}?)identified\s(?:with\s[\w'"`]{1,60}\s)?(?:by|as)\s(?:password\s)?\\{0,3}["']([^"'\n\\]{4,200})(?=\\{0,3}["'])/iy,
    looks: "password",
  },
  {
    kind: "password",
    anchors: ["password", "passphrase"],
    pattern: new RegExp(
      `pass(?:word|phrase)[^\\n\\\\]{0,10}\\\\{0,3}[^\\n\\\\]{0,10}${NEXT_LINE}[ \\t]{0,12}(?:[\\w.]{0,30}send(?:line)?)[\\s(]{1,3}(?:--\\s)?\\\\{0,3}["']([^"'\\\\\\n]{4,200})`,
      "iy",
    ),
    looks: "password",
  },
  {
    kind: "password",
    anchors: ["convertto-securestring"],
    pattern: /convertto-securestring\s(?:-string\s)?\\{0,3}["']([^"'\\\n]{4,200})/iy,
    looks: "password",
  },
  {
    kind: "wifi-password",
    anchors: ["psk=", "psk ="],
    pattern: /(?<![A-Za-z])psk\s?=\s?\\{0,3}["']?([^\s"'\\]{8,64})/iy,
    looks: "anyPassword",
  },
  {
    kind: "basic-auth",
    anchors: ["auth=(", "auth = (", "basicauth(", "basic_auth("],
    pattern:
      /auth(?:\s?=\s?)?\(\s?(?:\w{1,20}\s?=\s?)?\\{0,3}["'][^"'\n]{1,60}["'],\s?(?:\w{1,20}\s?=\s?)?\\{0,3}["']([^"'\s\\]{4,200})/iy,
    looks: "anyPassword",
  },
  {
    kind: "basic-auth",
    anchors: ["auth plain "],
    pattern: /auth plain ([A-Za-z0-9+/]{8,400}={0,2})/iy,
    looks: "plainLogin",
  },
  {
    kind: "wordpress-salt",
    anchors: ["_key'", "_salt'", '_key"', '_salt"'],
    pattern: /_(?:key|salt)["'],[ \t]{0,12}(["'])((?:(?!\1)[^\n]){60,80})(?=\1\s?\))/iy,
    looks: "strange",
  },
  {
    kind: "database-url",
    anchors: ["sqlplus", "sqlldr", "expdp", "impdp", "rman "],
    pattern: /(?:sqlplus|sqlldr|expdp|impdp|rman)\s[^\n;|&]{0,100}?(?<=[\s"'=])\w{1,60}\/([^\s@"'\\/]{4,200})(?=@)/iy,
    looks: "password",
  },
  {
    kind: "pgpass",
    anchors: [":*:"],
    pattern: /(?<=[\w*.-]:\d{4,5}):\*:[\w*$.@-]{1,63}:((?:[^\s:\\"']|\\[:\\]){4,200})(?=$|\s|\\{1,3}[nr]|["'])/y,
    looks: "password",
  },
  {
    kind: "piped-password",
    anchors: ["echo ", "printf "],
    pattern:
      /(?:echo|printf)\s(?:-n\s)?\\{0,3}["']?(?:[\w.-]{1,40}:)?([^\s"'\\;|&<>$]{4,200})(?=\\{0,3}["']?\s?\|\s?(?:sudo\s)?(?:chpasswd|sudo\s-S|docker\slogin|podman\slogin|helm\sregistry|gh\sauth|passwd|cryptsetup|gpg\s|su\s))/iy,
    looks: "password",
  },
  {
    kind: "password",
    anchors: ["sudo -s", "chpasswd"],
    pattern: /(?:sudo -s|chpasswd)[^\n;|&<]{0,100}<<<\s?\\{0,3}["']?(?:[\w.-]{1,40}:)?([^\s"'\\;|&<>$]{4,200})/iy,
    looks: "password",
  },
  {
    kind: "database-url",
    anchors: ["jdbc:oracle:thin:"],
    pattern: /jdbc:oracle:thin:[\w$]{1,60}\/([^\s@"'\\]{4,200})(?=@)/iy,
    looks: "password",
  },
  {
    kind: "laravel-key",
    anchors: ["base64:"],
    pattern: /(?<=key\s{0,2}[=:]\s{0,2}["']?)base64:([A-Za-z0-9+/]{40,90}={0,2})/iy,
  },
  {
    kind: "card-number",
    anchors: [
      "card",
      "visa",
      "amex",
      "credit",
      "debit",
      "cc_num",
      "ccnum",
      "cc number",
      "cc-num",
      "pan:",
      "pan=",
      'pan"',
      "pan ",
    ],
    pattern:
      /(?:card|visa|amex|credit|debit|cc[_ -]?num|pan(?=["':= ]))[^\d\n]{0,40}(?:\n[^\d\n]{0,30})?((?:\d[ -]?){12,18}\d)(?![\d-])/iy,
    looks: "card",
  },
  {
    kind: "seed-phrase",
    anchors: [
      "mnemonic",
      "seed phrase",
      "seed_phrase",
      "seedphrase",
      "seed-phrase",
      "seed words",
      "recovery phrase",
      "recovery_phrase",
      "recovery-phrase",
      "recoveryphrase",
      "secret phrase",
      "backup phrase",
      "wallet seed",
    ],
    pattern:
      /(?:mnemonic|seed[ _-]?(?:phrase|words)|(?:recovery|secret|backup)[ _-]?phrase|wallet seed)[^a-z]{1,12}(?:(?:is|words?|are|was)[^a-z]{1,4})?((?:[a-z]{3,8}[^a-z]{1,6}){11,23}[a-z]{3,8})(?![a-z])/iy,
    looks: "seed",
  },
]

export const PLACED_RULES: readonly Rule[] = [...COMMAND_RULES, ...PLACED]
