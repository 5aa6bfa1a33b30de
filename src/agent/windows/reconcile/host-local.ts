import { readdir, readFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { z } from 'zod'
import type { Argv, CommandOptions, CommandResult } from '../../../kit/command.ts'
import { hasCode, HyperkubeError } from '../../../kit/errors.ts'
import { join } from '../../host/host-path.ts'
import type { SourceAddresses } from './reconcile-deps.ts'

export interface HostLocalWish {
  /** The plugin, beside which are the others. */
  readonly program: string
  readonly plugins: string
  /** Its books, one directory for each network: the same as in the configuration by which pods get theirs. */
  readonly books: string
  readonly run: (argv: Argv, options: CommandOptions) => Promise<CommandResult>
}

/** Under which name kube-proxy's is in the book, and so never given to a pod. */
const owner = { CNI_CONTAINERID: 'kube-proxy', CNI_IFNAME: 'source-vip', CNI_NETNS: 'kube-proxy' }

const added = z.object({ ips: z.array(z.object({ address: z.cidrv4() })).length(1) })

/** Addresses by host-local itself, which alone knows which are free. It takes no second one for the same owner. */
export function hostLocalAddresses({ program, plugins, books, run }: HostLocalWish): SourceAddresses {
  const call = async (command: 'ADD' | 'DEL', network: string, subnet: string): Promise<string> => {
    const ipam = { type: 'host-local', ranges: [[{ subnet }]], dataDir: books }
    const { stdout } = await run([program], {
      // Windows programs do not start without the first.
      env: {
        SystemRoot: process.env['SystemRoot'],
        ...owner,
        CNI_COMMAND: command,
        CNI_PATH: plugins,
      },
      input: JSON.stringify({ cniVersion: '1.0.0', name: network, ipam }),
    })
    return stdout
  }
  const reserved = async (network: string): Promise<string | undefined> => {
    const book = join(books, network)
    for (const address of (await entriesOf(book)).filter((name) => isIPv4(name))) {
      const [who, what] = (await readFile(join(book, address), 'utf8')).trim().split(/\r?\n/)
      if (who === owner.CNI_CONTAINERID && what === owner.CNI_IFNAME) return address
    }
    return undefined
  }
  return {
    reserved,
    async reserve(network, subnet) {
      const known = await reserved(network)
      if (known !== undefined) return known
      const [ip] = added.parse(JSON.parse(await call('ADD', network, subnet))).ips
      const address = ip?.address.split('/')[0]
      if (address === undefined) throw new HyperkubeError('COMMAND_FAILED', 'host-local gave no address')
      return address
    },
    async release(network) {
      const known = await reserved(network)
      // It is found by its owner; any subnet will do.
      if (known !== undefined) await call('DEL', network, known.replace(/\.\d+$/, '.0/24'))
    },
  }
}

async function entriesOf(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
