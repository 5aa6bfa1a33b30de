import type { Host } from '../host/host.ts'
import { accessOf } from './planned-access.ts'

/** Of a file with one setting in each line. */
export type Settings = ReadonlyMap<string, string>

const heading = '# Written by hyperkube, which writes it again.\n'

/** From lines of NAME, or NAME = VALUE. */
export function readSettings(text: string): Settings {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const [name = '', ...value] = line.split('=')
      return [name.trim(), value.join('=').trim()] as const
    }),
  )
}

export function settingsText(settings: Settings): string {
  const lines = [...settings].map(([name, value]) => (value === '' ? name : `${name} = ${value}`))
  return `${heading}${lines.toSorted().join('\n')}\n`
}

export async function hasSetting(host: Host, file: string, name: string, value: string): Promise<boolean> {
  return (await settingsIn(host, file)).get(name) === value
}

/** Without a value it is taken out; a file without any goes. */
export async function keepSetting(
  host: Host,
  file: string,
  name: string,
  value: string | undefined,
): Promise<void> {
  const settings = new Map(await settingsIn(host, file))
  if (value === undefined ? !settings.delete(name) : settings.get(name) === value) return
  if (value !== undefined) settings.set(name, value)
  if (settings.size === 0) {
    await host.files.remove(file)
    return
  }
  const access = await accessOf(host, { owner: 'root', mode: '0644' })
  await host.files.write(file, Buffer.from(settingsText(settings)), access)
}

async function settingsIn({ files }: Host, file: string): Promise<Settings> {
  return readSettings((await files.read(file))?.toString('utf8') ?? '')
}
