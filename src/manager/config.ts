import { isIP } from 'node:net'
import { z } from 'zod'
import { emptySettings, type ManagerSettings, managerSettingsFormat } from '../contract/manager-settings.ts'
import { readVersioned } from '../contract/versioned.ts'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import { parseDuration } from '../kit/time-format.ts'
import { checkElectionTiming, defaultElectionTiming, type ElectionTiming } from '../kube/election.ts'
import { type KubeApiAccess, parseKubeconfig } from '../kube/kubeconfig.ts'
import type { ControllerDefinition } from './controller.ts'
import { checkControllerNames, selectControllers } from './select-controllers.ts'

const durationSchema = z.string().transform((text, context) => {
  const milliseconds = parseDuration(text)
  if (milliseconds === undefined) context.addIssue('must be a duration such as 15s or 1m30s')
  return milliseconds ?? 0
})

/** Command line options of the manager. */
export const managerOptions = z.object({
  kubeconfig: z.string({ error: 'is required' }).min(1, 'is required'),
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
  throw new HyperkubeError('MANAGER_NOT_LOOPBACK', `${toPrintable(text)} is not a loopback address`, {
    hint: '--listen 127.0.0.1:6447',
  })
}

interface CompleteOptions {
  readonly readFile: (path: string) => Promise<string>
  /** Host name of the machine on which the manager runs. */
  readonly machine: string
  /** Generates a new UUID at every call. */
  readonly uuid: () => string
}

/**
 * A config completed with data from the host of the manager: kubeconfig, settings file and identity.
 * Instances are created only by `complete`.
 */
export class CompletedConfig {
  readonly config: ManagerConfig
  readonly access: KubeApiAccess
  /** Lease identity, unique per process. After a crash the restarted process is a new lease holder. */
  readonly identity: string
  readonly settings: ManagerSettings

  private constructor(
    config: ManagerConfig,
    access: KubeApiAccess,
    identity: string,
    settings: ManagerSettings,
  ) {
    this.config = config
    this.access = access
    this.identity = identity
    this.settings = settings
  }

  static async complete(
    config: ManagerConfig,
    { readFile, machine, uuid }: CompleteOptions,
  ): Promise<CompletedConfig> {
    const file = config.kubeconfig
    const text = await readFile(file).catch((cause: unknown) => {
      throw new HyperkubeError('KUBECONFIG_NOT_READ', `${file} cannot be read: ${formatError(cause)}`)
    })
    const settings = await readSettings(config.settings, readFile)
    return new CompletedConfig(config, parseKubeconfig(text, file), `${machine}_${uuid()}`, settings)
  }
}

/**
 * Reads the settings file. Throws if any setting is invalid, because the manager must not run with only some
 * of its settings.
 */
async function readSettings(
  file: string | undefined,
  readFile: CompleteOptions['readFile'],
): Promise<ManagerSettings> {
  if (file === undefined) return emptySettings
  try {
    return readVersioned(managerSettingsFormat, JSON.parse(await readFile(file)))
  } catch (cause) {
    throw new HyperkubeError('MANAGER_SETTINGS', `the settings file ${file} is not valid`, {
      hint: 'to write the file again, in the directory of cluster.yml: hyperkube up',
      cause,
    })
  }
}
