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

  private constructor(config: ManagerConfig, access: Access, identity: string) {
    this.config = config
    this.access = access
    this.identity = identity
  }

  static async complete(
    config: ManagerConfig,
    { readFile, machine, uuid }: CompleteOptions,
  ): Promise<CompletedConfig> {
    const file = config.kubeconfig
    const text = await readFile(file).catch((cause: unknown) => {
      throw new HyperkubeError('KUBECONFIG_NOT_READ', `${file} cannot be read: ${describe(cause)}`)
    })
    return new CompletedConfig(config, accessOf(text, file), `${machine}_${uuid()}`)
  }
}
