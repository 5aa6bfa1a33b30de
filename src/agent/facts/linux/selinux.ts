import type { Fact, LinuxFacts } from './fact.ts'

export const selinux: Fact<'selinux'> = async ({ readFile }) =>
  parseEnforce(await readFile('/sys/fs/selinux/enforce'))

/** Where SELinux is off, there is no such file. */
export function parseEnforce(text: string | undefined): LinuxFacts['selinux'] {
  if (text === undefined) return 'disabled'
  return text.trim() === '1' ? 'enforcing' : 'permissive'
}
