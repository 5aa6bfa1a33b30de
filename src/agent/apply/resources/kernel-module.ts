import type { LinuxHost } from '../../host/host.ts'
import { hasSetting, keepSetting } from '../settings-file.ts'
import { type Target, removed } from '../resource-handler.ts'

/** A module of the kernel, loaded now and at each boot. */
export const module: Target<'module', string, LinuxHost> = {
  target: 'module',
  wish: ({ modules }, name) => modules.find((one) => one === name),

  async inspect({ name }, { host }) {
    if (!(await host.kernel.isLoaded(name))) return 'absent'
    const kept = await hasSetting(host, host.layout.modules, name, '')
    return kept ? 'as-written' : { drift: 'it would not be loaded at the next boot' }
  },

  async foresee(_, { head }) {
    return { ...head, target: 'module' }
  },

  async make(name, { host, head }) {
    const loaded = await host.kernel.isLoaded(name)
    if (!loaded) await host.kernel.load(name)
    const kept = await hasSetting(host, host.layout.modules, name, '')
    if (!kept) await keepSetting(host, host.layout.modules, name, '')
    return { changed: !loaded || !kept, thing: { ...head, target: 'module' } }
  },

  /** It stays loaded until the next boot: who else uses it by now, nobody can say. */
  async remove({ name }, { host }) {
    await keepSetting(host, host.layout.modules, name, undefined)
    return removed
  },
}
