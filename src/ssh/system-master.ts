import { createInterface } from 'node:readline'
import { runProgram } from '../kit/command.ts'
import { toPrintable } from '../kit/printable.ts'
import { collectOutputTail } from './collect.ts'
import { gatherCredentials } from './credentials.ts'
import { buildConnectionLostError, buildKeyNotReadError } from './login-errors.ts'
import type { ConnectSettings } from './options.ts'
import { startProcessChannel } from './process-channel.ts'
import type { SshRoute } from './ssh-route.ts'
import { findHop, readLastMessage, explainSystemError } from './system-errors.ts'
import { buildUnreachableError } from './unreachable-error.ts'
import { startDeadline, waitUnlessAborted } from './deadline.ts'

/** The shared connection (ControlMaster) that all programs on a host use. */
export interface SshMaster {
  /** Aborted with SSH_LOST when either side ends the connection. */
  readonly lost: AbortSignal
  isAlive(): Promise<boolean>
  /** Returns why the host refused the last connection. Only the master process prints this reason. */
  refusal(): string | undefined
  close(): Promise<void>
}

export interface SystemDestination {
  /** Path of the configuration file for the ssh program. */
  readonly config: string
  /** Name of the host in the configuration file. */
  readonly name: string
}

/** Returns an environment in which ssh prints English messages. */
export function englishEnvironment(): NodeJS.ProcessEnv {
  return { ...process.env, LC_ALL: 'C' }
}

/** The remote program that keeps the shared connection open, and a check of its output for readiness. */
export interface KeepOpenProgram {
  readonly args: (name: string) => readonly string[]
  /** Input to send first, for a program that only responds to input. */
  readonly initialInput?: Buffer
  readonly isReady: (output: Buffer) => boolean
}

/**
 * Keeps the connection open with a shell command. The output is searched for a marker, because a shell may
 * print other text.
 */
export const keepOpenWithShell: KeepOpenProgram = {
  args: (name) => [name, 'echo hyperkube ready; exec cat >/dev/null'],
  isReady: (output) => output.includes('hyperkube ready\n'),
}

/**
 * Opens the shared connection. The remote program ends with its standard input, so the connection ends when
 * this process ends for any reason.
 */
export async function openMaster(
  reach: SshRoute,
  { config, name }: SystemDestination,
  settings: ConnectSettings,
  keepOpen: KeepOpenProgram = keepOpenWithShell,
): Promise<SshMaster> {
  const channel = startProcessChannel(
    ['ssh', '-F', config, '-o', 'ControlMaster=yes', ...keepOpen.args(name)],
    englishEnvironment(),
  )
  const stderr = collectOutputTail(channel.stderr)
  let refusal: string | undefined
  createInterface({ input: channel.stderr }).on('line', (line) => {
    refusal = /open failed: (.*)/.exec(line)?.[1] ?? refusal
  })
  channel.stdin.on('error', () => undefined)
  const deadline = startDeadline(settings.signal, masterTimeoutMs(reach, settings), () =>
    buildMasterTimeoutError(reach, settings),
  )
  try {
    await waitUnlessAborted<void>([deadline.signal], ({ succeed, fail }) => {
      let output: Buffer = Buffer.alloc(0)
      channel.stdout.on('data', (chunk: Buffer) => {
        output = Buffer.concat([output, chunk]).subarray(-4096)
        if (keepOpen.isReady(output)) succeed()
      })
      if (keepOpen.initialInput !== undefined) channel.stdin.write(keepOpen.initialInput)
      channel.ended
        .then(async () => explainConnectionFailure((await stderr).toString(), reach, settings))
        .then(fail, fail)
    })
  } catch (error) {
    channel.kill(error)
    throw error
  } finally {
    deadline.clear()
  }
  const lost = new AbortController()
  const onEnd = async (): Promise<void> => {
    const message = readLastMessage((await stderr).toString())
    lost.abort(buildConnectionLostError(reach.name, message === '' ? 'it was closed' : message))
  }
  channel.ended.then(onEnd, onEnd)
  return {
    lost: lost.signal,
    isAlive: async () => {
      if (lost.signal.aborted) return false
      const check = await runProgram(['ssh', '-F', config, '-O', 'check', name], { allowFailure: true })
      return check.code === 0
    },
    refusal: () => refusal,
    close: async () => {
      // Users of the connection are aborted first, because the ssh program waits for them.
      lost.abort(buildConnectionLostError(reach.name, 'it was closed'))
      channel.stdin.end()
      const forceTimer = setTimeout(() => channel.kill(new Error('closed')), 1000)
      await channel.ended.catch(() => undefined)
      clearTimeout(forceTimer)
    },
  }
}

/**
 * Timeout in milliseconds for opening the shared connection. It is a fallback for the ssh program's own
 * timeout.
 */
export function masterTimeoutMs({ bastions }: SshRoute, { timeout }: ConnectSettings): number {
  return timeout * (bastions.length + 1) + 2000
}

export function buildMasterTimeoutError(reach: SshRoute, { timeout }: ConnectSettings): Error {
  return buildUnreachableError(reach.name, reach, { kind: 'silent', after: timeout })
}

/** Builds the error of a failed connection from the messages of ssh and the available keys. */
export async function explainConnectionFailure(
  stderr: string,
  reach: SshRoute,
  settings: ConnectSettings,
): Promise<Error> {
  const hop = findHop(stderr, reach)
  const { offers, encrypted, broken } = await gatherCredentials(hop, settings.agent, settings.signal)
  const missing = broken.find(({ kind }) => kind === 'missing')
  if (missing !== undefined) return buildKeyNotReadError(reach.name, missing.path, missing.why)
  // The ssh program may have offered keys that hyperkube cannot read, such as those of a hardware token.
  const offered = [...offers.map(({ label }) => label), ...broken.map(({ path }) => path)]
  return explainSystemError(
    toPrintable(stderr.replaceAll('\r', '')),
    reach,
    hop,
    { offered, encrypted },
    settings.timeout,
  )
}
