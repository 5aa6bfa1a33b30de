import type { LinuxHost } from '../../host/host.ts'
import { hasSetting, persistSetting } from '../settings-file.ts'
import { type ResourceHandler, wasRemoved } from '../resource-handler.ts'

/** Handler for kernel modules, which are loaded now and at each boot. */
export const kernelModuleHandler: ResourceHandler<'module', string, LinuxHost> = {
  target: 'module',
  findSpec: ({ modules }, name) => modules.find((one) => one === name),

  async inspect({ name }, { host }) {
    if (!(await host.kernel.isLoaded(name))) return 'absent'
    const persisted = await hasSetting(host, host.layout.modules, name, '')
    return persisted ? 'as-written' : { drift: 'it would not be loaded at the next boot' }
  },

  async recordBefore(_, { head }) {
    return { ...head, target: 'module' }
  },

  async make(name, { host, head }) {
    const loaded = await host.kernel.isLoaded(name)
    if (!loaded) await host.kernel.load(name)
    const persisted = await hasSetting(host, host.layout.modules, name, '')
    if (!persisted) await persistSetting(host, host.layout.modules, name, '')
    return { changed: !loaded || !persisted, resource: { ...head, target: 'module' } }
  },

  /**
   * Removes the module from the list for the next boot. It stays loaded until then, because other programs
   * may use it.
   */
  async remove({ name }, { host }) {
    await persistSetting(host, host.layout.modules, name, undefined)
    return wasRemoved
  },
}
