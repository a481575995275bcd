import { COMMAND_RULES } from "./commands.ts"
import type { LookName } from "./looks.ts"
import type { Rule } from "./rules.ts"

/** A line break, also in JSON, with the prefix that a quotation, diff or listing adds. */
export const NEXT_LINE =
  "(?:\\r?\\n|\\\\{1,3}[nr])(?:[ \\t]{0,8}(?:(?:[\\w./-]{1,100}[:-])?\\d{1,6}(?:[\\t→|:-]|\\\\{1,3}t)|\\+|(?:[>|] ?){0,2}[>|]))?"
/** Whitespace between two words, including lines. Unambiguous, so matching is linear. */
export const GAP = `(?:${NEXT_LINE}|[^\\S\\r\\n]|\\\\{1,3}t)`

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
  rule(
    "netrc-password",
    "login|account",
    new RegExp(
      `(?:login|account)${BLANK}\\S{1,100}?${BLANK}(?:account${BLANK}\\S{1,60}?${BLANK})?password${BLANK}([^\\s\\\\"']{4,200})`,
      "y",
    ),
    "password",
  ),
  rule(
    "netrc-password",
    "machine",
    new RegExp(`machine${BLANK}\\S{1,100}?${BLANK}password${BLANK}([^\\s\\\\"']{4,200})`, "y"),
    "password",
  ),
  rule(
    "pgpass",
    ":5432:|:5433:|:5434:|:6432:|:26257:|:*:",
    /:(?:\d{4,5}|\*):[\w*$.-]{1,63}:[\w*$.@-]{1,63}:((?:[^\s:\\"']|\\[:\\]){4,200})(?=$|\s|\\{1,3}[nr]|["'])/y,
    "password",
  ),
  rule(
    "cookie",
    "cookie",
    /cookie["']?\s{0,3}[:,]\s{0,3}\\{0,3}["']?[\w.%-]{1,60}=\\{0,3}["']?([^\s;"'\\,]{8,4000})/iy,
    "cookie",
  ),
  rule(
    "cookie",
    "cookie:",
    /cookie:\s{0,3}((?:[\w.%-]{1,60}=[^;\s"'\\]{0,4000}(?:;\s?|(?=$|["'\\\s]))){2,60})/iy,
    "cookie",
  ),
  rule(
    "session-cookie",
    "phpsessid=|jsessionid=|connect.sid=|sessionid=|session_id=|session-token=|_session=|aspxauth=|asp.net_sessionid=|laravel_session=|csrftoken=|xsrf-token=",
    /[\w.-]{4,20}=((?:[\w.~+/-]|%[0-9a-f]{2}){16,4000}={0,2})/iy,
    "cookie",
  ),
  rule(
    "passphrase",
    "passphrase|password|pass_phrase|pass-phrase",
    /pass(?:[_-]?phrase|word)[\\"'\]]{0,8}\s{0,4}[:=]\s{0,4}\\{0,7}(["'])([A-Za-z]{3,12}(?:[ ._-][A-Za-z0-9]{3,15}){3,11})(?=\\{0,7}\1|$)/iy,
    "passphrase",
  ),
  rule(
    "passphrase",
    "passphrase|pass_phrase|pass-phrase",
    /pass[_-]?phrase[\\"'\]]{0,8}\s{0,4}(?:[:=]|\sis\s)\s{0,4}([A-Za-z]{3,12}(?:[ ._-][A-Za-z0-9]{3,15}){3,11})(?=$|["'\\]|\s{0,4}(?:[\n\r#,;}]|\\[nr]|$))/iy,
    "passphrase",
  ),
  rule(
    "passphrase",
    "passphrase|pass_phrase|pass-phrase",
    /pass[_-]?phrase[\\"'\]]{0,8}\s{0,4}[:=]\s{0,4}\\{0,7}["']?([\w!@#%^*+~.?$&-]{8,200})/iy,
    "anyPassword",
  ),
  rule(
    "docker-auth",
    `auth":|auth\\":|auth':|_auth=|_auth =`,
    /_?auth\\{0,3}["']?\s{0,4}[:=]\s{0,4}\\{0,3}["']?([A-Za-z0-9+/]{12,}={0,2})/iy,
    "userAndPassword",
  ),
  rule(
    "kubernetes-secret",
    'kind: secret|kind":"secret|kind": "secret',
    new RegExp(`kind${QUOTE}:\\s?${QUOTE}secret\\b[\\s\\S]{0,400}?${START}data${QUOTE}:${BLOCK}${ENTRIES}`, "iy"),
    "encodedEntries",
  ),
  // kubectl sorts fields: `data` comes before `kind`.
  rule(
    "kubernetes-secret",
    'data:\n|data:\r\n|data:\\n|data:\\\\n|data":{|data": {|data\\":{|data\\": {',
    new RegExp(
      `${START}data${QUOTE}:${BLOCK}${ENTRIES}(?=[\\s\\S]{0,200}?${START}kind${QUOTE}:\\s?${QUOTE}secret\\b)`,
      "iy",
    ),
    "encodedEntries",
  ),
  rule(
    "password",
    `password" value=|password' value=|cleartextpassword`,
    /password["']\s{0,4}value=\\{0,3}["']([^"'\\\s]{4,200})/iy,
    "password",
  ),
  rule(
    "password",
    "<password>|<passphrase>|<secret>|<apikey>|<token>",
    /<(?:password|passphrase|secret|apikey|token)>([^<>\s]{4,400})(?=<\/)/iy,
    "anyPassword",
  ),
  // In quotes; the next rule takes unquoted values, alone on their line.
  rule(
    "password",
    `pass=|pass:|pass =|pass"|pass'|pass\\`,
    /(?:(?<![A-Za-z])pass|PASS|(?<=[a-z])Pass)[\\"'\]]{0,4}\s{0,4}(?:=>|[:=])[ \t]{0,8}\\{0,3}(["'`])([!#-&(-[\]-_a-~]{8,200})(?=\\{0,3}\1)/y,
    "strong",
  ),
  rule(
    "password",
    "pass=|pass:|pass =",
    /(?:(?<![A-Za-z])pass|PASS)\s?[:=][ \t]{0,8}([\w~!@#%^*+=/.?$-]{8,200})(?=[ \t]*(?:$|[\r\n#"'`]|\\{1,3}[nr]))/y,
    "strong",
  ),
  rule(
    "password",
    "requirepass|masterauth|bindpw|rootpw",
    /(?:(?<![\w-])|(?<=\\[nr]))(?:requirepass|masterauth|(?:olc)?(?:bindpw|rootpw))\s{1,8}\\{0,3}["']?([^\s"'\\]{6,200})/iy,
    "anyPassword",
  ),
  rule("password", "> auth ", /(?<=:\d{4,5})> auth (?:\S{1,60} )?([^\s"'\\]{6,200})/iy, "anyPassword"),
  rule(
    "sql-password",
    `password '|password \\"|password "`,
    /(?<=(?:user|role)\s[^;\n]{0,200}?)password\s\\{0,3}["']([^"'\n\\]{4,200})(?=\\{0,3}["'])/iy,
    "password",
  ),
  rule(
    "sql-password",
    "identified ",
    /(?<=\b(?:user|grant)\s[^;\n]{0,200}?)identified\s(?:with\s[\w'"`]{1,60}\s)?(?:by|as)\s(?:password\s)?\\{0,3}["']([^"'\n\\]{4,200})(?=\\{0,3}["'])/iy,
    "password",
  ),
  rule(
    "password",
    "password|passphrase",
    new RegExp(
      `pass(?:word|phrase)[^\\n\\\\]{0,10}\\\\{0,3}[^\\n\\\\]{0,10}${NEXT_LINE}[ \\t]{0,12}(?:[\\w.]{0,30}send(?:line)?)[\\s(]{1,3}(?:--\\s)?\\\\{0,3}["']([^"'\\\\\\n]{4,200})`,
      "iy",
    ),
    "password",
  ),
  rule(
    "password",
    "convertto-securestring",
    /convertto-securestring\s(?:-string\s)?\\{0,3}["']([^"'\\\n]{4,200})/iy,
    "password",
  ),
  rule("wifi-password", "psk=|psk =", /(?<![A-Za-z])psk\s?=\s?\\{0,3}["']?([^\s"'\\]{8,64})/iy, "anyPassword"),
  rule(
    "basic-auth",
    "auth=(|auth = (|basicauth(|basic_auth(",
    /auth(?:\s?=\s?)?\(\s?(?:\w{1,20}\s?=\s?)?\\{0,3}["'][^"'\n]{1,60}["'],\s?(?:\w{1,20}\s?=\s?)?\\{0,3}["']([^"'\s\\]{4,200})/iy,
    "anyPassword",
  ),
  rule("basic-auth", "auth plain ", /auth plain ([A-Za-z0-9+/]{8,400}={0,2})/iy, "plainLogin"),
  rule(
    "wordpress-salt",
    `_key'|_salt'|_key"|_salt"`,
    /_(?:key|salt)["'],[ \t]{0,12}(["'])((?:(?!\1)[^\n]){60,80})(?=\1\s?\))/iy,
    "strange",
  ),
  rule(
    "database-url",
    "sqlplus|sqlldr|expdp|impdp|rman ",
    /(?:sqlplus|sqlldr|expdp|impdp|rman)\s[^\n;|&]{0,100}?(?<=[\s"'=])\w{1,60}\/([^\s@"'\\/]{4,200})(?=@)/iy,
    "password",
  ),
  rule(
    "pgpass",
    ":*:",
    /(?<=[\w*.-]:\d{4,5}):\*:[\w*$.@-]{1,63}:((?:[^\s:\\"']|\\[:\\]){4,200})(?=$|\s|\\{1,3}[nr]|["'])/y,
    "password",
  ),
  rule(
    "piped-password",
    "echo |printf ",
    /(?:echo|printf)\s(?:-n\s)?\\{0,3}["']?(?:[\w.-]{1,40}:)?([^\s"'\\;|&<>$]{4,200})(?=\\{0,3}["']?\s?\|\s?(?:sudo\s)?(?:chpasswd|sudo\s-S|docker\slogin|podman\slogin|helm\sregistry|gh\sauth|passwd|cryptsetup|gpg\s|su\s))/iy,
    "password",
  ),
  rule(
    "password",
    "sudo -s|chpasswd",
    /(?:sudo -s|chpasswd)[^\n;|&<]{0,100}<<<\s?\\{0,3}["']?(?:[\w.-]{1,40}:)?([^\s"'\\;|&<>$]{4,200})/iy,
    "password",
  ),
  rule("database-url", "jdbc:oracle:thin:", /jdbc:oracle:thin:[\w$]{1,60}\/([^\s@"'\\]{4,200})(?=@)/iy, "password"),
  rule("laravel-key", "base64:", /(?<=key\s{0,2}[=:]\s{0,2}["']?)base64:([A-Za-z0-9+/]{40,90}={0,2})/iy),
  rule(
    "card-number",
    'card|visa|amex|credit|debit|cc_num|ccnum|cc number|cc-num|pan:|pan=|pan"|pan ',
    /(?:card|visa|amex|credit|debit|cc[_ -]?num|pan(?=["':= ]))[^\d\n]{0,40}(?:\n[^\d\n]{0,30})?((?:\d[ -]?){12,18}\d)(?![\d-])/iy,
    "card",
  ),
  rule(
    "seed-phrase",
    "mnemonic|seed phrase|seed_phrase|seedphrase|seed-phrase|seed words|recovery phrase|recovery_phrase|recovery-phrase|recoveryphrase|secret phrase|backup phrase|wallet seed",
    /(?:mnemonic|seed[ _-]?(?:phrase|words)|(?:recovery|secret|backup)[ _-]?phrase|wallet seed)[^a-z]{1,12}(?:(?:is|words?|are|was)[^a-z]{1,4})?((?:[a-z]{3,8}[^a-z]{1,6}){11,23}[a-z]{3,8})(?![a-z])/iy,
    "seed",
  ),
]

export const PLACED_RULES: readonly Rule[] = [...COMMAND_RULES, ...PLACED]

function rule(kind: string, anchors: string, pattern: RegExp, looks?: LookName): Rule {
  return { kind, anchors: anchors.split("|"), pattern, ...(looks && { looks }) }
}
