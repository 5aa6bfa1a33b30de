import type { Fact, LinuxFacts } from './fact.ts'

export const readSelinux: Fact<'selinux'> = async ({ readFile }) =>
  parseEnforce(await readFile('/sys/fs/selinux/enforce'))

/** Parses /sys/fs/selinux/enforce, which does not exist if SELinux is disabled. */
export function parseEnforce(text: string | undefined): LinuxFacts['selinux'] {
  if (text === undefined) return 'disabled'
  return text.trim() === '1' ? 'enforcing' : 'permissive'
}
