import type { Command } from 'commander'
import { z } from 'zod'
import { runFlags } from '../command/run-flags.ts'

export const upFlags = runFlags.extend({
  forceUnlock: z.boolean().default(false),
  dryRun: z.boolean().default(false),
})

/** Adds the flags of every command that brings a cluster to its desired state. */
export function addUpFlags(command: Command): Command {
  return command
    .option(
      '--dry-run',
      'show what would change, without changing anything; exit code 3 if changes are pending',
    )
    .option('--force-unlock', 'break the operator lock of another operator')
}
