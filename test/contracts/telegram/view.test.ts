import { InlineKeyboard, InputFile } from "grammy"
import { expect, test } from "vitest"
import { stage } from "../../fixtures/telegram/stage.ts"
import { htmlOf, pageOf } from "../../fixtures/telegram/view.ts"

test("a topic is shown with what was said, by whom, with buttons, reactions and files, and nothing gets out of its text", async () => {
  await using it = await stage()
  const asked = it.ada.write(it.group, "run <script>alert(1)</script> & go", { thread: it.thread })
  await it.bot.setMessageReaction(it.chat, asked.id, [{ type: "emoji", emoji: "👀" }])
  await it.bot.sendMessage(it.chat, "*May I?* `rm x`", {
    message_thread_id: it.thread,
    parse_mode: "MarkdownV2",
    reply_markup: new InlineKeyboard().text("Allow", "a").text("Deny", "d"),
  })
  await it.bot.sendDocument(it.chat, new InputFile(Buffer.alloc(2_048, 1), "out.log"), { message_thread_id: it.thread })
  it.ada.write(it.group, "elsewhere")
  const page = pageOf(it.telegram, it.group, it.thread, { viewer: it.ada, theme: "dark", alert: "Allowed" })
  expect(page).toContain(
    '<article class="own"><div class="bubble"><span class="words">run &lt;script&gt;alert(1)&lt;/script&gt; &amp; go',
  )
  expect(page).toContain("<span>👀</span>")
  expect(page).toContain("<b>May I?</b> <code>rm x</code>")
  expect(page).toContain("<div><span>Allow</span><span>Deny</span></div>")
  expect(page).toContain("<b>out.log</b><small>2.0 KB</small>")
  expect(page).toContain('<div class="alert">Allowed</div>')
  expect(page).toContain('<body class="dark">')
  expect(page).toContain("Ada created the topic")
  expect(page).not.toContain("elsewhere")
  expect(page).not.toMatch(/(src|href)="(?!data:)/)
})

test("entities become tags, nested as they are, with offsets in UTF-16 units", () => {
  expect(
    htmlOf("😀 ab <c> d\nand on", [
      { type: "italic", offset: 4, length: 1 },
      { type: "bold", offset: 3, length: 2 },
      { type: "text_link", offset: 6, length: 3, url: 'https://x.org/"' },
      { type: "pre", offset: 10, length: 1, language: "ts" },
    ]),
  ).toBe('😀 <b>a<i>b</i></b> <a href="https://x.org/&quot;">&lt;c&gt;</a> <pre><b>ts</b><code>d</code></pre>and on')
})
