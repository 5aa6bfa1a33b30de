import { readRequiredFile } from '../source.ts'
import type { Fact } from './fact.ts'

/** systemd is detected by its directory: the first process may have another name, as in some containers. */
export const readInit: Fact<'init'> = async (source) => {
  const [booted, name, maps] = await Promise.all([
    source.exists('/run/systemd/system'),
    readRequiredFile(source, '/proc/1/comm'),
    source.readFile('/proc/1/maps'),
  ])
  return booted
    ? { name: 'systemd', version: parseSystemdVersion(maps ?? '') }
    : { name: name.trim(), version: '' }
}

/** The systemd library that the first process has loaded has the version in its name. */
export function parseSystemdVersion(maps: string): string {
  return /\/libsystemd-(?:shared|core)-(\d+)[^/\s]*\.so/.exec(maps)?.[1] ?? ''
}
