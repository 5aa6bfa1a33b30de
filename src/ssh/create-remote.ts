import type { Argv } from '../kit/command.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { toPrintable } from '../kit/text.ts'
import { runToEnd, withTimeout, wrapProgram } from './exec.ts'
import type { ExecOptions, ExecResult, OpenOptions, Remote, RunningProgram } from './remote.ts'
import type { Channel, Transport } from './transport.ts'
import { uploadFile } from './upload.ts'

/** Builds a Remote on top of a transport. */
export function createRemote(transport: Transport): Remote {
  const { host } = transport
  const asRoot = cacheResult(async (signal) => probePermissions(transport, signal))

  const start = async (argv: Argv, { root = false, signal }: OpenOptions): Promise<Channel> => {
    signal.throwIfAborted()
    return transport.start(root ? (await asRoot(signal))(argv) : argv, signal)
  }

  const open = async (argv: Argv, options: OpenOptions): Promise<RunningProgram> =>
    wrapProgram(await start(argv, options), options.signal)

  const exec = async (argv: Argv, options: ExecOptions): Promise<ExecResult> => {
    const command = { host, argv }
    const { signal, clear } = withTimeout(options, command)
    try {
      return await runToEnd(await start(argv, { ...options, signal }), { ...options, signal }, command)
    } finally {
      clear()
    }
  }

  return {
    host,
    exec,
    open,
    upload: async (source, target, options) => uploadFile({ host, open }, source, target, options),
    dial: async (address, port, { signal }) => {
      signal.throwIfAborted()
      return transport.dial({ address, port }, signal)
    },
    dialSocket: async (path, { signal }) => {
      signal.throwIfAborted()
      // Only root may connect to these sockets. For other users, no connection is tried, because sshd would
      // log each refusal.
      return transport.user === 'root' ? transport.dialSocket?.(path, signal) : undefined
    },
    close: async () => transport.close(),
  }
}

/** Caches the first successful result. Failures are not cached. */
function cacheResult<T>(find: (signal: AbortSignal) => Promise<T>): (signal: AbortSignal) => Promise<T> {
  let found: T | undefined
  return async (signal) => (found ??= await find(signal))
}

async function probePermissions(transport: Transport, signal: AbortSignal): Promise<RootWrapper> {
  const { host, user } = transport
  const channel = await transport.start(permissionsProbe, signal)
  return parsePermissions(await runToEnd(channel, { signal }, { host, argv: permissionsProbe }), host, user)
}

/** Command that prints whether the user is root, or whether sudo works without a password. */
const permissionsProbe: Argv = [
  'sh',
  '-c',
  `if [ "$(id -u)" = 0 ]; then echo 'hyperkube permissions: root'; exit 0; fi
command -v sudo >/dev/null || { echo 'hyperkube permissions: no sudo'; exit 0; }
LC_ALL=C sudo -n true </dev/null && echo 'hyperkube permissions: sudo'
exit 0`,
]

/** Converts a command to one that runs as root. */
type RootWrapper = (argv: Argv) => Argv

interface ProbeOutput {
  readonly stdout: string
  readonly stderr: string
}

/**
 * Parses the output of `permissionsProbe`. The output may contain other lines, because a shell can print
 * further text.
 */
export function parsePermissions({ stdout, stderr }: ProbeOutput, host: string, user: string): RootWrapper {
  const [, permissions] = /^hyperkube permissions: (root|sudo|no sudo)$/m.exec(stdout) ?? []
  if (permissions === 'root') return (argv) => argv
  if (permissions === 'sudo') return (argv) => ['sudo', '-n', '--', ...argv]
  if (permissions === 'no sudo') {
    throw new HyperkubeError('SSH_NO_SUDO', `${user} is not root, and sudo is not installed`, {
      host,
      hint: 'install sudo as root on the host, or set ssh.user to root in cluster.yml',
    })
  }
  if (/password is required|authentication is required|a terminal is required/.test(stderr)) {
    throw new HyperkubeError(
      'SSH_SUDO_PASSWORD',
      `sudo requires a password for ${user}, or does not permit ${user} at all`,
      { host, hint: sudoersHint(user) },
    )
  }
  if (/must have a tty/.test(stderr)) {
    throw new HyperkubeError('SSH_NO_SUDO', `sudo requires a terminal for ${user}`, {
      host,
      hint: `as root on the host: echo 'Defaults:${user} !requiretty' > /etc/sudoers.d/hyperkube-tty`,
    })
  }
  const lastLine = toPrintable(stderr.trim().split('\n').at(-1) ?? '')
  throw new HyperkubeError(
    'SSH_NO_SUDO',
    `sudo does not permit ${user}${lastLine === '' ? '' : `: ${lastLine}`}`,
    { host, hint: sudoersHint(user) },
  )
}

function sudoersHint(user: string): string {
  return `as root on the host: echo '${user} ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/hyperkube`
}
