import { join } from 'node:path'
import { z } from 'zod'
import type { Command } from '../../host/command.ts'

const network = z.looseObject({
  cniVersion: z.string(),
  name: z.string(),
  plugins: z.array(z.looseObject({ type: z.string().regex(/^[\w.-]+$/) })).min(1),
})
export type CniNetwork = z.infer<typeof network>

const complaint = z.looseObject({ msg: z.string(), details: z.string().default('') })

/** Who is joined to the network, and by the programs of which directory. */
export interface CniGuest {
  readonly container: string
  /** A path. */
  readonly namespace: string
  readonly plugins: string
}

/** A configuration list. Undefined when it is none. */
export function cniNetworkIn(text: string): CniNetwork | undefined {
  try {
    return network.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Each plugin in turn, with what came of the one before it; answers with what came of the last. */
export async function joinNetwork(
  command: Command,
  { plugins, ...all }: CniNetwork,
  guest: CniGuest,
  signal: AbortSignal,
): Promise<unknown> {
  let result: unknown
  for (const plugin of plugins) {
    const text = await callPlugin(command, 'ADD', guest, inputOf(all, plugin, result), plugin.type, signal)
    result = JSON.parse(text)
  }
  return result
}

/** The other way round. All are asked, whatever each of them says, and the first complaint is thrown in the end. */
export async function leaveNetwork(
  command: Command,
  { plugins, ...all }: CniNetwork,
  guest: CniGuest,
  result: unknown,
  signal: AbortSignal,
): Promise<void> {
  const complaints: unknown[] = []
  for (const plugin of plugins.toReversed()) {
    await callPlugin(command, 'DEL', guest, inputOf(all, plugin, result), plugin.type, signal).catch(
      (error: unknown) => complaints.push(error),
    )
  }
  if (complaints.length > 0) throw complaints[0]
}

function inputOf(
  { cniVersion, name }: Pick<CniNetwork, 'cniVersion' | 'name'>,
  plugin: CniNetwork['plugins'][number],
  prevResult: unknown,
): string {
  return JSON.stringify({ ...plugin, cniVersion, name, ...(prevResult === undefined ? {} : { prevResult }) })
}

/** Plugins are told by their environment what to do, and say what is wrong where the answer would be. */
async function callPlugin(
  command: Command,
  verb: 'ADD' | 'DEL',
  { container, namespace, plugins }: CniGuest,
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
  throw new Error(`${type}: ${wordsIn(stdout) ?? (stderr.trim() || `it ended with ${code}`)}`)
}

const anyCode = Array.from({ length: 256 }, (_, code) => code)

function wordsIn(stdout: string): string | undefined {
  try {
    const { msg, details } = complaint.parse(JSON.parse(stdout))
    return details === '' ? msg : `${msg}; ${details}`
  } catch {
    return undefined
  }
}
