import { z } from 'zod'
import type { Finding } from '../../contract/finding.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { Context, ExitCode, Invocation } from '../command.ts'
import { upFlags } from '../up/up-flags.ts'

/** What `hyperkube certs` was asked for. */
export interface CertsWish {
  readonly context: Context
  readonly options: Invocation['options']
  readonly cluster: Cluster
  /** What is to be known of its file. */
  readonly findings: readonly Finding[]
  /** What was typed behind the action. */
  readonly words: readonly string[]
}

export type CertsAction = (wish: CertsWish) => Promise<ExitCode>

export const certsFlags = upFlags.extend({
  all: z.boolean().default(false),
  restartPods: z.boolean().default(false),
  to: z.string().optional(),
})
