import { createInterface } from 'node:readline'
import { run } from '../kit/command.ts'
import { printable } from '../kit/printable.ts'
import { collectTail } from './collect.ts'
import { gatherCredentials } from './credentials.ts'
import { connectionLost, keyNotRead } from './login-errors.ts'
import type { Settings } from './options.ts'
import { processChannel } from './process-channel.ts'
import type { Reach } from './ssh-route.ts'
import { hopIn, lastWords, systemFailure } from './system-errors.ts'
import { unreachable } from './unreachable-error.ts'
import { expiring, unlessAborted } from './deadline.ts'

/** The one connection that all programs on a host share. */
export interface Master {
  /** Aborts with SSH_LOST when it ends, whoever ends it. */
  readonly lost: AbortSignal
  isAlive(): Promise<boolean>
  /** Why the host did not make a connection, the last time: nobody else is told. */
  refusal(): string | undefined
  close(): Promise<void>
}

export interface Destination {
  /** The file with all settings. */
  readonly config: string
  /** What the host is called there. */
  readonly name: string
}

/** ssh's words in English, whatever ours are. */
export function plainWords(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C' }
}

/** What runs at the other end as long as the connection stands, and how one sees that it does. */
export interface Vigil {
  readonly words: (name: string) => readonly string[]
  /** To be said first, where it speaks only when it is spoken to. */
  readonly greeting?: Buffer
  readonly ready: (said: Buffer) => boolean
}

/** A shell may greet with more than it is asked for. */
export const shellVigil: Vigil = {
  words: (name) => [name, 'echo hyperkube ready; exec cat >/dev/null'],
  ready: (said) => said.includes('hyperkube ready\n'),
}

/**
 * Stands as long as its input does: when we end, however that is, the program on the other side ends, and with it the
 * connection.
 */
export async function openMaster(
  reach: Reach,
  { config, name }: Destination,
  settings: Settings,
  vigil: Vigil = shellVigil,
): Promise<Master> {
  const channel = processChannel(
    ['ssh', '-F', config, '-o', 'ControlMaster=yes', ...vigil.words(name)],
    plainWords(),
  )
  const stderr = collectTail(channel.stderr)
  let refusal: string | undefined
  createInterface({ input: channel.stderr }).on('line', (line) => {
    refusal = /open failed: (.*)/.exec(line)?.[1] ?? refusal
  })
  channel.stdin.on('error', () => undefined)
  const limit = expiring(settings.signal, patience(reach, settings), () => tooSlow(reach, settings))
  try {
    await unlessAborted<void>([limit.signal], ({ succeed, fail }) => {
      let said: Buffer = Buffer.alloc(0)
      channel.stdout.on('data', (chunk: Buffer) => {
        said = Buffer.concat([said, chunk]).subarray(-4096)
        if (vigil.ready(said)) succeed()
      })
      if (vigil.greeting !== undefined) channel.stdin.write(vigil.greeting)
      channel.ended
        .then(async () => connectionFailed((await stderr).toString(), reach, settings))
        .then(fail, fail)
    })
  } catch (error) {
    channel.kill(error)
    throw error
  } finally {
    limit.clear()
  }
  const lost = new AbortController()
  const onEnd = async (): Promise<void> => {
    const words = lastWords((await stderr).toString())
    lost.abort(connectionLost(reach.name, words === '' ? 'it was closed' : words))
  }
  channel.ended.then(onEnd, onEnd)
  return {
    lost: lost.signal,
    isAlive: async () => {
      if (lost.signal.aborted) return false
      const check = await run(['ssh', '-F', config, '-O', 'check', name], { allowFailure: true })
      return check.code === 0
    },
    refusal: () => refusal,
    close: async () => {
      // First for those who use it: the program waits for them.
      lost.abort(connectionLost(reach.name, 'it was closed'))
      channel.stdin.end()
      const late = setTimeout(() => channel.kill(new Error('closed')), 1000)
      await channel.ended.catch(() => undefined)
      clearTimeout(late)
    },
  }
}

/** The program watches its own time; this is for when it does not. */
export function patience({ bastions }: Reach, { timeout }: Settings): number {
  return timeout * (bastions.length + 1) + 2000
}

export function tooSlow(reach: Reach, { timeout }: Settings): Error {
  return unreachable(reach.name, reach, { kind: 'silent', after: timeout })
}

/** Why there is no connection: from ssh's words, and from the keys that it had. */
export async function connectionFailed(stderr: string, reach: Reach, settings: Settings): Promise<Error> {
  const hop = hopIn(stderr, reach)
  const { offers, encrypted, broken } = await gatherCredentials(hop, settings.agent, settings.signal)
  const missing = broken.find(({ kind }) => kind === 'missing')
  if (missing !== undefined) return keyNotRead(reach.name, missing.path, missing.why)
  // What we cannot read, such as the key of a token, the program may well have offered.
  const offered = [...offers.map(({ label }) => label), ...broken.map(({ path }) => path)]
  return systemFailure(
    printable(stderr.replaceAll('\r', '')),
    reach,
    hop,
    { offered, encrypted },
    settings.timeout,
  )
}
