import type { Rule } from "./rules.ts"

/** A command-line word, quoted or not; the quotes stay. */
const WORD = `\\\\{0,3}["']?([^\\s"'\\\\;|&<>]{4,200})`
const ARGUMENTS = "[^\\n;|&]{0,200}?"
const LOGIN = "\\slogin\\s[^\\n;|&]{0,150}?(?<=\\s)(?:-p|--password)[\\s=]"

/** Passwords on command lines: the programs, then the flag before the password. */
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
  [["nmcli"], "\\s(?:password|\\S{0,40}psk)\\s"],
  [["add-authtoken", "authtoken"], "\\s"],
  [["vault login", "heroku auth:token", "gh auth"], "\\s(?=[\\w.-]{20})"],
]

export const COMMAND_RULES: readonly Rule[] = COMMANDS.flatMap(([programs, flag]) =>
  programs.map(
    (name): Rule => ({
      kind: "command-password",
      anchors: [name],
      // A blank after a short anchor only prevents longer names. In JSON, a script's line begins after \\n.
      pattern: new RegExp(`(?:(?<![\\w-])|(?<=\\\\[nrt]))${name.trimEnd()}(?=[\\s.])${ARGUMENTS}${flag}${WORD}`, "y"),
      looks: "password",
    }),
  ),
)
