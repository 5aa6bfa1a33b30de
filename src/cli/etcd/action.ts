import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import type { Identity } from '../../identity/identity.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext, ExitCode, Invocation } from '../command/command.ts'
import { progressKinds } from '../command/run-flags.ts'

export const etcdFlags = z.object({
  to: z.string().optional(),
  from: z.string().optional(),
  keep: z.number().optional(),
  /** Whether to test a snapshot first by restoring it into a temporary etcd. */
  verify: z.boolean().default(true),
  forceUnlock: z.boolean().default(false),
  /** Whether changes are only shown. */
  dryRun: z.boolean().default(false),
  progress: z.enum(progressKinds).default('auto'),
  ignore: z.array(z.string()).default([]),
  forgetHostKey: z.array(z.string()).default([]),
})

/** Arguments of every etcd action. */
export interface EtcdInvocation {
  readonly context: CommandContext
  readonly options: Invocation['options']
  readonly flags: z.infer<typeof etcdFlags>
  readonly cluster: Cluster
  /** Opens the identity when it is needed. */
  readonly identity: () => Promise<Identity>
  /** Command-line argument after the name of the action. */
  readonly name: string | undefined
}

export type EtcdCommandAction = (invocation: EtcdInvocation) => Promise<ExitCode>

/** Parses the value of --keep. */
export function parseKeepFlag(text: string): number {
  const keep = Number(text)
  if (/^\d{1,6}$/.test(text) && keep > 0) return keep
  throw new InvalidArgumentError('expected a number of at least 1')
}
