import { describe, expect, test } from "vitest"
import { shown } from "../../../test/fixtures/shown.ts"
import { readable } from "./markdown.tsx"

const asHtml = (text: string) => /^<div>(.*)<\/div>$/s.exec(shown(readable(text)))![1]

describe("Markdown as agents write it", () => {
  test.each([
    ["words", "one **two** *three* ~~four~~", "<p>one <strong>two</strong> <em>three</em> <del>four</del></p>"],
    ["headings below those of the page", "# A\n\n##### B", "<h3>A</h3><h6>B</h6>"],
    ["code", "a `b < c` d", "<p>a <code>b &lt; c</code> d</p>"],
    ["code in blocks", "```ts\nif (a < b) {}\n```", '<pre data-language="ts"><code>if (a &lt; b) {}</code></pre>'],
    ["code that has no end yet", "```\nconst a", "<pre><code>const a</code></pre>"],
    ["lists", "- a\n- b", "<ul><li><span>a</span></li><li><span>b</span></li></ul>"],
    ["lists that go on", "3. a\n4. b", "<ol start=3><li><span>a</span></li><li><span>b</span></li></ol>"],
    [
      "things to do",
      "- [x] a\n- [ ] b",
      "<ul><li><input checked=true><span>a</span></li><li><input checked=false><span>b</span></li></ul>",
    ],
    ["quotes", "> a", "<blockquote><p>a</p></blockquote>"],
    [
      "tables",
      "| a | b |\n|---|---|\n| 1 | `2` |",
      "<section><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><code>2</code></td></tr></tbody></table></section>",
    ],
    ["links", "[a](https://b.c/d)", '<p><a href="https://b.c/d">a</a></p>'],
    ["addresses", "https://b.c", '<p><a href="https://b.c">https://b.c</a></p>'],
    ["signs that HTML would need otherwise", 'a & b &amp; "c"', '<p>a &amp; b &amp;amp; "c"</p>'],
    ["signs that stand for themselves", "\\*a\\*", "<p>*a*</p>"],
  ])("%s", (_, text, html) => {
    expect(asHtml(text)).toBe(html)
  })

  test.each([
    ["tags", "a <b onclick=x>c</b>", "<p>a &lt;b onclick=x>c&lt;/b></p>"],
    ["blocks of HTML", "<script>alert(1)</script>", "<p>&lt;script>alert(1)&lt;/script></p>"],
    ["links that run something", "[a](javascript:alert(1))", "<p><span>[a](javascript:alert(1))</span></p>"],
    ["links to files", "[a](file:///etc/passwd)", "<p><span>[a](file:///etc/passwd)</span></p>"],
    ["pictures, which would be fetched", "![a](https://b.c/d.png)", "<p><span>![a](https://b.c/d.png)</span></p>"],
  ])("shows %s as the text that they are", (_, text, html) => {
    expect(asHtml(text)).toBe(html)
  })

  test("a text that is too long to be read so is shown as it is", () => {
    expect(shown(readable(`**a**${" b".repeat(150_000)}`))).toMatch(/^<pre>\*\*a\*\* b/)
  })
})
