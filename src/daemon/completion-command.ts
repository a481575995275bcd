import { Argument, type Command } from "commander"
import { completionScript, SHELLS, type Shell } from "../surfaces/completion.ts"

/** `throughline completion bash`: what makes the shell complete commands and options. Added last, to know all of them. */
export function addCompletionCommand(program: Command, { write }: { write(text: string): void }): void {
  program
    .command("completion")
    .description("Print what lets your shell complete commands and options: source <(throughline completion bash)")
    .addArgument(new Argument("<shell>", "your shell").choices(SHELLS))
    .action((shell: Shell) => write(completionScript(program, shell, ["throughline", "tl"])))
}
