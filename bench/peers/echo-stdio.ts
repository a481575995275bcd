// The floor: one echo tool on the bare SDK.
import { serveStdio } from "@modelcontextprotocol/server/stdio"
import { echoServer } from "./echo.ts"

serveStdio(echoServer)
