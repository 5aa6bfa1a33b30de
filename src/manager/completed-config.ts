import { type ManagerSettings, managerSettingsFormat, noSettings } from '../contract/manager-settings.ts'
import { readVersioned } from '../contract/versioned.ts'
import { describe, HyperkubeError } from '../kit/errors.ts'
import { type Access, accessOf } from '../kube/kubeconfig.ts'
import type { ManagerConfig } from './config.ts'

export interface CompleteOptions {
  readonly readFile: (path: string) => Promise<string>
  /** What this machine is called. */
  readonly machine: string
  /** Another one each time. */
  readonly uuid: () => string
}

/** A config with all that only the machine knows. There is no other way to one than `complete`. */
export class CompletedConfig {
  readonly config: ManagerConfig
  readonly access: Access
  /** Another one for each process: who comes back after a crash is somebody else. */
  readonly identity: string
  readonly settings: ManagerSettings

  private constructor(config: ManagerConfig, access: Access, identity: string, settings: ManagerSettings) {
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
      throw new HyperkubeError('KUBECONFIG_NOT_READ', `${file} cannot be read: ${describe(cause)}`)
    })
    const settings = await settingsOf(config.settings, readFile)
    return new CompletedConfig(config, accessOf(text, file), `${machine}_${uuid()}`, settings)
  }
}

/** What makes no sense is refused before anything begins: half of what was wished would be another wish. */
async function settingsOf(
  file: string | undefined,
  readFile: CompleteOptions['readFile'],
): Promise<ManagerSettings> {
  if (file === undefined) return noSettings
  try {
    return readVersioned(managerSettingsFormat, JSON.parse(await readFile(file)))
  } catch (cause) {
    throw new HyperkubeError('MANAGER_SETTINGS', `${file} cannot be used`, {
      hint: 'where cluster.yml is: hyperkube up writes it anew',
      cause,
    })
  }
}
