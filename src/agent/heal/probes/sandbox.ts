import { describe } from '../../../kit/errors.ts'
import { inTurns } from '../../../kit/mutex.ts'
import type { Seen } from '../probe-result.ts'
import { type Ask, failed, well } from './probe-runner.ts'
import { type CniGuest, type CniNetwork, cniNetworkIn, joinNetwork, leaveNetwork } from './cni.ts'
import type { ProbeEdges } from './probe-deps.ts'

/**
 * Of the namespace and of a container that nobody runs. Always the same: what one that was killed has left is found by the
 * next, and no address is ever lost to it. Not where others have theirs: `ip netns` would mount all of those once more.
 */
const name = 'hyperkube-probe'
const namespace = '/run/hyperkube/probe-network'

/** How long it may take to clean up, for one whose time is over as well. */
const cleanup = 20_000

/**
 * Whether a pod could be joined to the network now, by the very plugins that would do it, and could leave it again. What
 * stays is a bridge without ports, where there was none: the first pod would have made it.
 */
export function askSandbox({ files, command }: Pick<ProbeEdges, 'files' | 'command'>): Ask<'sandbox'> {
  // One whose time is over still cleans up, and the next must not come into its way.
  const turns = inTurns()
  let isClean = false
  const visit = async (network: CniNetwork, guest: CniGuest, signal: AbortSignal): Promise<Seen> => {
    let result: unknown
    const leave = async (): Promise<void> => {
      const limit = AbortSignal.timeout(cleanup)
      try {
        await leaveNetwork(command, network, guest, result, limit)
      } finally {
        // 32: there is none. 1: there is not even a file.
        await command(['umount', '--', namespace], { codes: [0, 1, 32], signal: limit })
      }
    }
    if (!isClean) await leave().catch(() => undefined)
    isClean = false
    try {
      await command(['touch', namespace], { signal })
      await command(['unshare', `--net=${namespace}`, 'true'], { signal })
      result = await joinNetwork(command, network, guest, signal)
    } catch (error) {
      await leave().catch(() => undefined)
      signal.throwIfAborted()
      return failed('SANDBOX_NOT_JOINED', describe(error))
    }
    try {
      await leave()
    } catch (error) {
      return failed('SANDBOX_NOT_JOINED', `it did not get away again: ${describe(error)}`)
    }
    isClean = true
    return well
  }
  return async ({ configuration, plugins }, signal) =>
    turns(async () => {
      signal.throwIfAborted()
      const text = await files.read(configuration)
      if (text === undefined) return failed('SANDBOX_NOT_JOINED', `there is no ${configuration}`)
      const network = cniNetworkIn(text.toString('utf8'))
      if (network === undefined) return failed('SANDBOX_NOT_JOINED', `${configuration} cannot be read`)
      return visit(network, { container: name, namespace, plugins }, signal)
    })
}
