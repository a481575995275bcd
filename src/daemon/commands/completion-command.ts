import { Argument, type Command } from "commander"
import { completionScript, SHELLS, type Shell } from "../../surfaces/cli/completion.ts"

/** `throughline completion bash`: what makes the shell complete commands and options. Added last, to know all of them. */
export function addCompletionCommand(program: Command, { write }: { write(text: string): void }): void {
  program
    .command("completion")
    .description("Print a shell completion script: source <(throughline completion bash)")
    .addArgument(new Argument("<shell>", "your shell").choices(SHELLS))
    .action((shell: Shell) => write(completionScript(program, shell, ["throughline", "tl"])))
}
