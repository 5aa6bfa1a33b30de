import { HyperkubeError } from '../../../kit/errors.ts'
import { settingText } from '../../host/kernel.ts'
import type { LinuxHost } from '../../host/host.ts'
import { hasSetting, keepSetting } from '../settings-file.ts'
import { removed, type Target } from '../resource-handler.ts'

interface SysctlWish {
  readonly name: string
  readonly value: string
}

/** A setting of the kernel, now and after each boot. */
export const sysctl: Target<'sysctl', SysctlWish, LinuxHost> = {
  target: 'sysctl',

  wish({ sysctls }, name) {
    const value = sysctls[name]
    return value === undefined ? undefined : { name, value: settingText(value) }
  },

  async inspect({ name, value }, { host }) {
    const now = await host.kernel.readSetting(name)
    if (now !== value) return { drift: `it is ${now ?? 'not there'}, not ${value}` }
    const kept = await hasSetting(host, host.layout.sysctls, name, value)
    return kept ? 'as-written' : { drift: 'it would be another one after the next boot' }
  },

  async foresee({ name, value }, { host, head }) {
    return { ...head, target: 'sysctl', value, before: await host.kernel.readSetting(name) }
  },

  async make({ name, value }, { host, head, component }, former) {
    const now = await host.kernel.readSetting(name)
    if (now === undefined) {
      throw new HyperkubeError('APPLY_NO_SETTING', `the kernel has no setting ${name}`, {
        component: component.name,
        hint: 'the facts that the plan was made from are old: plan again',
      })
    }
    // Before the value: who is cut in between finds a wrong value, and looks again.
    const kept = await hasSetting(host, host.layout.sysctls, name, value)
    if (!kept) await keepSetting(host, host.layout.sysctls, name, value)
    if (now !== value) await host.kernel.writeSetting(name, value)
    return {
      changed: now !== value || !kept,
      thing: { ...head, target: 'sysctl', value, before: former?.before },
    }
  },

  /** As it was before us. */
  async remove({ name, before }, { host }) {
    if (before !== undefined) await host.kernel.writeSetting(name, before)
    await keepSetting(host, host.layout.sysctls, name, undefined)
    return removed
  },
}
