import { posix } from 'node:path'
import { splitLines } from './host-script.ts'
import type { AdoptedHost } from './observation.ts'

const tableName = `(?:"([^"]+)"|'([^']+)'|([\\w-]+))`
const runtimeTable = new RegExp(`\\.containerd\\.runtimes\\.${tableName}\\]$`)
const registryTable = new RegExp(`\\.registry\\.(?:mirrors|configs)\\.${tableName}`)

/** Reads what the configuration of containerd has in addition to its defaults, or instead of them. */
export function readRuntimeSettings(
  tables: string,
  registryDirectories: string,
): Required<Pick<AdoptedHost['runtime'], 'settings'>> &
  Pick<AdoptedHost['runtime'], 'systemdCgroup' | 'pluginDirectories'> {
  const settings: string[] = []
  let table = ''
  let systemdCgroup: boolean | undefined
  const pluginDirectories: string[] = []
  const add = (kind: string, names: readonly (string | undefined)[]): void => {
    for (const name of names) if (name !== undefined && name !== 'runc') settings.push(`${kind} ${name}`)
  }
  for (const line of splitLines(tables)) {
    const text = line.trim()
    if (text.startsWith('[')) table = text
    add('registry', registryTable.exec(text)?.slice(1) ?? [])
    add('runtime', runtimeTable.exec(text)?.slice(1) ?? [])
    add('default runtime', /^default_runtime_name = ["'](.+)["']$/.exec(text)?.slice(1) ?? [])
    const [, isSystemd] = /^SystemdCgroup = (true|false)$/.exec(text) ?? []
    if (isSystemd !== undefined && /\.runtimes\.["']?runc["']?\.options\]$/.test(table))
      systemdCgroup = isSystemd === 'true'
    if (table.endsWith('.cni]') && /^bin_dirs? = /.test(text))
      for (const [, path = ''] of text.matchAll(/["']([^"']+)["']/g)) pluginDirectories.push(path)
  }
  add(
    'registry',
    splitLines(registryDirectories).map((path) => posix.basename(path)),
  )
  return {
    settings: [...new Set(settings)],
    ...(systemdCgroup === undefined ? {} : { systemdCgroup }),
    ...(pluginDirectories.length === 0 ? {} : { pluginDirectories }),
  }
}
