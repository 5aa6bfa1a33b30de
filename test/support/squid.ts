import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'

export interface SquidOptions {
  /** Address to listen on. */
  readonly address: string
  readonly port: number
  readonly username: string
  readonly password: string
  /** Directory for configuration and logs. */
  readonly directory: string
}

/** A request in the log of squid: client, result and target. */
export interface SquidRequest {
  readonly client: string
  readonly status: number
  readonly target: string
}

export interface Squid extends AsyncDisposable {
  readonly url: string
  readonly requests: () => Promise<readonly SquidRequest[]>
}

/** User as which Debian's squid runs. */
export const squidUser = 'proxy'

/** Starts Debian's squid without a cache. It demands a login from every client. */
export async function startSquid(options: SquidOptions): Promise<Squid> {
  const { address, port, username, password, directory } = options
  const { stdout: hash } = await runProgram(['openssl', 'passwd', '-apr1', '-stdin'], { input: password })
  const [users, configuration, log] = ['users', 'squid.conf', 'access.log'].map((name) =>
    join(directory, name),
  )
  if (users === undefined || configuration === undefined || log === undefined) throw new Error('no paths')
  await mkdir(directory, { recursive: true })
  await writeFile(users, `${username}:${hash.trim()}\n`)
  await writeFile(configuration, renderConfiguration(options, users, log))
  await runProgram(['chown', '-R', squidUser, directory])
  const squid = spawn('/usr/sbin/squid', ['-N', '-f', configuration], { stdio: 'ignore' })
  const ended = once(squid, 'exit')
  await pollUntil(
    'squid listens',
    async () => {
      if (squid.exitCode !== null) throw new Error(await readFile(join(directory, 'cache.log'), 'utf8'))
      const check = ['bash', '-c', `exec 3<>/dev/tcp/${address}/${port}`] as const
      return (await runProgram(check, { allowFailure: true })).code === 0
    },
    { timeoutMs: 20_000, intervalMs: 100 },
  )
  return {
    url: `http://${address}:${port}`,
    requests: async () => parseLog(await readFile(log, 'utf8').catch(() => '')),
    async [Symbol.asyncDispose]() {
      squid.kill('SIGKILL')
      await ended
    },
  }
}

function renderConfiguration({ address, port, directory }: SquidOptions, users: string, log: string): string {
  return `http_port ${address}:${port}
pid_filename none
cache deny all
cache_log ${join(directory, 'cache.log')}
logformat requests %>a %>Hs %ru
access_log stdio:${log} requests
coredump_dir ${directory}
shutdown_lifetime 0 seconds
auth_param basic program /usr/lib/squid/basic_ncsa_auth ${users}
auth_param basic realm lab
auth_param basic children 3 startup=1
pinger_enable off
acl users proxy_auth REQUIRED
http_access allow users
http_access deny all
`
}

function parseLog(text: string): SquidRequest[] {
  return text
    .trim()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const [client = '', status = '', target = ''] = line.split(' ')
      return { client, status: Number(status), target }
    })
}
