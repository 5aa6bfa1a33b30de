import type { Argv } from '../kit/command.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { printable } from '../kit/printable.ts'

/** Says whether the user is root, and if not, what sudo makes of a command that does no harm. */
export const rightsProbe: Argv = [
  'sh',
  '-c',
  `if [ "$(id -u)" = 0 ]; then echo 'hyperkube rights: root'; exit 0; fi
command -v sudo >/dev/null || { echo 'hyperkube rights: no sudo'; exit 0; }
LC_ALL=C sudo -n true </dev/null && echo 'hyperkube rights: sudo'
exit 0`,
]

/** Turns a command into root's. */
export type AsRoot = (argv: Argv) => Argv

interface Probed {
  readonly stdout: string
  readonly stderr: string
}

/** Reads the probe's answer. A shell may greet with more than it. */
export function rightsOf({ stdout, stderr }: Probed, host: string, user: string): AsRoot {
  const [, rights] = /^hyperkube rights: (root|sudo|no sudo)$/m.exec(stdout) ?? []
  if (rights === 'root') return (argv) => argv
  if (rights === 'sudo') return (argv) => ['sudo', '-n', '--', ...argv]
  if (rights === 'no sudo') {
    throw new HyperkubeError('SSH_NO_SUDO', `${user} is not root, and there is no sudo`, {
      host,
      hint: 'install sudo as root on the host, or set ssh.user to root in cluster.yml',
    })
  }
  if (/password is required|authentication is required|a terminal is required/.test(stderr)) {
    throw new HyperkubeError(
      'SSH_SUDO_PASSWORD',
      `sudo wants a password of ${user}, or gives ${user} no rights at all`,
      { host, hint: sudoersHint(user) },
    )
  }
  if (/must have a tty/.test(stderr)) {
    throw new HyperkubeError('SSH_NO_SUDO', `sudo lets ${user} in from a terminal only`, {
      host,
      hint: `as root on the host: echo 'Defaults:${user} !requiretty' > /etc/sudoers.d/hyperkube-tty`,
    })
  }
  const words = printable(stderr.trim().split('\n').at(-1) ?? '')
  throw new HyperkubeError(
    'SSH_NO_SUDO',
    `sudo gives ${user} no rights${words === '' ? '' : `; it says: ${words}`}`,
    { host, hint: sudoersHint(user) },
  )
}

function sudoersHint(user: string): string {
  return `as root on the host: echo '${user} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/hyperkube`
}
