import { isIP } from 'node:net'
import { z } from 'zod'
import { parseDuration } from '../kit/duration.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'
import { checkTiming, type ElectionTiming, usualElection } from '../kube/election.ts'
import { checkTable, choose } from './select-controllers.ts'
import type { ControllerRow } from './controller.ts'

const time = z.string().transform((text, context) => {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined) context.addIssue('write it as 15s or 1m30s')
  return milliseconds ?? 0
})

/** What was typed. */
export const managerOptions = z.object({
  kubeconfig: z.string().min(1, 'says where the API is, and as whom to speak'),
  controllers: z.string().default('*'),
  settings: z.string().optional(),
  listen: z.string().default('127.0.0.1:6447'),
  leaderElectLeaseDuration: time.optional(),
  leaderElectRenewDeadline: time.optional(),
  leaderElectRetryPeriod: time.optional(),
})
export type ManagerOptions = z.infer<typeof managerOptions>

/** What was meant, and makes sense. */
export interface ManagerConfig {
  readonly kubeconfig: string
  /** A file; without one nothing is wished. */
  readonly settings?: string | undefined
  readonly chosen: readonly ControllerRow[]
  readonly listen: Listen
  readonly election: ElectionTiming
}

export interface Listen {
  readonly host: string
  readonly port: number
}

export function configOf(options: ManagerOptions, rows: readonly ControllerRow[]): ManagerConfig {
  checkTable(rows)
  const election = {
    ...usualElection,
    duration: options.leaderElectLeaseDuration ?? usualElection.duration,
    deadline: options.leaderElectRenewDeadline ?? usualElection.deadline,
    retry: options.leaderElectRetryPeriod ?? usualElection.retry,
  }
  checkTiming(election)
  const words = options.controllers.split(',').map((word) => word.trim())
  return {
    kubeconfig: options.kubeconfig,
    settings: options.settings,
    chosen: choose(
      rows,
      words.filter((word) => word !== ''),
    ),
    listen: loopback(options.listen),
    election,
  }
}

/** Health and figures are told without asking who wants to know: so only to this host. */
function loopback(text: string): Listen {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d{1,5})$/.exec(text) ?? []
  const isOwn = (isIP(host) === 4 && host.startsWith('127.')) || host === '::1'
  if (isOwn && Number(port) < 65_536) return { host, port: Number(port) }
  throw new HyperkubeError('MANAGER_NOT_LOOPBACK', `${printable(text)} is no address of this host alone`, {
    hint: '--listen 127.0.0.1:6447',
  })
}
