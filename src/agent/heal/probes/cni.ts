import { join } from 'node:path'
import { z } from 'zod'
import type { RunCommand } from '../../host/command.ts'

const network = z.looseObject({
  cniVersion: z.string(),
  name: z.string(),
  plugins: z.array(z.looseObject({ type: z.string().regex(/^[\w.-]+$/) })).min(1),
})
export type CniNetwork = z.infer<typeof network>

const cniError = z.looseObject({ msg: z.string(), details: z.string().default('') })

/** A container to attach to a network, and the directory of the CNI plugins. */
export interface CniAttachment {
  readonly container: string
  /** Path of the network namespace. */
  readonly namespace: string
  readonly plugins: string
}

/** Parses a CNI configuration list. Returns undefined if the text is not a valid one. */
export function parseCniNetwork(text: string): CniNetwork | undefined {
  try {
    return network.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Calls ADD of each plugin in order, passing the result of the previous plugin. Returns the last result. */
export async function addToNetwork(
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
export async function deleteFromNetwork(
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
  throw new Error(`${type}: ${parseCniError(stdout) ?? (stderr.trim() || `it ended with ${code}`)}`)
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
