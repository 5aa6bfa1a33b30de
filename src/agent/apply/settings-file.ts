import type { Host } from '../host/host.ts'
import { resolveAccess } from './planned-access.ts'

/** Settings of a file with one setting per line, keyed by name. */
export type SettingsLines = ReadonlyMap<string, string>

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
