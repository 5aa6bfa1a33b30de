import { z } from 'zod'
import type { Finding } from '../../contract/finding.ts'
import type { Cluster } from '../../spec/cluster.ts'
import type { CommandContext, ExitCode, Invocation } from '../command/command.ts'
import { upFlags } from '../up/up-flags.ts'

/** Arguments of a `hyperkube certs` action. */
export interface CertsInvocation {
  readonly context: CommandContext
  readonly options: Invocation['options']
  readonly cluster: Cluster
  /** Findings about cluster.yml. */
  readonly findings: readonly Finding[]
  /** Command-line arguments after the name of the action. */
  readonly args: readonly string[]
}

export type CertsAction = (invocation: CertsInvocation) => Promise<ExitCode>

export const certsFlags = upFlags.extend({
  all: z.boolean().default(false),
  restartPods: z.boolean().default(false),
  to: z.string().optional(),
})
