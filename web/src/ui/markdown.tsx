import { lexer, type Token, type Tokens } from "marked"
import type { ComponentChildren } from "preact"
import { useMemo } from "preact/hooks"
import { Scroll } from "./scroll.tsx"
import { TableHead } from "./table-head.tsx"

const SAFE_LINK = /^(https?:|mailto:)/i
/** Beyond this a text is shown as it is: reading it as Markdown would hold the page up. */
const MOST_CHARS = 200_000

/** Markdown as agents write it. Nothing of it becomes HTML: tags in it are shown as the text that they are. */
export function Markdown({ text }: { text: string }) {
  return useMemo(() => readable(text), [text])
}

export const readable = (text: string) =>
  text.length > MOST_CHARS ? (
    <pre class="plain">{text}</pre>
  ) : (
    <div class="markdown">{blocks(lexer(text, { gfm: true }))}</div>
  )

const blocks = (tokens: readonly Token[]): ComponentChildren => tokens.map((token, index) => block(token, index))

function block(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case "space":
    case "def":
      return null
    case "heading": {
      // The page's own headings stand above those of what was said.
      const Heading = `h${Math.min(6, token.depth + 2)}` as "h3"
      return <Heading key={key}>{inline(token.tokens)}</Heading>
    }
    case "paragraph":
      return <p key={key}>{inline(token.tokens)}</p>
    case "text":
      return <span key={key}>{token.tokens ? inline(token.tokens) : token.text}</span>
    case "code":
      return (
        <pre key={key} data-language={token.lang || undefined}>
          <code>{token.text}</code>
        </pre>
      )
    case "blockquote":
      return <blockquote key={key}>{blocks(token.tokens ?? [])}</blockquote>
    case "list":
      return list(token as Tokens.List, key)
    case "table":
      return table(token as Tokens.Table, key)
    case "hr":
      return <hr key={key} />
    default:
      return <p key={key}>{token.raw}</p>
  }
}

function list({ ordered, start, items }: Tokens.List, key: number) {
  const children = items.map((item, index) => (
    <li key={index}>
      {item.task && (
        <input type="checkbox" checked={item.checked === true} disabled aria-label={item.checked ? "done" : "to do"} />
      )}
      {blocks(item.tokens.filter(({ type }) => type !== "checkbox"))}
    </li>
  ))
  return ordered ? (
    <ol key={key} start={start === "" ? 1 : start}>
      {children}
    </ol>
  ) : (
    <ul key={key}>{children}</ul>
  )
}

function table({ header, rows }: Tokens.Table, key: number) {
  return (
    <Scroll key={key} label="Table">
      <table>
        <TableHead columns={header.map((cell) => inline(cell.tokens))} />
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => (
                <td key={column}>{inline(cell.tokens)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  )
}

const inline = (tokens: readonly Token[] | undefined): ComponentChildren =>
  tokens?.map((token, index) => inlineOne(token, index))

function inlineOne(token: Token, key: number): ComponentChildren {
  switch (token.type) {
    case "strong":
      return <strong key={key}>{inline(token.tokens)}</strong>
    case "em":
      return <em key={key}>{inline(token.tokens)}</em>
    case "del":
      return <del key={key}>{inline(token.tokens)}</del>
    case "codespan":
      return <code key={key}>{token.text}</code>
    case "br":
      return <br key={key} />
    case "link":
      return SAFE_LINK.test(token.href) ? (
        <a key={key} href={token.href} target="_blank" rel="noreferrer noopener">
          {inline(token.tokens)}
        </a>
      ) : (
        <span key={key}>{token.raw}</span>
      )
    case "image":
      return <span key={key}>{token.raw}</span>
    case "text":
    case "escape":
      return "tokens" in token && token.tokens ? inline(token.tokens) : unescaped(token as Tokens.Text)
    default:
      return token.raw
  }
}

/** The lexer escapes for HTML what it thinks will become HTML; here it does not. */
const unescaped = (token: Tokens.Text | Tokens.Escape) => (token.type === "escape" ? token.text : token.raw)
