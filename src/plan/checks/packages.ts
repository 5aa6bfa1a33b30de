import type { LinuxSystemFacts } from '../context.ts'

const families: readonly { readonly manager: string; readonly distributions: RegExp }[] = [
  { manager: 'apt-get', distributions: /^(debian|ubuntu|raspbian|linuxmint)$/ },
  { manager: 'dnf', distributions: /^(rhel|centos|fedora|rocky|almalinux|ol|amzn)$/ },
  { manager: 'zypper', distributions: /^(sles|opensuse.*)$/ },
]

/** Returns the command that installs a package on this distribution. */
export function formatInstallCommand({ distribution }: LinuxSystemFacts, name: string): string {
  const family = families.find(({ distributions }) => distributions.test(distribution.id))
  return family === undefined ? `install ${name}` : `${family.manager} install ${name}`
}
