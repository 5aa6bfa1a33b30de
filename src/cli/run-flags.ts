import { type Command, Option } from 'commander'
import { z } from 'zod'
import { progressKinds } from './render/open-progress.ts'

export const runFlags = z.object({
  ignore: z.array(z.string()).default([]),
  forgetHostKey: z.array(z.string()).default([]),
  progress: z.enum(progressKinds),
})

/** Adds the flags of every command that connects to hosts and shows progress. */
export function addRunFlags(command: Command): Command {
  return command
    .option('--ignore <code>', 'go on in spite of a finding; once for each', appendValues)
    .option('--forget-host-key <host>', 'take the ssh key that it shows now; once for each', appendValues)
    .addOption(
      new Option('--progress <kind>', 'how to show what happens; auto is a tree at a terminal, else lines')
        .choices(progressKinds)
        .default('auto'),
    )
}

function appendValues(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...text.split(',')]
}
