import { isIP } from 'node:net'
import { z } from 'zod'
import { parseDuration } from '../kit/duration.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/printable.ts'
import { checkElectionTiming, type ElectionTiming, defaultElectionTiming } from '../kube/election.ts'
import { checkControllerNames, selectControllers } from './select-controllers.ts'
import type { ControllerDefinition } from './controller.ts'

const durationSchema = z.string().transform((text, context) => {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined) context.addIssue('write it as 15s or 1m30s')
  return milliseconds ?? 0
})

/** Command line options of the manager. */
export const managerOptions = z.object({
  kubeconfig: z.string().min(1, 'is required'),
  controllers: z.string().default('*'),
  settings: z.string().optional(),
  listen: z.string().default('127.0.0.1:6447'),
  leaderElectLeaseDuration: durationSchema.optional(),
  leaderElectRenewDeadline: durationSchema.optional(),
  leaderElectRetryPeriod: durationSchema.optional(),
})
export type ManagerOptions = z.infer<typeof managerOptions>

/** Validated configuration of the manager. */
export interface ManagerConfig {
  readonly kubeconfig: string
  /** Path of the settings file. Without a file the settings are empty. */
  readonly settings?: string | undefined
  readonly controllers: readonly ControllerDefinition[]
  readonly listen: ListenAddress
  readonly election: ElectionTiming
}

export interface ListenAddress {
  readonly host: string
  readonly port: number
}

export function buildManagerConfig(
  options: ManagerOptions,
  definitions: readonly ControllerDefinition[],
): ManagerConfig {
  checkControllerNames(definitions)
  const election = {
    ...defaultElectionTiming,
    duration: options.leaderElectLeaseDuration ?? defaultElectionTiming.duration,
    deadline: options.leaderElectRenewDeadline ?? defaultElectionTiming.deadline,
    retry: options.leaderElectRetryPeriod ?? defaultElectionTiming.retry,
  }
  checkElectionTiming(election)
  const selectors = options.controllers.split(',').map((selector) => selector.trim())
  return {
    kubeconfig: options.kubeconfig,
    settings: options.settings,
    controllers: selectControllers(
      definitions,
      selectors.filter((selector) => selector !== ''),
    ),
    listen: parseLoopback(options.listen),
    election,
  }
}

/**
 * Parses an address and rejects any that is not loopback, because health and metrics are served without
 * authentication.
 */
function parseLoopback(text: string): ListenAddress {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d{1,5})$/.exec(text) ?? []
  const isLoopback = (isIP(host) === 4 && host.startsWith('127.')) || host === '::1'
  if (isLoopback && Number(port) < 65_536) return { host, port: Number(port) }
  throw new HyperkubeError('MANAGER_NOT_LOOPBACK', `${toPrintable(text)} is no address of this host alone`, {
    hint: '--listen 127.0.0.1:6447',
  })
}
