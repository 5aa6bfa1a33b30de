import type { Argv } from '../kit/command.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/printable.ts'

/** Command that prints whether the user is root, or whether sudo works without a password. */
export const permissionsProbe: Argv = [
  'sh',
  '-c',
  `if [ "$(id -u)" = 0 ]; then echo 'hyperkube permissions: root'; exit 0; fi
command -v sudo >/dev/null || { echo 'hyperkube permissions: no sudo'; exit 0; }
LC_ALL=C sudo -n true </dev/null && echo 'hyperkube permissions: sudo'
exit 0`,
]

/** Converts a command to one that runs as root. */
export type RootWrapper = (argv: Argv) => Argv

interface ProbeOutput {
  readonly stdout: string
  readonly stderr: string
}

/** Parses the output of the probe, which may contain other lines of the shell. */
export function parsePermissions({ stdout, stderr }: ProbeOutput, host: string, user: string): RootWrapper {
  const [, permissions] = /^hyperkube permissions: (root|sudo|no sudo)$/m.exec(stdout) ?? []
  if (permissions === 'root') return (argv) => argv
  if (permissions === 'sudo') return (argv) => ['sudo', '-n', '--', ...argv]
  if (permissions === 'no sudo') {
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
  const lastLine = toPrintable(stderr.trim().split('\n').at(-1) ?? '')
  throw new HyperkubeError(
    'SSH_NO_SUDO',
    `sudo gives ${user} no rights${lastLine === '' ? '' : `; it says: ${lastLine}`}`,
    { host, hint: sudoersHint(user) },
  )
}

function sudoersHint(user: string): string {
  return `as root on the host: echo '${user} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/hyperkube`
}
