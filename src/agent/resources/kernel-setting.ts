import { HyperkubeError } from '../../kit/errors.ts'
import { formatSetting, type Host, type LinuxHost } from '../host/host.ts'
import { resolveAccess } from '../host/file-access.ts'
import { type ResourceHandler, wasRemoved } from './resource-handler.ts'

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
    if (now !== value) return { drift: `it is ${now ?? 'not set'}, not ${value}` }
    const persisted = await hasSetting(host, host.layout.sysctls, name, value)
    return persisted ? 'as-written' : { drift: 'not persistent: it changes at the next boot' }
  },

  async recordBefore({ name, value }, { host, head }) {
    return { ...head, target: 'sysctl', value, before: await host.kernel.readSetting(name) }
  },

  async make({ name, value }, { host, head, component }, previous) {
    const now = await host.kernel.readSetting(name)
    if (now === undefined) {
      throw new HyperkubeError('APPLY_NO_SETTING', `the kernel has no setting ${name}`, {
        component: component.name,
        hint: 'the plan was made from old facts: run the same command again',
      })
    }
    // The value is persisted before it is set. If the run is interrupted in between, the kernel still has the
    // wrong value, so the next run finds the drift and sets the value.
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

/** Handler for kernel modules, which are loaded now and at each boot. */
export const kernelModuleHandler: ResourceHandler<'module', string, LinuxHost> = {
  target: 'module',
  findSpec: ({ modules }, name) => modules.find((one) => one === name),

  async inspect({ name }, { host }) {
    if (!(await host.kernel.isLoaded(name))) return 'absent'
    const persisted = await hasSetting(host, host.layout.modules, name, '')
    return persisted ? 'as-written' : { drift: 'not loaded at boot' }
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

/** Settings of a file with one setting per line, keyed by name. */
type SettingsLines = ReadonlyMap<string, string>

const heading = '# Written by hyperkube, which writes it again.\n'

/** Parses lines of NAME or NAME = VALUE. */
export function parseSettingsFile(text: string): SettingsLines {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [name = '', ...value] = line.split('=')
      return [name.trim(), value.join('=').trim()] as const
    }),
  )
}

export function formatSettingsFile(settings: SettingsLines): string {
  const lines = [...settings].map(([name, value]) => (value === '' ? name : `${name} = ${value}`))
  return `${heading}${lines.toSorted().join('\n')}\n`
}

export async function hasSetting(host: Host, file: string, name: string, value: string): Promise<boolean> {
  return (await readSettingsFile(host, file)).get(name) === value
}

/**
 * Writes one setting to a file, or removes it if `value` is undefined. A file without settings is deleted.
 */
export async function persistSetting(
  host: Host,
  file: string,
  name: string,
  value: string | undefined,
): Promise<void> {
  const settings = new Map(await readSettingsFile(host, file))
  if (value === undefined ? !settings.delete(name) : settings.get(name) === value) return
  if (value !== undefined) settings.set(name, value)
  if (settings.size === 0) {
    await host.files.remove(file)
    return
  }
  const access = await resolveAccess(host, { owner: 'root', mode: '0644' })
  await host.files.write(file, Buffer.from(formatSettingsFile(settings)), access)
}

async function readSettingsFile({ files }: Host, file: string): Promise<SettingsLines> {
  return parseSettingsFile((await files.read(file))?.toString('utf8') ?? '')
}
