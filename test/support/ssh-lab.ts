import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import type { Host } from '../../lab/hosts/host.ts'
import type { Lab } from '../../lab/hosts/lab.ts'
import { pollUntil } from '../../src/kit/poll.ts'
import { connectBuiltIn } from '../../src/ssh/built-in-ssh.ts'
import type { ConnectOptions } from '../../src/ssh/options.ts'
import type { Remote } from '../../src/ssh/remote.ts'
import { noSshConfig } from '../../src/ssh/ssh-config.ts'
import { resolveSshRoute, type SshRoute, type SshSettings } from '../../src/ssh/ssh-route.ts'
import { connectWithSystemSsh } from '../../src/ssh/system-ssh.ts'
import { openFreshLab } from './lab.ts'

/** Two lab hosts for ssh tests, and a directory of the machine that runs the tests. */
export interface SshHosts {
  readonly lab: Lab
  readonly h1: Host
  readonly h2: Host
  /** Temporary directory of the machine that runs the tests. */
  readonly local: string
}

export type ConnectTo = (route: SshRoute, more?: Partial<ConnectOptions>) => Promise<Remote>

export interface SshLab {
  /** Returns the hosts, which run during all tests of the file. */
  readonly getHosts: () => SshHosts
  readonly routeTo: (host: Host, ssh?: SshSettings) => SshRoute
  /** hyperkube's own ssh client and that of the operating system, each with its name in test titles. */
  readonly clients: readonly (readonly [string, ConnectTo])[]
}

export const { signal } = new AbortController()
export const connectOptions: ConnectOptions = { signal, verify: () => 'first-use', timeout: 20_000 }

/** Starts two hosts before the first test of a file, and stops them after the last. */
export function setUpSshLab(name: string): SshLab {
  let hosts: SshHosts | undefined
  const getHosts = (): SshHosts => {
    if (hosts === undefined) throw new Error('the hosts are not up yet')
    return hosts
  }
  const stack = new AsyncDisposableStack()
  beforeAll(async () => {
    const lab = await openFreshLab(name)
    stack.defer(async () => lab.down())
    const [h1, h2] = await lab.up(['h1', 'h2'])
    if (h1 === undefined || h2 === undefined) throw new Error('two hosts were asked for')
    const local = await mkdtemp(join(tmpdir(), 'hyperkube-e2e-ssh-'))
    stack.defer(async () => rm(local, { recursive: true, force: true }))
    hosts = { lab, h1, h2, local }
  })
  afterAll(async () => stack.disposeAsync())
  return {
    getHosts,
    routeTo(host, ssh = {}) {
      const { local } = getHosts()
      const settings = { user: 'root', key: host.ssh.keyFile, ...ssh }
      const wanted = { name: host.name, address: host.address, ssh: settings }
      return resolveSshRoute(wanted, {}, noSshConfig, { user: 'nobody', home: local, directory: local })
    },
    clients: [
      ['built-in', async (route, more = {}) => connectBuiltIn(route, { ...connectOptions, ...more })],
      [
        'system',
        async (route, more = {}) =>
          connectWithSystemSsh(route, { ...connectOptions, ...more, temporary: getHosts().local }),
      ],
    ],
  }
}

/** Runs a function with a connection, and always closes the connection afterwards. */
export async function withRemote<T>(
  remote: Promise<Remote>,
  use: (remote: Remote) => Promise<T>,
): Promise<T> {
  const opened = await remote
  try {
    return await use(opened)
  } finally {
    await opened.close()
  }
}

/** Reads the host key that the lab gave to a host. */
export async function readHostKey(host: Host): Promise<string> {
  const [, type = '', blob = ''] = (await readFile(host.ssh.knownHosts, 'utf8')).split(' ')
  return `${type} ${blob}`
}

export async function listens(host: Host, port: number): Promise<boolean> {
  return (await host.exec(['ss', '-Htln', 'sport', '=', `:${port}`])).stdout !== ''
}

/**
 * Starts another sshd on a host with its own settings. Waits until sshd listens, because the start command
 * returns earlier.
 */
export async function startExtraSshd(
  host: Host,
  port: number,
  ...settings: readonly string[]
): Promise<void> {
  if (await listens(host, port)) return
  const set = ['PidFile=none', ...settings].flatMap((setting) => ['-o', setting])
  await host.exec(['/usr/sbin/sshd', '-p', String(port), ...set])
  await pollUntil(`sshd on port ${port}`, async () => listens(host, port), { timeoutMs: 10_000 })
}
