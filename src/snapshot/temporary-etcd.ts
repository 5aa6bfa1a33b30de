import { request } from 'node:http'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import type { KeyCount } from '../etcd/member.ts'
import { buildCountRequest, countResponse } from '../etcd/wire.ts'
import { startChildService } from '../kit/child-service.ts'
import { runProgram } from '../kit/command.ts'
import { snapshotNotRestored } from './errors.ts'

/** Paths of the etcd programs. */
export interface EtcdPrograms {
  readonly etcd: string
  readonly etcdutl: string
}

/** A temporary etcd with one member, created from a database. */
export interface TemporaryEtcd extends AsyncDisposable {
  /** URL of the socket on which etcd serves clients. */
  readonly endpoint: string
  /** Counts the keys at a revision; by default at the current one. */
  countKeys(revision?: number): Promise<KeyCount>
}

/** Timeout for the start, in milliseconds. It is long because a large database takes long to load. */
const startTimeoutMs = 600_000

const memberName = 'scratch'
/** etcd requires a peer URL. The URL is never used, because there is only one member. */
const peerUrl = 'http://localhost:2380'
const membership = [`--initial-cluster=${memberName}=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`]

/** Restores a database into a private directory and starts etcd on it. */
export async function startTemporaryEtcd(
  programs: EtcdPrograms,
  database: string,
  directory: string,
  signal: AbortSignal,
): Promise<TemporaryEtcd> {
  await restoreDatabase(programs, database, directory, signal)
  return startRestoredEtcd(programs, directory, signal)
}

/** Restores a database into the data directory of a temporary etcd. */
export async function restoreDatabase(
  { etcdutl }: EtcdPrograms,
  database: string,
  directory: string,
  signal: AbortSignal,
): Promise<void> {
  await runProgram(
    [etcdutl, 'snapshot', 'restore', database, '--data-dir=data', `--name=${memberName}`, ...membership],
    // With an empty environment, ETCD_* variables of the operator do not apply.
    { cwd: directory, env: {}, signal },
  ).catch((error: unknown) => {
    signal.throwIfAborted()
    throw snapshotNotRestored(error)
  })
}

/**
 * Starts etcd on a restored data directory. etcd listens only on sockets in the private directory, because it
 * serves all data without authentication. A caller may start a newer etcd version on a directory that an
 * older version used before.
 */
export async function startRestoredEtcd(
  programs: Pick<EtcdPrograms, 'etcd'>,
  directory: string,
  signal: AbortSignal,
): Promise<TemporaryEtcd> {
  const socket = join(directory, 'client')
  const service = await startChildService({
    what: 'the restored etcd to be ready',
    argv: [programs.etcd, ...flags],
    cwd: directory,
    isReady: async (pollSignal) => isReady(socket, pollSignal),
    startTimeoutMs,
    toStartError: (output) => snapshotNotRestored(new Error(output)),
    signal,
  })
  return {
    endpoint: `unix://${socket}`,
    async countKeys(revision) {
      const body = JSON.stringify(buildCountRequest(revision))
      const { status, text } = await requestOverSocket(socket, 'POST', '/v3/kv/range', body, signal)
      if (status !== 200) throw snapshotNotRestored(new Error(text.slice(0, 500)))
      return countResponse.parse(JSON.parse(text))
    },
    [Symbol.asyncDispose]: async () => service[Symbol.asyncDispose](),
  }
}

const flags = [
  '--data-dir=data',
  `--name=${memberName}`,
  ...membership,
  '--listen-client-urls=unix://client',
  '--advertise-client-urls=http://localhost:2379',
  '--listen-peer-urls=unix://peer',
  // The data is soon deleted, so it need not survive a crash.
  '--unsafe-no-fsync',
  // Larger than any snapshot, so that no space alarm is raised.
  `--quota-backend-bytes=${16 * 2 ** 30}`,
  '--log-level=error',
]

async function isReady(socket: string, signal: AbortSignal): Promise<boolean> {
  return (await requestOverSocket(socket, 'GET', '/readyz', undefined, signal)).status === 200
}

interface SocketResponse {
  readonly status: number
  readonly text: string
}

/** Sends one HTTP request to a server on a local socket. */
async function requestOverSocket(
  socketPath: string,
  method: string,
  path: string,
  body: string | undefined,
  signal: AbortSignal,
): Promise<SocketResponse> {
  return new Promise((resolve, reject) => {
    const clientRequest = request({ socketPath, method, path, signal, agent: false }, (response) => {
      readText(response).then(
        (all) => resolve({ status: response.statusCode ?? 0, text: all }),
        (error: unknown) => reject(new Error('the response is incomplete', { cause: error })),
      )
    })
    clientRequest.on('error', reject)
    clientRequest.end(body)
  })
}
