import { readRequiredFile } from '../source.ts'
import type { Fact } from './fact.ts'

/** Detects systemd by its runtime directory, because process 1 may have another name in a container. */
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

/** Finds the version of systemd in the name of a library that process 1 has loaded. */
export function parseSystemdVersion(maps: string): string {
  return /\/libsystemd-(?:shared|core)-(\d+)[^/\s]*\.so/.exec(maps)?.[1] ?? ''
}
