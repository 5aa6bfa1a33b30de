import { runProgram } from '../kit/command.ts'
import { HyperkubeError } from '../kit/errors.ts'
import { watchLines } from '../kit/lines.ts'
import { toPrintable } from '../kit/text.ts'
import { gatherCredentials } from './credentials.ts'
import { startDeadline, waitUnlessAborted } from './deadline.ts'
import { collectOutputTail } from './exec.ts'
import type { Hop } from './hop.ts'
import {
  buildConnectionLostError,
  buildKeyNotReadError,
  buildNoCommonAlgorithmError,
  buildNotAcceptedError,
  buildTooManyKeysError,
  buildUnreachableError,
  formatHopEndpoint,
  type LoginRefusal,
  type UnreachableReason,
} from './connection-errors.ts'
import type { ConnectSettings } from './options.ts'
import { startProcessChannel } from './process-channel.ts'
import type { SshRoute } from './ssh-route.ts'

/**
 * The ssh connection to a host (ControlMaster). hyperkube runs all programs on this host over this one
 * connection.
 */
export interface SshMaster {
  /** Aborted with SSH_LOST when either side ends the connection. */
  readonly lost: AbortSignal
  isAlive(): Promise<boolean>
  /**
   * Returns why the host refused the last connection that `dial` tried to open. Only the master process
   * prints this reason.
   */
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
 * Opens the shared connection. The remote program ends when its standard input ends, so the connection ends
 * when this process ends for any reason.
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
  watchLines(channel.stderr, (line) => {
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
    lost.abort(buildConnectionLostError(reach.name, message === '' ? 'closed' : message))
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
      // Programs that use the connection are aborted first, because the ssh program waits for them.
      lost.abort(buildConnectionLostError(reach.name, 'closed'))
      channel.stdin.end()
      const forceTimer = setTimeout(() => channel.kill(new Error('closed')), 1000)
      await channel.ended.catch(() => undefined)
      clearTimeout(forceTimer)
    },
  }
}

/**
 * Returns the timeout in milliseconds for opening the shared connection. It is longer than the ssh program's
 * own timeout, and takes effect only if that timeout does not.
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
  // Keys that hyperkube cannot read are listed, too, because the ssh program may have offered them. An
  // example is the key of a hardware token.
  const offered = [...offers.map(({ label }) => label), ...broken.map(({ path }) => path)]
  return explainSystemError(
    toPrintable(stderr.replaceAll('\r', '')),
    reach,
    hop,
    { offered, encrypted },
    settings.timeout,
  )
}

/** Converts the English messages of the ssh program about a failed connection to an error. */
export function explainSystemError(
  stderr: string,
  reach: SshRoute,
  hop: Hop,
  keys: Pick<LoginRefusal, 'offered' | 'encrypted'>,
  timeout: number,
): HyperkubeError {
  const host = reach.name
  if (/Host key verification failed/.test(stderr)) {
    const message = `${formatHopEndpoint(hop)} offers another ssh host key than the pinned one`
    return new HyperkubeError('SSH_HOST_KEY_CHANGED', message, { host })
  }
  const [, denied] = /Permission denied \(([^)]*)\)/.exec(stderr) ?? []
  if (denied !== undefined) {
    return buildNotAcceptedError(host, hop, {
      ...keys,
      methods: denied.split(','),
      partial: /with partial success/.test(stderr),
    })
  }
  if (/Too many authentication failures/.test(stderr)) return buildTooManyKeysError(host, hop, keys.offered)
  const [, missing] = /no matching (.*) found/.exec(stderr) ?? []
  if (missing !== undefined) return buildNoCommonAlgorithmError(host, hop, `no ${missing}`)
  return buildUnreachableError(host, hop, parseReason(stderr, reach, timeout))
}

function parseReason(stderr: string, { bastions }: SshRoute, after: number): UnreachableReason {
  const bastion = bastions.at(-1)
  const [, openFailure] = /open failed: (.*)/.exec(stderr) ?? []
  if (openFailure !== undefined && bastion !== undefined) {
    return { kind: 'bastion', bastion: bastion.alias, message: openFailure.replace('connect failed: ', '') }
  }
  if (/Connection refused/.test(stderr)) return { kind: 'refused' }
  if (/timed out/.test(stderr)) return { kind: 'no-response', after }
  if (/No route to host|Network is unreachable/.test(stderr)) return { kind: 'no-route' }
  if (/Could not resolve hostname/.test(stderr)) return { kind: 'no-name' }
  if (/Bad remote protocol|banner line contains invalid|Invalid SSH identification/.test(stderr)) {
    return { kind: 'not-ssh' }
  }
  if (/Connection (closed|reset)|kex_exchange_identification/.test(stderr)) return { kind: 'closed' }
  return { kind: 'other', message: readLastMessage(stderr) }
}

/**
 * Finds the machine on the route that `stderr` is about: a bastion that `stderr` names, otherwise the host.
 */
export function findHop(stderr: string, reach: SshRoute): Hop {
  const named = reach.bastions.find(({ address, user }) =>
    [`${user}@${address}: Permission denied`, `connect to host ${address} port`, `hostname ${address}:`].some(
      (words) => stderr.includes(words),
    ),
  )
  return named ?? reach
}

/** Returns the last line that is not a statistic or notice of ssh. */
export function readLastMessage(stderr: string): string {
  const statistics = /^(?:Transferred: |Bytes per second: |Authenticated to |Warning: Permanently added )/
  const lines = stderr.split(/\r?\n/).filter((line) => line.trim() !== '' && !statistics.test(line))
  return lines.at(-1)?.trim() ?? ''
}
