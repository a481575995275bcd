import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { openTab, type Tab } from "../../test/fixtures/tab.ts"

let tab: Tab
let router: typeof import("./router.ts")
afterEach(() => void vi.unstubAllGlobals())
beforeEach(async () => {
  vi.resetModules()
  tab = openTab("/search?q=a")
  router = await import("./router.ts")
})

const here = () => [router.path.value, router.query.value.toString()]

test("begins where the tab is", () => {
  expect(here()).toEqual(["/search", "q=a"])
})

test("goes on, takes the place of where it was, and stays where it is", () => {
  router.go("/teams")
  router.go("/search?q=b", { replace: true })
  router.go("/search?q=b")
  expect(tab.went).toEqual(["/teams", "=/search?q=b"])
  expect(here()).toEqual(["/search", "q=b"])
})

test("goes back with the tab", () => {
  router.go("/teams")
  tab.back("/search?q=a")
  expect(here()).toEqual(["/search", "q=a"])
})

describe("a link", () => {
  const click = (href: string, more: object = {}, target = "") => {
    const { origin, pathname, search } = new URL(href, "http://127.0.0.1:1")
    const link = { origin, pathname, search, target }
    const preventDefault = vi.fn()
    const inside = { closest: () => link }
    router.follow({ target: inside, button: 0, defaultPrevented: false, preventDefault, ...more } as never)
    return preventDefault.mock.calls.length > 0
  }

  test("of the page is followed in the page", () => {
    expect(click("/sessions/s?at=3")).toBe(true)
    expect(tab.went).toEqual(["/sessions/s?at=3"])
  })

  test.each([
    ["to another place", "https://other.example/", {}, ""],
    ["that opens a tab", "/teams", {}, "_blank"],
    ["with Ctrl", "/teams", { ctrlKey: true }, ""],
    ["with ⌘", "/teams", { metaKey: true }, ""],
    ["with Shift", "/teams", { shiftKey: true }, ""],
    ["with the middle button", "/teams", { button: 1 }, ""],
    ["that something else has followed", "/teams", { defaultPrevented: true }, ""],
  ])("%s is the browser's", (_, href, more, target) => {
    expect(click(href, more, target)).toBe(false)
    expect(tab.went).toEqual([])
  })
})
