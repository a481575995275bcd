import type { Rule } from "./rules.ts"

/** A word on a command line, quoted or not; the quotation marks stay. */
const WORD = `\\\\{0,3}["']?([^\\s"'\\\\;|&<>]{4,200})`
const ARGUMENTS = "[^\\n;|&]{0,200}?"
const LOGIN = "\\slogin\\s[^\\n;|&]{0,150}?(?<=\\s)(?:-p|--password)[\\s=]"

/** Passwords that programs take on their command line: the programs, then the flag before the password. */
const COMMANDS: readonly (readonly [programs: readonly string[], flag: string])[] = [
  [["mysql", "mysqldump", "mysqladmin", "mysqlimport", "mysqlsh", "mariadb", "mariadb-dump"], "\\s-p"],
  [["sshpass"], "\\s-p\\s?"],
  [["docker", "podman", "nerdctl", "buildah", "skopeo", "oras", "helm", "regctl", "crane", "az "], LOGIN],
  [["skopeo"], "creds[\\s=][^\\s:]{1,60}:"],
  [["redis-cli", "valkey-cli", "keydb-cli"], "\\s(?:-a|--pass)[\\s=]"],
  [["mongo", "mongosh", "mongodump", "mongorestore", "mongoimport", "mongoexport", "cqlsh", "snowsql"], "\\s-p\\s?"],
  [["sqlcmd", "bcp ", "tsql", "zip ", "unzip "], "\\s-P\\s?"],
  [["ldapsearch", "ldapadd", "ldapmodify", "ldapwhoami", "ldapdelete"], "\\s-w\\s?"],
  [["smbclient", "rpcclient", "smbmap"], "\\s-U\\s?[^\\s%]{1,60}%"],
  [["openssl"], "\\s-(?:pass|passin|passout)\\s[\"']?pass:"],
  [["openssl"], "\\s-k\\s"],
  [["gpg ", "gpg2 "], "--passphrase[\\s=]"],
  [["7z ", "7za ", "rar ", "unrar "], "\\s-h?p"],
  [["htpasswd"], "\\s-[a-zA-Z]{0,5}b[a-zA-Z]{0,5}\\s+\\S{1,100}\\s+\\S{1,60}\\s+"],
  [["http ", "https ", "xh "].filter((name) => name.length > 3), "\\s(?:-a|--auth)[\\s=][^\\s:]{1,60}:"],
  [["wget"], "--(?:http-|ftp-|proxy-)?password[\\s=]"],
  [["rabbitmqctl"], "(?:add_user|change_password)\\s+\\S{1,60}\\s+"],
  [["mc alias set"], "\\s\\S{1,60}\\s+https?://\\S{1,120}\\s+\\S{3,60}\\s+"],
  [["aws configure set"], "aws_(?:secret_access_key|session_token)\\s+"],
  [["net use"], "/user:\\S{1,60}\\s+"],
  [["cmdkey"], "/pass:"],
  [["evil-winrm", "crackmapexec", "netexec"], "\\s-p\\s"],
  [["keytool", "jarsigner"], "-(?:storepass|keypass|srcstorepass|deststorepass)\\s"],
  [["clickhouse-client", "influx"], "\\s--?p(?:assword)?[\\s=]"],
  [["lftp"], "\\s-u\\s?[^\\s,]{1,60},"],
  [["xfreerdp", "rdesktop"], "\\s(?:/p:|-p\\s)"],
  [["add-authtoken", "authtoken"], "\\s"],
  [["vault login", "heroku auth:token", "gh auth"], "\\s(?=[\\w.-]{20})"],
]

const commandRules = COMMANDS.flatMap(([programs, flag]) =>
  programs.map(
    (name): Rule => ({
      kind: "command-password",
      anchors: [name],
      // The blank after a short name only keeps it from being part of a longer one.
      // As JSON writes it, a line of a script begins after \\n.
      pattern: new RegExp(`(?:(?<![\\w-])|(?<=\\\\[nrt]))${name.trimEnd()}(?=[\\s.])${ARGUMENTS}${flag}${WORD}`, "y"),
      looks: "password",
    }),
  ),
)

const BLANK = "(?:\\s|\\\\[nrt]){1,12}"

/** Found by the file, the header or the sentence around them. */
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
    pattern: /:(?:\d{4,5}|\*):[\w*$.-]{1,63}:[\w*$.@-]{1,63}:((?:[^\s:\\"']|\\[:\\]){4,200})(?=$|\s|\\[nr]|["'])/y,
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
      /pass(?:[_-]?phrase|word)["'\]]{0,2}\s{0,4}[:=]\s{0,4}\\{0,3}(["'])([A-Za-z]{3,12}(?:[ ._-][A-Za-z0-9]{3,15}){3,11})(?=\\{0,3}\1)/iy,
    looks: "passphrase",
  },
  {
    kind: "passphrase",
    anchors: ["passphrase", "pass_phrase", "pass-phrase"],
    pattern:
      /pass[_-]?phrase["'\]]{0,2}\s{0,4}(?:[:=]|\sis\s)\s{0,4}([A-Za-z]{3,12}(?:[ ._-][A-Za-z0-9]{3,15}){3,11})(?=$|["'\\]|\s{0,4}(?:[\n\r#,;}]|\\[nr]|$))/iy,
    looks: "passphrase",
  },
  {
    kind: "passphrase",
    anchors: ["passphrase", "pass_phrase", "pass-phrase"],
    pattern: /pass[_-]?phrase["'\]]{0,2}\s{0,4}[:=]\s{0,4}\\{0,3}["']?([\w!@#%^*+~.?$&-]{8,200})/iy,
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
    pattern:
      /kind\\{0,3}["']?:\s?\\{0,3}["']?secret\b[\s\S]{0,400}?\bdata\\{0,3}["']?:\s{0,12}\{?(?:\\n)?\s{0,12}\\{0,3}["']?[\w.-]{1,60}\\{0,3}["']?:\s?\\{0,3}["']?([A-Za-z0-9+/]{8,4000}={0,2})/iy,
    looks: "encoded",
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

export const PLACED_RULES: readonly Rule[] = [...commandRules, ...PLACED]
