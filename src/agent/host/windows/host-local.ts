import { readdir, readFile } from 'node:fs/promises'
import { isIPv4 } from 'node:net'
import { z } from 'zod'
import type { Argv, CommandOptions, CommandResult } from '../../../kit/command.ts'
import { hasCode, HyperkubeError } from '../../../kit/errors.ts'
import { join } from '../host-path.ts'
import type { SourceAddresses } from '../host.ts'

export interface HostLocalOptions {
  /** Path of the host-local program. */
  readonly program: string
  readonly plugins: string
  /**
   * Data directory of host-local, with one directory per network. The CNI configuration of pods must use the
   * same directory.
   */
  readonly dataDirectory: string
  readonly run: (argv: Argv, options: CommandOptions) => Promise<CommandResult>
}

/** Owner under which kube-proxy's address is reserved. host-local never gives a reserved address to a pod. */
const owner = { CNI_CONTAINERID: 'kube-proxy', CNI_IFNAME: 'source-vip', CNI_NETNS: 'kube-proxy' }

const addResult = z.object({ ips: z.array(z.object({ address: z.cidrv4() })).length(1) })

/**
 * Reserves addresses by running host-local, because only host-local knows which addresses are free.
 * host-local refuses a second address for the same owner.
 */
export function hostLocalAddresses({
  program,
  plugins,
  dataDirectory,
  run,
}: HostLocalOptions): SourceAddresses {
  const runPlugin = async (command: 'ADD' | 'DEL', network: string, subnet: string): Promise<string> => {
    const ipam = { type: 'host-local', ranges: [[{ subnet }]], dataDir: dataDirectory }
    const { stdout } = await run([program], {
      // Windows programs do not start without SystemRoot.
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
  const findReserved = async (network: string): Promise<string | undefined> => {
    const networkDirectory = join(dataDirectory, network)
    for (const address of (await listEntries(networkDirectory)).filter((name) => isIPv4(name))) {
      const [containerId, interfaceName] = (await readFile(join(networkDirectory, address), 'utf8'))
        .trim()
        .split(/\r?\n/)
      if (containerId === owner.CNI_CONTAINERID && interfaceName === owner.CNI_IFNAME) return address
    }
    return undefined
  }
  return {
    findReserved,
    async reserve(network, subnet) {
      const known = await findReserved(network)
      if (known !== undefined) return known
      const [ip] = addResult.parse(JSON.parse(await runPlugin('ADD', network, subnet))).ips
      const address = ip?.address.split('/')[0]
      if (address === undefined) throw new HyperkubeError('COMMAND_FAILED', 'host-local returned no address')
      return address
    },
    async release(network) {
      const known = await findReserved(network)
      // host-local finds a reservation by its owner, so the subnet does not matter.
      if (known !== undefined) await runPlugin('DEL', network, known.replace(/\.\d+$/, '.0/24'))
    },
  }
}

async function listEntries(directory: string): Promise<string[]> {
  try {
    return await readdir(directory)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}
