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
    .option('--dry-run', 'show what would be done, and do nothing; exit code 3 when there is something')
    .option('--force-unlock', 'take the operator lock from its holder')
}
