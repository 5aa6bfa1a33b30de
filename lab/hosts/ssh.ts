import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { type Argv, runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'

export interface SshTarget {
  readonly address: string
  readonly keyFile: string
  readonly knownHosts: string
  /** ssh control socket of the connection that all commands share. */
  readonly control: string
}

export function sshArgv(target: SshTarget, ...command: readonly string[]): Argv {
  return ['ssh', ...buildSshOptions(target), `root@${target.address}`, ...command]
}

function buildSshOptions({ keyFile, knownHosts, control }: SshTarget): string[] {
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
 * Waits until the host accepts logins, and opens the connection that later commands share. Fails at once when
 * `isAlive` returns false.
 */
export async function openConnection(
  target: SshTarget,
  timeoutMs: number,
  isAlive: () => Promise<boolean>,
): Promise<void> {
  const stopped = new AbortController()
  await pollUntil(
    `logins at ${target.address}`,
    async () => {
      if (!(await isAlive())) stopped.abort(new Error('its processes have ended'))
      return (await hasSshBanner(target.address)) && (await openMasterConnection(target))
    },
    { timeoutMs, intervalMs: 50, signal: stopped.signal },
  )
}

export async function isConnected(target: SshTarget): Promise<boolean> {
  const [ssh, ...rest] = sshArgv(target)
  const { code } = await runProgram([ssh, '-O', 'check', ...rest], { allowFailure: true })
  return code === 0
}

/**
 * Opens the shared connection. runProgram() is not used, because the connection stays open and would keep the
 * pipes to this process open.
 */
async function openMasterConnection(target: SshTarget): Promise<boolean> {
  const master = spawn('ssh', ['-MNf', ...buildSshOptions(target), `root@${target.address}`], {
    stdio: 'ignore',
  })
  const [code] = await once(master, 'exit')
  return code === 0
}

export async function closeConnection(control: string): Promise<void> {
  await runProgram(['ssh', '-F', 'none', '-o', `ControlPath=${control}`, '-O', 'exit', 'nobody'], {
    allowFailure: true,
  })
}

async function hasSshBanner(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port: 22, timeout: 1000 })
    const finish = (isSsh: boolean): void => {
      socket.destroy()
      resolve(isSsh)
    }
    socket.on('data', (chunk) => finish(chunk.toString().startsWith('SSH-')))
    socket.on('error', () => finish(false))
    socket.on('timeout', () => finish(false))
    socket.on('close', () => finish(false))
  })
}

export async function generateKey(file: string, comment: string): Promise<void> {
  await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', comment, '-f', file])
}
