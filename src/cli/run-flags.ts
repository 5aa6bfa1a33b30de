import { type Command, Option } from 'commander'
import { z } from 'zod'
import { progressKinds } from './render/open-progress.ts'

export const runFlags = z.object({
  ignore: z.array(z.string()).default([]),
  forgetHostKey: z.array(z.string()).default([]),
  progress: z.enum(progressKinds),
})

/** Flags of every command that goes to hosts and shows what happens there. */
export function addRunFlags(command: Command): Command {
  return command
    .option('--ignore <code>', 'go on in spite of a finding; once for each', addWord)
    .option('--forget-host-key <host>', 'take the ssh key that it shows now; once for each', addWord)
    .addOption(
      new Option('--progress <kind>', 'how to show what happens; auto is a tree at a terminal, else lines')
        .choices(progressKinds)
        .default('auto'),
    )
}

function addWord(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...text.split(',')]
}
