import { formatError } from '../../../kit/errors.ts'
import { createMutex } from '../../../kit/mutex.ts'
import type { ProbeResult } from '../probe-result.ts'
import { type ProbeRunner, failedResult, healthyResult } from './probe-runner.ts'
import {
  type CniAttachment,
  type CniNetwork,
  parseCniNetwork,
  addToNetwork,
  deleteFromNetwork,
} from './cni.ts'
import type { ProbeDeps } from './probe-deps.ts'

/**
 * Fixed names of the network namespace and of a fictitious container, so the next probe can remove what a
 * killed one left. The namespace is outside the directory of `ip netns`, which would mount all its namespaces
 * again.
 */
const name = 'hyperkube-probe'
const namespace = '/run/hyperkube/probe-network'

/** Milliseconds for the cleanup, which also runs after the probe's timeout. */
const cleanupTimeoutMs = 20_000

/**
 * Checks with the real CNI plugins whether a pod can be attached to the network and detached again. An empty
 * bridge may remain, which the first pod would have created anyway.
 */
export function createSandboxProbe({
  files,
  command,
}: Pick<ProbeDeps, 'files' | 'command'>): ProbeRunner<'sandbox'> {
  // A probe that timed out still cleans up, so the next one must wait.
  const exclusive = createMutex()
  let isClean = false
  const joinAndLeave = async (
    network: CniNetwork,
    attachment: CniAttachment,
    signal: AbortSignal,
  ): Promise<ProbeResult> => {
    let result: unknown
    const leave = async (): Promise<void> => {
      const limit = AbortSignal.timeout(cleanupTimeoutMs)
      try {
        await deleteFromNetwork(command, network, attachment, result, limit)
      } finally {
        // umount exits with 32 if nothing is mounted, and with 1 if the file does not exist.
        await command(['umount', '--', namespace], { codes: [0, 1, 32], signal: limit })
      }
    }
    if (!isClean) await leave().catch(() => undefined)
    isClean = false
    try {
      await command(['touch', namespace], { signal })
      await command(['unshare', `--net=${namespace}`, 'true'], { signal })
      result = await addToNetwork(command, network, attachment, signal)
    } catch (error) {
      await leave().catch(() => undefined)
      signal.throwIfAborted()
      return failedResult('SANDBOX_NOT_JOINED', formatError(error))
    }
    try {
      await leave()
    } catch (error) {
      return failedResult('SANDBOX_NOT_JOINED', `it did not get away again: ${formatError(error)}`)
    }
    isClean = true
    return healthyResult
  }
  return async ({ configuration, plugins }, signal) =>
    exclusive(async () => {
      signal.throwIfAborted()
      const text = await files.read(configuration)
      if (text === undefined) return failedResult('SANDBOX_NOT_JOINED', `there is no ${configuration}`)
      const network = parseCniNetwork(text.toString('utf8'))
      if (network === undefined) return failedResult('SANDBOX_NOT_JOINED', `${configuration} cannot be read`)
      return joinAndLeave(network, { container: name, namespace, plugins }, signal)
    })
}
