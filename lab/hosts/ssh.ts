import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type Argv, run } from '../../src/kit/command.ts'
import { until } from '../../src/kit/poll-until.ts'

export interface SshTarget {
  readonly address: string
  readonly keyFile: string
  readonly knownHosts: string
  /** Socket of the connection that all commands share. */
  readonly control: string
}

export function sshArgv(target: SshTarget, ...command: readonly string[]): Argv {
  return ['ssh', ...options(target), `root@${target.address}`, ...command]
}

function options({ keyFile, knownHosts, control }: SshTarget): string[] {
  return [
    ['-F', 'none'],
    ['-i', keyFile],
    ['-o', 'IdentitiesOnly=yes'],
    ['-o', 'BatchMode=yes'],
    ['-o', `UserKnownHostsFile=${knownHosts}`],
    ['-o', 'StrictHostKeyChecking=yes'],
    ['-o', 'LogLevel=ERROR'],
    ['-o', 'ConnectTimeout=5'],
    ['-o', 'ServerAliveInterval=5'],
    ['-o', `ControlPath=${control}`],
  ].flat()
}

/**
 * Waits until the host takes logins, and opens the connection that later commands share. Gives up at once when
 * `alive` says that there is nobody to wait for.
 */
export async function openConnection(
  target: SshTarget,
  within: number,
  alive: () => Promise<boolean>,
): Promise<void> {
  const gone = new AbortController()
  await until(
    `logins at ${target.address}`,
    async () => {
      if (!(await alive())) gone.abort(new Error('its processes have ended'))
      return (await greets(target.address)) && (await login(target))
    },
    { within, every: 50, signal: gone.signal },
  )
}

export async function isConnected(target: SshTarget): Promise<boolean> {
  const [ssh, ...rest] = sshArgv(target)
  const { code } = await run([ssh, '-O', 'check', ...rest], { allowFailure: true })
  return code === 0
}

/** Not through run(): the connection stays, and would hold our pipes open for as long as it lives. */
async function login(target: SshTarget): Promise<boolean> {
  const master = spawn('ssh', ['-MNf', ...options(target), `root@${target.address}`], { stdio: 'ignore' })
  const [code] = await once(master, 'exit')
  return code === 0
}

export async function closeConnection(control: string): Promise<void> {
  await run(['ssh', '-F', 'none', '-o', `ControlPath=${control}`, '-O', 'exit', 'nobody'], {
    allowFailure: true,
  })
}

async function greets(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: 22, timeout: 1000 })
    const answer = (greeted: boolean): void => {
      socket.destroy()
      resolve(greeted)
    }
    socket.on('data', (chunk) => answer(chunk.toString().startsWith('SSH-')))
    socket.on('error', () => answer(false))
    socket.on('timeout', () => answer(false))
    socket.on('close', () => answer(false))
  })
}

export async function makeKey(file: string, comment: string): Promise<void> {
  await run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', file])
}
