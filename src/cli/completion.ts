/**
 * `flagstaff completion`: scripts that have shells complete command lines. They ask the program, by `flagstaff complete` and the words up
 * to the cursor, so that they know each command and the flags of the server.
 */
import type { Command } from 'commander';
import type { AddCommand, CommandContext } from '../host/command.ts';
import { misuse } from '../host/command-failure.ts';
import { withServer } from '../host/remote-server.ts';
import { foundFlags } from './flags.ts';

const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_flagstaff() {
  local IFS=$'\\n'
  COMPREPLY=($(flagstaff complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _flagstaff flagstaff`,
  zsh: `#compdef flagstaff
_flagstaff() {
  compadd -- \${(f)"$(flagstaff complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)"} || _files
}
compdef _flagstaff flagstaff`,
  fish: `complete -c flagstaff -a '(flagstaff complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
};

export const addCompletion: AddCommand = (program, { terminal }) => {
  program
    .command('completion')
    .description('Print a script that has your shell complete commands, options and names of flags.')
    .argument('<shell>', Object.keys(SCRIPTS).join(', '))
    .addHelpText(
      'after',
      `
Examples:
  source <(flagstaff completion bash)
  source <(flagstaff completion zsh)
  flagstaff completion fish | source`,
    )
    .action((shell: string) => {
      const script = Object.hasOwn(SCRIPTS, shell) ? SCRIPTS[shell] : undefined;
      if (script === undefined)
        throw misuse(`completion takes ${Object.keys(SCRIPTS).join(', ')}, not "${shell}".`);
      terminal.out(script);
    });
};

/** Prints what the last word may become. `words`: those behind the name of the program, the last of which may be empty. */
export async function complete(
  program: Command,
  context: CommandContext,
  words: readonly string[],
): Promise<void> {
  let command = program;
  let given = 0;
  for (const word of words.slice(0, -1)) {
    const next = command.commands.find((one) => one.name() === word);
    if (next !== undefined) command = next;
    else if (!word.startsWith('-')) given += 1;
  }
  const last = words.at(-1) ?? '';
  const isFlag = given === 0 && command.registeredArguments[0]?.name() === 'flag';
  const names = last.startsWith('-')
    ? command.options.flatMap(({ long }) => long ?? [])
    : [...command.commands.map((one) => one.name()), ...(isFlag ? await flagNames(context, last) : [])];
  const fitting = names.filter((name) => name.startsWith(last));
  if (fitting.length > 0) context.terminal.out(fitting.join('\n'));
}

/** None where no server is known, or answers: a shell has no place for sentences. */
async function flagNames(context: CommandContext, beginning: string): Promise<readonly string[]> {
  try {
    return await withServer(context, async (client) => {
      const names: string[] = [];
      for await (const { name } of foundFlags(client, beginning === '' ? {} : { query: beginning }))
        names.push(name);
      return names;
    });
  } catch {
    return [];
  }
}
