import { type Command, InvalidArgumentError, Option } from 'commander'
import { z } from 'zod'

export const progressKinds = ['auto', 'tree', 'plain', 'json'] as const
export type ProgressKind = (typeof progressKinds)[number]

export const runFlags = z.object({
  ignore: z.array(z.string()).default([]),
  forgetHostKey: z.array(z.string()).default([]),
  progress: z.enum(progressKinds),
})

/**
 * Adds the flags of every command that connects to hosts and shows progress. With `refused`,
 * --accept-new-host-keys is left out, because the command never accepts unknown host keys.
 */
export function addRunFlags(command: Command, unknownHosts: 'accepted' | 'refused' = 'accepted'): Command {
  if (unknownHosts === 'accepted')
    command.option('--accept-new-host-keys', 'accept the SSH host keys of unknown hosts without a prompt')
  return command
    .option('--ignore <code>', 'ignore this finding code (repeatable)', appendValues)
    .option('--forget-host-key <host>', 'accept the new SSH host key of this host (repeatable)', appendValues)
    .addOption(createProgressOption())
}

export function createProgressOption(): Option {
  return new Option(
    '--progress <kind>',
    'set the progress display; auto is tree on a terminal, otherwise plain',
  )
    .choices(progressKinds)
    .default('auto')
}

/** Parses a flag that can be repeated, or that has several values with commas. */
export function appendValues(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...text.split(',')]
}

/** Parses the value of --server: the URL of an API server. */
export function parseServerFlag(text: string): string {
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') throw new InvalidArgumentError('expected https://HOST:PORT')
  return url.origin
}
