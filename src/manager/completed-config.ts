import { type ManagerSettings, managerSettingsFormat, emptySettings } from '../contract/manager-settings.ts'
import { readVersioned } from '../contract/versioned.ts'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import { type KubeApiAccess, parseKubeconfig } from '../kube/kubeconfig.ts'
import type { ManagerConfig } from './config.ts'

export interface CompleteOptions {
  readonly readFile: (path: string) => Promise<string>
  /** Host name of this machine. */
  readonly machine: string
  /** Generates a UUID, a new one at every call. */
  readonly uuid: () => string
}

/**
 * A config completed with data from this machine: kubeconfig, settings file and identity. Only `complete`
 * creates it.
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
 * Reads the settings file. Invalid settings fail before anything starts, because running with only some of
 * them would be wrong.
 */
async function readSettings(
  file: string | undefined,
  readFile: CompleteOptions['readFile'],
): Promise<ManagerSettings> {
  if (file === undefined) return emptySettings
  try {
    return readVersioned(managerSettingsFormat, JSON.parse(await readFile(file)))
  } catch (cause) {
    throw new HyperkubeError('MANAGER_SETTINGS', `${file} cannot be used`, {
      hint: 'where cluster.yml is: hyperkube up writes it again',
      cause,
    })
  }
}
