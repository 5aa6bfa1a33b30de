import { HyperkubeError } from '../../../kit/errors.ts'
import { formatSetting } from '../../host/kernel.ts'
import type { LinuxHost } from '../../host/host.ts'
import { hasSetting, persistSetting } from '../settings-file.ts'
import { wasRemoved, type ResourceHandler } from '../resource-handler.ts'

interface SysctlSpec {
  readonly name: string
  readonly value: string
}

/** Handler for kernel settings, which are set now and at each boot. */
export const sysctlHandler: ResourceHandler<'sysctl', SysctlSpec, LinuxHost> = {
  target: 'sysctl',

  findSpec({ sysctls }, name) {
    const value = sysctls[name]
    return value === undefined ? undefined : { name, value: formatSetting(value) }
  },

  async inspect({ name, value }, { host }) {
    const now = await host.kernel.readSetting(name)
    if (now !== value) return { drift: `it is ${now ?? 'not there'}, not ${value}` }
    const persisted = await hasSetting(host, host.layout.sysctls, name, value)
    return persisted ? 'as-written' : { drift: 'it would be another one after the next boot' }
  },

  async recordBefore({ name, value }, { host, head }) {
    return { ...head, target: 'sysctl', value, before: await host.kernel.readSetting(name) }
  },

  async make({ name, value }, { host, head, component }, previous) {
    const now = await host.kernel.readSetting(name)
    if (now === undefined) {
      throw new HyperkubeError('APPLY_NO_SETTING', `the kernel has no setting ${name}`, {
        component: component.name,
        hint: 'the facts that the plan was made from are old: plan again',
      })
    }
    // The setting is persisted before it is set: if the run is interrupted in between, the next run finds a
    // wrong value and repeats both.
    const persisted = await hasSetting(host, host.layout.sysctls, name, value)
    if (!persisted) await persistSetting(host, host.layout.sysctls, name, value)
    if (now !== value) await host.kernel.writeSetting(name, value)
    return {
      changed: now !== value || !persisted,
      resource: { ...head, target: 'sysctl', value, before: previous?.before },
    }
  },

  /** Restores the original value. */
  async remove({ name, before }, { host }) {
    if (before !== undefined) await host.kernel.writeSetting(name, before)
    await persistSetting(host, host.layout.sysctls, name, undefined)
    return wasRemoved
  },
}
