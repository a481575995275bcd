import { render } from "preact"
import { App } from "./app.tsx"
import { followJournal } from "./events.ts"
import "./style.css"
import { loadTheRest } from "./ui/lazily.tsx"

/** By then the page that was asked for is there. */
const LOAD_REST_MS = 1_500

render(<App />, document.getElementById("app")!)
void followJournal()
setTimeout(loadTheRest, LOAD_REST_MS)
