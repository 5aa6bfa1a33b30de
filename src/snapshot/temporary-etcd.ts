import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { allKeys } from '../etcd/count-request.ts'
import { countAnswer } from '../etcd/responses.ts'
import type { KeyCount } from '../etcd/member.ts'
import { run } from '../kit/command.ts'
import { describe } from '../kit/errors.ts'
import { until } from '../kit/poll-until.ts'
import { askSocket } from './ask-socket.ts'
import { notRestored } from './errors.ts'

/** Where etcd's own programs are. */
export interface EtcdPrograms {
  readonly etcd: string
  readonly etcdutl: string
}

/** An etcd of one member, made from a database for the moment. */
export interface ScratchMember extends AsyncDisposable {
  /** As of now, or of a revision before. */
  count(revision?: number): Promise<KeyCount>
}

/** A large database takes its time to be read, in milliseconds. */
const patience = 600_000

const name = 'scratch'
/** Nobody is ever asked there: the member is alone. */
const peer = 'http://localhost:2380'
const membership = [`--initial-cluster=${name}=${peer}`, `--initial-advertise-peer-urls=${peer}`]

/**
 * Restores a database into a directory that is for its owner alone, and starts etcd on it. It listens on sockets in that
 * directory and nowhere else, as it would tell everything to anybody.
 */
export async function startScratch(
  programs: EtcdPrograms,
  database: string,
  directory: string,
  signal: AbortSignal,
): Promise<ScratchMember> {
  await run(
    [programs.etcdutl, 'snapshot', 'restore', database, '--data-dir=data', `--name=${name}`, ...membership],
    // What the operator has set for an etcd of theirs is not meant for this one.
    { cwd: directory, env: {}, signal },
  ).catch((error: unknown) => {
    signal.throwIfAborted()
    throw notRestored(error)
  })
  const child = spawn(programs.etcd, flags, { cwd: directory, env: {}, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = endOf(child)
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL')
    await ended
  }
  // An abort need not wait for whoever is asked just now.
  const killed = (): void => void child.kill('SIGKILL')
  signal.addEventListener('abort', killed, { once: true })
  const close = async (): Promise<void> => {
    signal.removeEventListener('abort', killed)
    await stop()
  }
  const socket = join(directory, 'client')
  try {
    const gaveUp = new AbortController()
    await Promise.race([
      until('the restored etcd to be well', async (either) => isReady(socket, either), {
        within: patience,
        every: 50,
        signal: AbortSignal.any([signal, gaveUp.signal]),
      }),
      ended.then((words) => {
        gaveUp.abort()
        throw notRestored(new Error(words))
      }),
    ])
  } catch (error) {
    await close()
    signal.throwIfAborted()
    throw error
  }
  return {
    async count(revision) {
      const body = JSON.stringify(allKeys(revision))
      const { status, text } = await askSocket(socket, 'POST', '/v3/kv/range', body, signal)
      if (status !== 200) throw notRestored(new Error(text.slice(0, 500)))
      return countAnswer.parse(JSON.parse(text))
    },
    [Symbol.asyncDispose]: close,
  }
}

const flags = [
  '--data-dir=data',
  `--name=${name}`,
  ...membership,
  '--listen-client-urls=unix://client',
  '--advertise-client-urls=http://localhost:2379',
  '--listen-peer-urls=unix://peer',
  // It is gone in a moment, whatever happens to its disk.
  '--unsafe-no-fsync',
  // More than any snapshot has: it must not say that it is full.
  `--quota-backend-bytes=${16 * 2 ** 30}`,
  '--log-level=error',
]

async function isReady(socket: string, signal: AbortSignal): Promise<boolean> {
  return (await askSocket(socket, 'GET', '/readyz', undefined, signal)).status === 200
}

/** Its last words, once it has ended. */
async function endOf(child: ChildProcess): Promise<string> {
  let words = ''
  child.stderr?.on('data', (chunk: Buffer) => {
    words = (words + chunk.toString('utf8')).slice(-2000)
  })
  try {
    await once(child, 'close')
  } catch (error) {
    return describe(error)
  }
  return words
}
