import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { text as readText } from 'node:stream/consumers'
import type { KeyCount } from '../etcd/member.ts'
import { buildCountRequest, countResponse } from '../etcd/wire.ts'
import { runProgram } from '../kit/command.ts'
import { formatError } from '../kit/errors.ts'
import { pollUntil } from '../kit/poll.ts'
import { snapshotNotRestored } from './errors.ts'

/** Paths of the etcd programs. */
export interface EtcdPrograms {
  readonly etcd: string
  readonly etcdutl: string
}

/** A temporary etcd with one member, created from a database. */
export interface TemporaryEtcd extends AsyncDisposable {
  /** Counts the keys at a revision; by default at the current one. */
  countKeys(revision?: number): Promise<KeyCount>
}

/** Timeout for the start, in milliseconds. It is long because a large database takes long to load. */
const startTimeoutMs = 600_000

const memberName = 'scratch'
/** etcd requires a peer URL. It is never contacted, because there is only one member. */
const peerUrl = 'http://localhost:2380'
const membership = [`--initial-cluster=${memberName}=${peerUrl}`, `--initial-advertise-peer-urls=${peerUrl}`]

/**
 * Restores a database into a private directory and starts etcd on it. etcd listens only on sockets in that
 * directory, because it serves all data without authentication.
 */
export async function startTemporaryEtcd(
  programs: EtcdPrograms,
  database: string,
  directory: string,
  signal: AbortSignal,
): Promise<TemporaryEtcd> {
  await runProgram(
    [
      programs.etcdutl,
      'snapshot',
      'restore',
      database,
      '--data-dir=data',
      `--name=${memberName}`,
      ...membership,
    ],
    // With an empty environment, ETCD_* variables of the operator do not apply.
    { cwd: directory, env: {}, signal },
  ).catch((error: unknown) => {
    signal.throwIfAborted()
    throw snapshotNotRestored(error)
  })
  const child = spawn(programs.etcd, flags, { cwd: directory, env: {}, stdio: ['ignore', 'ignore', 'pipe'] })
  const exited = waitForExit(child)
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  // On abort etcd is killed at once, even if a request is pending.
  const kill = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', kill, { once: true })
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', kill)
    await stop()
  }
  const socket = join(directory, 'client')
  try {
    const exitedEarly = new AbortController()
    await Promise.race([
      pollUntil('the restored etcd to be ready', async (pollSignal) => isReady(socket, pollSignal), {
        timeoutMs: startTimeoutMs,
        intervalMs: 50,
        signal: AbortSignal.any([signal, exitedEarly.signal]),
      }),
      exited.then((output) => {
        exitedEarly.abort()
        throw snapshotNotRestored(new Error(output))
      }),
    ])
  } catch (error) {
    await close()
    signal.throwIfAborted()
    throw error
  }
  return {
    async countKeys(revision) {
      const body = JSON.stringify(buildCountRequest(revision))
      const { status, text } = await requestOverSocket(socket, 'POST', '/v3/kv/range', body, signal)
      if (status !== 200) throw snapshotNotRestored(new Error(text.slice(0, 500)))
      return countResponse.parse(JSON.parse(text))
    },
    [Symbol.asyncDispose]: close,
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

/** Returns the last output of the process after it has exited. */
async function waitForExit(child: ChildProcess): Promise<string> {
  let output = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-2000)
  })
  try {
    await once(child, 'close')
  } catch (error) {
    return formatError(error)
  }
  return output
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
