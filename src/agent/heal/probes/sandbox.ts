import { join } from 'node:path'
import { z } from 'zod'
import { createMutex } from '../../../kit/concurrency.ts'
import { formatError } from '../../../kit/errors.ts'
import type { RunCommand } from '../../host/command.ts'
import type { ProbeDeps } from './probe-deps.ts'
import { failedResult, healthyResult, type ProbeResult, type ProbeRunner } from './probe-runner.ts'

/**
 * Names of the probe's network namespace and of its fictitious container. They are fixed, so the next probe
 * can remove what a killed probe left. The namespace is outside the directory of `ip netns`, because `ip
 * netns` can mount everything in that directory a second time.
 */
const containerName = 'hyperkube-probe'
const probeNamespace = '/run/hyperkube/probe-network'

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
  // A probe that timed out still cleans up, so the next probe must wait.
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
        // umount exits with 32 if nothing is mounted, and with 1 if the file does not exist. Neither is an
        // error here.
        await command(['umount', '--', probeNamespace], { codes: [0, 1, 32], signal: limit })
      }
    }
    if (!isClean) await leave().catch(() => undefined)
    isClean = false
    try {
      await command(['touch', probeNamespace], { signal })
      await command(['unshare', `--net=${probeNamespace}`, 'true'], { signal })
      result = await addToNetwork(command, network, attachment, signal)
    } catch (error) {
      await leave().catch(() => undefined)
      signal.throwIfAborted()
      return failedResult('SANDBOX_NOT_JOINED', formatError(error))
    }
    try {
      await leave()
    } catch (error) {
      return failedResult('SANDBOX_NOT_JOINED', `the test pod was not removed: ${formatError(error)}`)
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
      return joinAndLeave(network, { container: containerName, namespace: probeNamespace, plugins }, signal)
    })
}

const network = z.looseObject({
  cniVersion: z.string(),
  name: z.string(),
  plugins: z.array(z.looseObject({ type: z.string().regex(/^[\w.-]+$/) })).min(1),
})
type CniNetwork = z.infer<typeof network>

const cniError = z.looseObject({ msg: z.string(), details: z.string().default('') })

/** A container to attach to a network, and the directory of the CNI plugins. */
interface CniAttachment {
  readonly container: string
  /** Path of the network namespace. */
  readonly namespace: string
  readonly plugins: string
}

/** Parses a CNI configuration list. Returns undefined if the text is invalid. */
function parseCniNetwork(text: string): CniNetwork | undefined {
  try {
    return network.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Calls ADD of each plugin in order, passing the result of the previous plugin. Returns the last result. */
async function addToNetwork(
  command: RunCommand,
  { plugins, ...all }: CniNetwork,
  attachment: CniAttachment,
  signal: AbortSignal,
): Promise<unknown> {
  let result: unknown
  for (const plugin of plugins) {
    const text = await callPlugin(
      command,
      'ADD',
      attachment,
      buildInput(all, plugin, result),
      plugin.type,
      signal,
    )
    result = JSON.parse(text)
  }
  return result
}

/**
 * Calls DEL of each plugin in reverse order. If a plugin fails, the others still run, and the first error is
 * thrown at the end.
 */
async function deleteFromNetwork(
  command: RunCommand,
  { plugins, ...all }: CniNetwork,
  attachment: CniAttachment,
  result: unknown,
  signal: AbortSignal,
): Promise<void> {
  const errors: unknown[] = []
  for (const plugin of plugins.toReversed()) {
    await callPlugin(command, 'DEL', attachment, buildInput(all, plugin, result), plugin.type, signal).catch(
      (error: unknown) => errors.push(error),
    )
  }
  if (errors.length > 0) throw errors[0]
}

function buildInput(
  { cniVersion, name }: Pick<CniNetwork, 'cniVersion' | 'name'>,
  plugin: CniNetwork['plugins'][number],
  prevResult: unknown,
): string {
  return JSON.stringify({ ...plugin, cniVersion, name, ...(prevResult === undefined ? {} : { prevResult }) })
}

/** Runs a CNI plugin. A plugin reads its command from the environment and writes errors to stdout. */
async function callPlugin(
  command: RunCommand,
  verb: 'ADD' | 'DEL',
  { container, namespace, plugins }: CniAttachment,
  input: string,
  type: string,
  signal: AbortSignal,
): Promise<string> {
  const environment = [
    `CNI_COMMAND=${verb}`,
    `CNI_CONTAINERID=${container}`,
    `CNI_NETNS=${namespace}`,
    'CNI_IFNAME=eth0',
    `CNI_PATH=${plugins}`,
  ]
  const argv = ['env', ...environment, join(plugins, type)] as const
  const { code, stdout, stderr } = await command(argv, { input, signal, codes: anyCode })
  if (code === 0) return stdout
  throw new Error(`${type}: ${parseCniError(stdout) ?? (stderr.trim() || `exit code ${code}`)}`)
}

const anyCode = Array.from({ length: 256 }, (_, code) => code)

function parseCniError(stdout: string): string | undefined {
  try {
    const { msg, details } = cniError.parse(JSON.parse(stdout))
    return details === '' ? msg : `${msg}; ${details}`
  } catch {
    return undefined
  }
}
