import { readNeeded } from '../source.ts'
import type { Fact } from './fact.ts'

/** Under systemd there is a directory that says so; the first process may bear another name, as in some containers. */
export const init: Fact<'init'> = async (source) => {
  const [booted, name, maps] = await Promise.all([
    source.exists('/run/systemd/system'),
    readNeeded(source, '/proc/1/comm'),
    source.readFile('/proc/1/maps'),
  ])
  return booted
    ? { name: 'systemd', version: systemdVersion(maps ?? '') }
    : { name: name.trim(), version: '' }
}

/** The library of systemd that the first process runs with has the version in its name. */
export function systemdVersion(maps: string): string {
  return /\/libsystemd-(?:shared|core)-(\d+)[^/\s]*\.so/.exec(maps)?.[1] ?? ''
}
