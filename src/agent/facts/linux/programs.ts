import { programDirectories } from '../source.ts'
import type { Fact } from './fact.ts'

/** Programs of the host that components call. */
const requiredPrograms = ['conntrack', 'ethtool', 'iptables', 'modprobe', 'mount', 'nft', 'socat', 'umount']

export const readPrograms: Fact<'programs'> = async ({ exists }) => {
  const found = await Promise.all(
    requiredPrograms.map(async (name) =>
      Promise.all(programDirectories.map(async (path) => exists(`${path}/${name}`))),
    ),
  )
  return requiredPrograms.filter((_, index) => found[index]?.includes(true))
}
