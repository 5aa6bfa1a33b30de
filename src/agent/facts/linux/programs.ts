import { programDirectories } from '../source.ts'
import type { Fact } from './fact.ts'

/** Those that components call. */
const wanted = ['conntrack', 'ethtool', 'iptables', 'modprobe', 'mount', 'nft', 'socat', 'umount']

export const programs: Fact<'programs'> = async ({ exists }) => {
  const found = await Promise.all(
    wanted.map(async (name) =>
      Promise.all(programDirectories.map(async (path) => exists(`${path}/${name}`))),
    ),
  )
  return wanted.filter((_, index) => found[index]?.includes(true))
}
