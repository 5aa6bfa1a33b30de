import { type ManagerSettings, managerSettingsFormat, emptySettings } from '../contract/manager-settings.ts'
import { readVersioned } from '../contract/versioned.ts'
import { formatError, HyperkubeError } from '../kit/errors.ts'
import { type KubeApiAccess, parseKubeconfig } from '../kube/kubeconfig.ts'
import type { ManagerConfig } from './config.ts'

export interface CompleteOptions {
  readonly readFile: (path: string) => Promise<string>
  /** Host name of this machine. */
  readonly machine: string
  /** Returns a new value at every call. */
  readonly uuid: () => string
}

/** A config with everything that only the machine knows. `complete` is the only way to get one. */
export class CompletedConfig {
  readonly config: ManagerConfig
  readonly access: KubeApiAccess
  /** Unique per process: after a crash the restarted process is another lease holder. */
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
 * Invalid settings are refused before anything starts: running with half of them would not be what the
 * operator asked for.
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
