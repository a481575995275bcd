import { render } from "preact"
import { App } from "./app.tsx"
import { followJournal } from "./events.ts"
import "./style.css"

render(<App />, document.getElementById("app")!)
void followJournal()
