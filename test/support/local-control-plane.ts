import { spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { sendHttps } from '../../lab/cluster/kube-api.ts'
import { cacheDirectory } from '../../lab/cache.ts'
import { buildComponents } from '../../lab/components/build.ts'
import { selectParts } from '../../lab/components/parts.ts'
import { silentReport } from '../../lab/report.ts'
import { runProgram } from '../../src/kit/command.ts'
import { pollUntil } from '../../src/kit/poll.ts'

/** A response of the local API server, whatever its status is. */
export interface LocalResponse<T> {
  readonly status: number
  readonly body: T
}

/**
 * One etcd and one API server on the loopback address, without hosts. The data in etcd stays when another API
 * server starts.
 */
export interface LocalControlPlane extends AsyncDisposable {
  /** Starts an API server and stops the previous one. `version` is for example v1.37.1. */
  serve(version: string, flags: readonly string[]): Promise<void>
  /** Stops the API server. Clients lose their connections. */
  stopServing(): Promise<void>
  /** Saves the data of etcd and returns the path of the file. */
  saveSnapshot(): Promise<string>
  /** Replaces the data of etcd by a snapshot, as `hyperkube etcd restore` does. No API server may run. */
  restoreSnapshot(file: string): Promise<void>
  send<T>(method: string, path: string, body?: unknown): Promise<LocalResponse<T>>
  /** Process ids of etcd and of the running API server, to measure them. */
  pids(): { readonly etcd: number; readonly apiServer: number }
  /** Reads how clients reach the running API server. The CA changes when another API server starts. */
  readAccess(): Promise<LocalAccess>
}

export interface LocalAccess {
  readonly port: number
  readonly ca: string
  readonly token: string
}

const [etcdPort, peerPort, apiPort] = [23_790, 23_800, 16_443]
const stopTimeoutMs = 60_000

export async function startLocalControlPlane(etcdVersion: string): Promise<LocalControlPlane> {
  const stack = new AsyncDisposableStack()
  const directory = await mkdtemp(join(tmpdir(), 'local-control-plane-'))
  stack.defer(async () => rm(directory, { recursive: true }))
  const token = randomBytes(16).toString('hex')
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  const files = {
    tokens: join(directory, 'tokens'),
    key: join(directory, 'sa.key'),
    pub: join(directory, 'sa.pub'),
  }
  await writeFile(files.tokens, `${token},admin,admin,system:masters\n`, { mode: 0o600 })
  await writeFile(files.key, privateKey, { mode: 0o600 })
  await writeFile(files.pub, publicKey)
  const client = `http://127.0.0.1:${etcdPort}`
  const etcd = await findProgram('etcd', etcdVersion, 'etcd')
  const buildEtcdFlags = (data: string): string[] => [
    `--data-dir=${data}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=http://127.0.0.1:${peerPort}`,
    '--log-level=error',
  ]
  let etcdProgram = startProgram(etcd, buildEtcdFlags(join(directory, 'etcd')))
  stack.defer(async () => etcdProgram.stop())
  let server: Program | undefined
  stack.defer(async () => server?.stop())

  const send = async <T>(method: string, path: string, body?: unknown): Promise<LocalResponse<T>> => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    // The certificate is not verified: the server creates a new one at each start, and listens only on the
    // loopback address.
    const options = { method, headers, rejectUnauthorized: false }
    const { status, text } = await sendHttps(`https://127.0.0.1:${apiPort}`, path, options, body)
    return { status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }

  return {
    send,
    // The file contains the certificate of the server and of the CA that signed it.
    readAccess: async () => ({
      port: apiPort,
      ca: await readFile(join(directory, 'certificates/apiserver.crt'), 'utf8'),
      token,
    }),
    pids: () => ({ etcd: etcdProgram.pid, apiServer: server?.pid ?? 0 }),
    async stopServing() {
      await server?.stop()
      server = undefined
    },
    async saveSnapshot() {
      const file = join(directory, `snapshot-${randomBytes(4).toString('hex')}.db`)
      const etcdctl = join(dirname(etcd), 'etcdctl')
      await runProgram([etcdctl, `--endpoints=${client}`, 'snapshot', 'save', file])
      return file
    },
    async restoreSnapshot(file) {
      await etcdProgram.stop()
      const data = join(directory, `etcd-${randomBytes(4).toString('hex')}`)
      const etcdutl = join(dirname(etcd), 'etcdutl')
      const revision = ['--bump-revision=1000000000', '--mark-compacted'] as const
      await runProgram([etcdutl, 'snapshot', 'restore', file, `--data-dir=${data}`, ...revision])
      etcdProgram = startProgram(etcd, buildEtcdFlags(data))
    },
    async serve(version, flags) {
      await server?.stop()
      const program = await findProgram('kubernetes', version, 'kube-apiserver')
      server = startProgram(program, [
        `--etcd-servers=${client}`,
        `--secure-port=${apiPort}`,
        '--bind-address=127.0.0.1',
        `--cert-dir=${join(directory, 'certificates')}`,
        `--token-auth-file=${files.tokens}`,
        '--service-account-issuer=https://kubernetes.default.svc',
        `--service-account-signing-key-file=${files.key}`,
        `--service-account-key-file=${files.pub}`,
        '--service-cluster-ip-range=10.96.0.0/24',
        '--authorization-mode=RBAC',
        ...flags,
      ])
      await pollUntil(
        `kube-apiserver ${version} to be ready`,
        async () => (await send('GET', '/readyz').catch(() => undefined))?.status === 200,
        { timeoutMs: 120_000 },
      )
    },
    async [Symbol.asyncDispose]() {
      await stack.disposeAsync()
    },
  }
}

async function findProgram(part: string, version: string, program: string): Promise<string> {
  const options = { cache: cacheDirectory(), report: silentReport }
  const [built] = await buildComponents(selectParts([`${part}@${version}`]), options)
  if (built === undefined) throw new Error(`there is no part ${part}@${version}`)
  return join(built.directory, program)
}

interface Program {
  readonly pid: number
  readonly stop: () => Promise<void>
}

function startProgram(file: string, flags: readonly string[]): Program {
  const child = spawn(file, flags, { stdio: 'ignore' })
  const ended = once(child, 'close')
  return {
    pid: child.pid ?? 0,
    async stop() {
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      await ended
      clearTimeout(timer)
    },
  }
}
