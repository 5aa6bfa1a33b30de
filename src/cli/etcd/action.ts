import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import type { Identity } from '../../identity/identity.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Context, ExitCode, Invocation } from '../command.ts'
import { progressKinds } from '../render/open-progress.ts'

export const etcdFlags = z.object({
  to: z.string().optional(),
  from: z.string().optional(),
  keep: z.number().optional(),
  /** Whether a snapshot is restored for a trial before. */
  verify: z.boolean().default(true),
  forceUnlock: z.boolean().default(false),
  /** Whether it is only shown. */
  dryRun: z.boolean().default(false),
  progress: z.enum(progressKinds).default('auto'),
  ignore: z.array(z.string()).default([]),
})

/** What every action about etcd begins with. */
export interface EtcdScene {
  readonly context: Context
  readonly options: Invocation['options']
  readonly flags: z.infer<typeof etcdFlags>
  readonly cluster: Cluster
  /** Opened when somebody needs it. */
  readonly identity: () => Promise<Identity>
  /** What was typed behind the action. */
  readonly name: string | undefined
}

export type EtcdAction = (scene: EtcdScene) => Promise<ExitCode>

/** The value of --keep. */
export function keepFlag(text: string): number {
  const keep = Number(text)
  if (/^\d{1,6}$/.test(text) && keep > 0) return keep
  throw new InvalidArgumentError('it is a number from 1 on')
}
