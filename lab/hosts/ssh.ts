import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { Argv } from '../../src/kit/command.ts'
import { run } from '../../src/kit/command.ts'
import { until } from '../../src/kit/until.ts'

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

/** Waits until sshd greets, then opens the connection that later commands share. */
export async function openConnection(target: SshTarget, within: number): Promise<void> {
  await until(`sshd at ${target.address}`, async () => greets(target.address), { within, every: 50 })
  // Not through run(): the master stays, and would hold our pipes open for as long as it lives.
  const master = spawn('ssh', ['-MNf', ...options(target), `root@${target.address}`], { stdio: 'ignore' })
  await new Promise<void>((resolve, reject) => {
    master.on('error', reject)
    master.on('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`ssh to ${target.address} ended with ${code}`)),
    )
  })
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

export function controlSocket(directory: string, host: string): string {
  return join(directory, `${host}.ssh`)
}
